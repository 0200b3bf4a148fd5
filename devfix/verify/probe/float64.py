"""A training in float64: what is left of a difference then is no rounding.

Every fresh tensor of a smaller floating type is widened, and so is what comes from elsewhere (NumPy, files) where it
is computed with.  Random numbers are drawn in the type that the script asked for and widened afterwards: the training
is the one of the run that it is compared with, with fewer rounding errors.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

__all__ = ["Wide"]

_NARROW = (torch.float32, torch.float16, torch.bfloat16)
_WIDE = torch.float64

#: Made of Python numbers without an operator; the schema calls the result a view of its argument.
_FRESH_ALL_THE_SAME = ("aten::lift_fresh", "aten::lift")


class Wide(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch types no __init_subclass__
    """Compute in float64 whatever type the script names."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        schema = func._schema
        kwargs = kwargs or {}
        if schema.name in _FRESH_ALL_THE_SAME:
            return _widened(func(*args, **kwargs))
        written = [at for at, argument in enumerate(schema.arguments) if _is_written(argument)]
        if torch.Tag.nondeterministic_seeded in func.tags and "dropout" not in schema.name:
            return _drawn(func, args, kwargs, written)
        if any(argument.alias_info is not None for argument in schema.arguments):
            return func(*args, **{name: _wide_type(name, value) for name, value in kwargs.items()})
        there = {name: _widened(_wide_type(name, value)) for name, value in kwargs.items()}
        return tree_map(_widened, func(*tree_map(_widened, args), **tree_map(_widened, there)))


def _is_written(argument: Any) -> bool:
    return argument.alias_info is not None and argument.alias_info.is_write


def _widened(leaf: Any) -> Any:
    return leaf.to(_WIDE) if isinstance(leaf, torch.Tensor) and leaf.dtype in _NARROW else leaf


def _narrowed(leaf: Any) -> Any:
    return leaf.to(torch.float32) if isinstance(leaf, torch.Tensor) and leaf.dtype == _WIDE else leaf


def _wide_type(name: str, value: Any) -> Any:
    return _WIDE if name == "dtype" and value in _NARROW else value


def _drawn(func: Any, args: Any, kwargs: Any, written: list[int]) -> Any:
    """Draw in float32; a generator gives other numbers for float64."""
    there = tree_map(_narrowed, (args, kwargs))
    drawn = func(*there[0], **there[1])
    if not written:
        return tree_map(_widened, drawn)
    if len(args) <= written[0]:
        raise NotImplementedError(f"{func} with out= in float64")
    return args[written[0]].copy_(drawn)
