"""Higher-order operators (``torch.cond``, ``scan``, ``flex_attention``) under a dispatch mode."""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any

import torch

__all__ = ["run_higher_order"]

_MODE_QUERY = "_get_current_dispatch_mode"


def run_higher_order(mode: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """Run the eager kernel of a higher-order operator so that the mode handles the operators that it calls.

    Args:
        mode: the mode whose ``__torch_dispatch__`` was called; PyTorch has disabled it for this call.
        func: a higher-order operator; one without an eager kernel is called as it is.
        args: its positional arguments.
        kwargs: its keyword arguments.

    """
    kernel = func.py_kernels.get(torch._C.DispatchKey.CompositeExplicitAutograd)
    if kernel is None:
        return func(*args, **kwargs)
    with mode:
        return _without_assertion(kernel)(*args, **kwargs)


@functools.cache
def _without_assertion(kernel: Any) -> Any:
    """Return a kernel that accepts modes: ``cond_op_dense`` and others assert that none is enabled."""
    if _MODE_QUERY not in getattr(kernel, "__globals__", ()):
        return kernel
    own = FunctionType(kernel.__code__, {**kernel.__globals__, _MODE_QUERY: lambda: None}, closure=kernel.__closure__)
    own.__defaults__, own.__kwdefaults__ = kernel.__defaults__, kernel.__kwdefaults__
    return own
