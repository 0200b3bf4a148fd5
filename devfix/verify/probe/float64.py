"""Training in float64, to distinguish rounding errors from other differences.

Every new tensor of a smaller floating-point dtype is converted to float64, and so are tensors from NumPy and files when
an operator uses them.  Random numbers are drawn in float32 and converted, so the training equals that of the float32
run apart from rounding.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from .devices import run_higher_order

__all__ = ["Float64Mode"]

_NARROW = (torch.float32, torch.float16, torch.bfloat16)
_WIDE = torch.float64

#: Tensors from Python numbers; the schema declares the result as a view of the argument.
_FRESH_RESULTS = ("aten::lift_fresh", "aten::lift")


class Float64Mode(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch types no __init_subclass__
    """Mode that computes in float64 whatever dtype the script uses."""

    supports_higher_order_operators = True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not isinstance(func, torch._ops.OpOverload):
            return run_higher_order(self, func, args, kwargs)
        schema = func._schema
        kwargs = kwargs or {}
        if schema.name in _FRESH_RESULTS:
            return _widened(func(*args, **kwargs))
        written = [at for at, argument in enumerate(schema.arguments) if _is_written(argument)]
        if torch.Tag.nondeterministic_seeded in func.tags and "dropout" not in schema.name:
            return _draw(func, args, kwargs, written)
        if any(argument.alias_info is not None for argument in schema.arguments):
            return func(*args, **{name: _wide_type(name, value) for name, value in kwargs.items()})
        wide_kwargs = {name: _widened(_wide_type(name, value)) for name, value in kwargs.items()}
        return tree_map(_widened, func(*tree_map(_widened, args), **tree_map(_widened, wide_kwargs)))


def _is_written(argument: Any) -> bool:
    return argument.alias_info is not None and argument.alias_info.is_write


def _widened(leaf: Any) -> Any:
    return leaf.to(_WIDE) if isinstance(leaf, torch.Tensor) and leaf.dtype in _NARROW else leaf


def _narrowed(leaf: Any) -> Any:
    return leaf.to(torch.float32) if isinstance(leaf, torch.Tensor) and leaf.dtype == _WIDE else leaf


def _wide_type(name: str, value: Any) -> Any:
    return _WIDE if name == "dtype" and value in _NARROW else value


def _draw(func: Any, args: Any, kwargs: Any, written: list[int]) -> Any:
    """Draw random numbers in float32 and convert them; a generator yields other numbers for float64."""
    narrow_args, narrow_kwargs = tree_map(_narrowed, (args, kwargs))
    drawn = func(*narrow_args, **narrow_kwargs)
    if not written:
        return tree_map(_widened, drawn)
    if len(args) <= written[0]:
        raise NotImplementedError(f"{func} with out= in float64")
    return args[written[0]].copy_(drawn)
