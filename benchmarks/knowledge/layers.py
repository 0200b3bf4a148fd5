"""Examples of the modules of ``torch.nn``: inputs that meet weights, and each other."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

import torch
from torch import nn

from benchmarks.knowledge.calls import Writer
from benchmarks.knowledge.database import modules
from benchmarks.knowledge.examples import Example, moved
from benchmarks.knowledge.handwritten import handwritten
from benchmarks.knowledge.literals import Unwritable, literal

__all__ = ["GROUP", "layer_examples"]

GROUP = "torch.nn"
_MOST_EXAMPLES = 12
_MOST_READ = 40
_LONGEST = 500
_PLACEMENT = ("device", "dtype")
_IMPORTS = ("from torch import nn",)


def layer_examples() -> Iterator[tuple[str, str, Iterable[Example]]]:
    """Yield each public module of ``torch.nn`` with its examples."""
    databased = {
        info.module_cls.__name__: info
        for info in modules()
        if info.module_cls.__module__.startswith("torch.nn.modules")
    }
    for name in sorted(each for each in dir(nn) if isinstance(getattr(nn, each), type)):
        form = Example(GROUP, f"nn.{name}", (), "", _IMPORTS)
        sampled = _examples(form, name, databased[name]) if name in databased else ()
        yield GROUP, form.name, chain(handwritten(form), sampled)


def _examples(form: Example, name: str, info: Any) -> Iterator[Example]:
    """Yield the shortest examples of a module."""
    found: dict[str, Example] = {}
    for training in (False, True):
        for given in islice(_inputs(info, training), _MOST_READ):
            for exact in ((), Writer.INTEGERS):
                try:
                    example = _written(form, name, given, exact)
                except Unwritable:
                    continue
                if len(example.operands) > 1 and len(example.program()) <= _LONGEST:
                    found.setdefault(example.program(), example)
    yield from (found[text] for text in sorted(found, key=lambda text: (len(text), text))[:_MOST_EXAMPLES])


def _inputs(info: Any, training: bool) -> list[Any]:
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return list(
                info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False, training=training)
            )
        except Exception:  # samples that this build cannot make
            return []


def _written(form: Example, name: str, given: Any, exact: Any) -> Example:
    """Return one sample as an example; a module without weights is no operand."""
    if given.forward_input is None:
        raise Unwritable("a module without forward")
    construction = _construction(name, given.constructor_input)
    call = Writer(exact).call(given.forward_input.args, given.forward_input.kwargs)
    statement = f"result = module({call.arguments})"
    if _has_weights(construction):
        return form._replace(operands=(moved("module", construction), *call.operands), statement=statement)
    return form._replace(setup=(f"module = {construction}",), operands=call.operands, statement=statement)


def _construction(name: str, given: Any) -> str:
    """Return the constructor's call; its tensors are written in place."""
    writer = Writer(Writer.ALL)

    def source(value: Any) -> str:
        return writer.tensor(value) if isinstance(value, torch.Tensor) else literal(value)

    keywords = {key: value for key, value in given.kwargs.items() if value is not None and key not in _PLACEMENT}
    args = [*map(source, given.args), *(f"{key}={source(value)}" for key, value in keywords.items())]
    return f"nn.{name}({', '.join(args)})"


def _has_weights(construction: str) -> bool:
    try:
        module = eval(construction, {"nn": nn, "torch": torch})
    except Exception as error:
        raise Unwritable(construction) from error
    return any(True for _ in (*module.parameters(), *module.buffers()))
