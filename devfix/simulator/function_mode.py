"""Function mode that intercepts every call of the torch API.

Handlers replace calls that take or return a device.  All other calls run unchanged, and are recorded as the surrounding
call of tensors that C++ code creates (:class:`.state.CallContext`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from . import conversions, factories, queries
from .kernels import checks, formulas
from .kernels.missing import note_missing_kernel
from .outputs import check_outputs
from .patches import Patches
from .state import CallContext, state

__all__ = ["DeviceFunctionMode", "Handler", "patch_saved_tensor_hooks", "with_mode"]

#: ``handler(func, args, kwargs)`` runs in place of ``func(*args, **kwargs)``.
Handler = Callable[[Any, Any, Any], Any]


class DeviceFunctionMode(TorchFunctionMode):
    """Mode that implements ``.device``, ``.to``, ``device=`` and related functions for simulated devices."""

    def __init__(self) -> None:
        super().__init__()
        self.handlers: dict[Any, Handler] = {}
        for module in (queries, conversions, factories, formulas, checks):
            self.handlers.update(module.handlers())

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        handler = self.handlers.get(func)
        if handler is not None:
            return handler(func, args, kwargs or {})
        outer_call = state.local.call
        if kwargs:
            is_named = "device" in kwargs or "generator" in kwargs or "pin_memory" in kwargs
            # A handler passes an overload the options of C++ code; the dispatch mode reads them.
            if is_named and not isinstance(func, torch._ops.OpOverload):
                return factories.create(func, args, kwargs)
            state.local.call = CallContext(args, kwargs)
            try:
                result = func(*args, **kwargs)
                if kwargs.get("out") is not None:
                    check_outputs(func, args, kwargs)
                return result
            except RuntimeError as error:
                note_missing_kernel(func, args, kwargs, error)
                raise
            finally:
                state.local.call = outer_call
        state.local.call = CallContext(args)
        try:
            return func(*args)
        except RuntimeError as error:
            note_missing_kernel(func, args, None, error)
            raise
        finally:
            state.local.call = outer_call


def with_mode(mode: DeviceFunctionMode, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a Python callback to run with the mode enabled, even if C++ code calls it within an intercepted call."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        at, length = torch._C._get_function_stack_at, torch._C._len_torch_function_stack()
        if any(isinstance(at(position), DeviceFunctionMode) for position in range(length)):
            return function(*args, **kwargs)
        outer_call = state.local.call
        with mode:
            try:
                return function(*args, **kwargs)
            finally:
                state.local.call = outer_call

    return call


def patch_saved_tensor_hooks(patches: Patches, mode: DeviceFunctionMode) -> None:
    """Enable the mode in saved-tensor hooks (activation checkpointing, ``save_on_cpu``), which C++ code calls."""
    real = torch._C._autograd._push_saved_tensors_default_hooks

    def push(pack: Callable[..., Any], unpack: Callable[..., Any]) -> None:
        real(with_mode(mode, pack), with_mode(mode, unpack))

    patches.set(torch._C._autograd, "_push_saved_tensors_default_hooks", push)
