"""Overloads from ATen's schemas, for functions without a stub: torch.linalg, torch.special, torch.fft, torch._C._nn."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import torch

from devfix.simulator.kernels.table import kernels

from .drafts import OPERAND, Draft, Parameter

__all__ = ["drafts", "overloads"]

_PREFIXES = {
    "torch.": "",
    "torch.Tensor.": "",
    "torch.nn.functional.": "",
    "torch.linalg.": "linalg_",
    "torch.special.": "special_",
    "torch.fft.": "fft_",
    "torch.sparse.": "sparse_",
    "torch.nested.": "nested_",
}
# Enumerations, which schemas write as integers.
_ENUMERATIONS = ("dtype", "layout", "memory_format", "output_dtype", "out_dtype")
_WORDS = {"float": "float", "number": "float", "int": "int", "SymInt": "int", "bool": "bool", "str": "str"}


@functools.cache
def _all() -> dict[str, list[Any]]:
    """Schemas of ATen's operators by base name; names of dimensions are left out."""
    found: dict[str, list[Any]] = {}
    for schema in torch._C._jit_get_all_schemas():
        name = f"{schema.name}.{schema.overload_name}".rstrip(".")
        if name in kernels() and "Dimname" not in str(schema):  # the others are TorchScript's
            found.setdefault(schema.name.partition("::")[2], []).append(schema)
    return found


def overloads(name: str) -> list[Any]:
    """Schemas of the operator behind a public name, by the naming rules of torchgen."""
    prefix = max((each for each in _PREFIXES if name.startswith(each)), key=len, default=None)
    if prefix is None:
        return []
    base = name.removeprefix(prefix)
    own = _PREFIXES[prefix]
    return _all().get(own + base) or (_all().get(f"_{own}{base}", []) if own else [])


def _word(kind: str) -> str:
    if "Tensor" in kind:
        return OPERAND
    bare = kind.removeprefix("Optional[").removesuffix("]")
    if bare.startswith("List"):
        return ""
    return {"Device": "Device", "Generator": "Generator", **_WORDS}.get(bare, "")


def _parameters(schema: Any, *, method: bool) -> Iterator[Parameter]:
    outputs = False
    for argument in schema.arguments:
        if argument.is_out:
            outputs = True
            continue
        name = "input" if argument.name == "self" and not method else argument.name
        kind = "keyword" if argument.kwarg_only else "plain"
        word = "" if name in _ENUMERATIONS else _word(str(argument.type))
        yield Parameter(name, word, kind, argument.has_default_value())
    if outputs:
        yield Parameter("out", "Out", "keyword", True)


def _result(schema: Any) -> str:
    kinds = [str(each.type) for each in schema.returns]
    words = [
        f"list[{OPERAND}]"
        if kind.startswith("List[Tensor")
        else OPERAND
        if "Tensor" in kind
        else {"int": "int", "SymInt": "int", "float": "float", "bool": "bool", "str": "str"}.get(kind, "Any")
        for kind in kinds
    ]
    if not words:
        return "None"
    return words[0] if len(words) == 1 else f"tuple[{', '.join(words)}]"


def drafts(name: str) -> list[Draft]:
    """Overloads of a public name, from the schemas."""
    method = name.startswith("torch.Tensor.")
    return [Draft(tuple(_parameters(each, method=method)), _result(each)) for each in overloads(name)]
