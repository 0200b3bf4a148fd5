"""What Python code sees: every call of the torch API passes here first.

Calls that name or ask for a device are answered by a handler; all others run as they are, remembered as the surrounding
call for tensors that C++ code creates (:class:`.state.Ambient`).
"""

from __future__ import annotations

from typing import Any, Callable

from torch.overrides import TorchFunctionMode

from . import conversions, factories, kernels_checks, queries
from .state import Ambient, state

__all__ = ["DeviceAnswers", "Handler"]

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
                return func(*args, **kwargs)
            finally:
                state.call = before
        state.call = Ambient(args)
        try:
            return func(*args)
        finally:
            state.call = before
