"""The public functions of PyTorch, and examples of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from types import ModuleType

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.knowledge.calls import Spelling, examples, function, method, operator
from benchmarks.knowledge.examples import Example
from benchmarks.knowledge.factories import factory_examples
from benchmarks.knowledge.handwritten import handwritten
from benchmarks.knowledge.layers import layer_examples
from benchmarks.knowledge.outputs import output_examples

__all__ = ["GROUPS", "Candidates", "candidates"]

#: Group and name of a function, and its examples.
Candidates = tuple[str, str, Iterable[Example]]

_NAMESPACES: dict[str, ModuleType] = {
    "torch": torch,
    "torch.nn.functional": functional,
    "torch.linalg": torch.linalg,
    "torch.special": torch.special,
    "torch.fft": torch.fft,
    "torch.masked": torch.masked,
    "torch.sparse": torch.sparse,
}
_BINARY = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div",
    "//": "floor_divide",
    "%": "remainder",
    "**": "pow",
    "@": "matmul",
    "&": "bitwise_and",
    "|": "bitwise_or",
    "^": "bitwise_xor",
    "<<": "bitwise_left_shift",
    ">>": "bitwise_right_shift",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
    "==": "eq",
    "!=": "ne",
}
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
GROUPS = (
    "torch",
    "Tensor methods",
    "in-place methods",
    "operators",
    *list(_NAMESPACES)[1:],
    "torch.nn",
    "factories",
    "out=",
)


def candidates() -> Iterator[Candidates]:
    """Yield each public function that has an example, with its examples."""
    for group, namespace in _NAMESPACES.items():
        for name in _public(namespace):
            qualified = f"{group}.{name}"
            yield _named(group, qualified, _short(qualified), function(qualified))
    for name in _public(Tensor):
        group = "in-place methods" if name.endswith("_") else "Tensor methods"
        yield _named(group, f"Tensor.{name}", name, method(name))
    for symbol, name in _BINARY.items():
        yield _operator(symbol, name, f"result = {{}} {symbol} {{}}")
        if symbol not in _COMPARISONS:
            yield _operator(f"{symbol}=", f"{name}_", f"{{}} {symbol}= {{}}")
    yield _operator("[]", "__getitem__", "result = {}[{}]")
    yield _operator("[]=", "index_put_", "{}[{}] = {}")
    yield from layer_examples()
    yield from factory_examples()
    for group, namespace in _NAMESPACES.items():
        for name in _public(namespace):
            qualified = f"{group}.{name}"
            yield "out=", qualified, output_examples(qualified, _short(qualified))


def _public(namespace: ModuleType | type) -> list[str]:
    """Return the names of a namespace's functions."""
    names = (name for name in dir(namespace) if not name.startswith("_"))
    return [name for name in names if _is_function(getattr(namespace, name))]


def _is_function(value: object) -> bool:
    return callable(value) and not isinstance(value, type)


def _short(name: str) -> str:
    return name.removeprefix("torch.")


def _named(group: str, name: str, qualified: str, spelling: Spelling) -> Candidates:
    form = Example(group, name, (), "")
    return group, name, chain(handwritten(form), examples(form, qualified, spelling))


def _operator(symbol: str, qualified: str, template: str) -> Candidates:
    return _named("operators", symbol, qualified, operator(template))
