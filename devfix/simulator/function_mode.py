"""What Python code sees: every call of the torch API passes here first.

Calls that name or ask for a device are answered by a handler; all others run as they are, remembered as the surrounding
call for tensors that C++ code creates (:class:`.state.Ambient`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from . import conversions, factories, kernels_checks, queries
from .outputs import check_outputs
from .patches import Patches
from .state import Ambient, state

__all__ = ["DeviceAnswers", "Handler", "patch_saved_tensor_hooks"]

#: ``handler(func, args, kwargs)`` runs in place of ``func(*args, **kwargs)``.
Handler = Callable[[Any, Any, Any], Any]


class DeviceAnswers(TorchFunctionMode):
    """Answers ``.device``, ``.to``, ``device=`` and their kind for simulated devices."""

    def __init__(self) -> None:
        super().__init__()
        self.handlers: dict[Any, Handler] = {}
        for module in (queries, conversions, factories, kernels_checks):
            self.handlers.update(module.handlers())

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        handler = self.handlers.get(func)
        if handler is not None:
            return handler(func, args, kwargs or {})
        before = state.call
        if kwargs:
            if "device" in kwargs or "generator" in kwargs:
                return factories.create(func, args, kwargs)
            state.call = Ambient(args, kwargs)
            try:
                result = func(*args, **kwargs)
                if kwargs.get("out") is not None:
                    check_outputs(func, args, kwargs)
                return result
            finally:
                state.call = before
        state.call = Ambient(args)
        try:
            return func(*args)
        finally:
            state.call = before


def _answering(mode: DeviceAnswers, function: Callable[..., Any]) -> Callable[..., Any]:
    """Run a Python callback with the mode on, also where C++ code calls it in the middle of an intercepted call."""

    def call(*args: Any) -> Any:
        at, length = torch._C._get_function_stack_at, torch._C._len_torch_function_stack()
        if any(isinstance(at(position), DeviceAnswers) for position in range(length)):
            return function(*args)
        with mode:
            return function(*args)

    return call


def patch_saved_tensor_hooks(patches: Patches, mode: DeviceAnswers) -> None:
    """Let hooks on saved tensors (activation checkpointing, ``save_on_cpu``), which C++ code calls, see devices."""
    real = torch._C._autograd._push_saved_tensors_default_hooks

    def push(pack: Callable[..., Any], unpack: Callable[..., Any]) -> None:
        real(_answering(mode, pack), _answering(mode, unpack))

    patches.set(torch._C._autograd, "_push_saved_tensors_default_hooks", push)
