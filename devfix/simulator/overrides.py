"""Execution of torch's Python code with the function mode enabled.

Functions such as ``torch.nn.functional.cross_entropy`` first call ``has_torch_function``, which returns True while any
mode is active; the mode then runs the function's body with itself disabled, so device queries in the body would bypass
the simulator.  The patched versions consider the arguments only: the body runs, and its inner calls are intercepted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.overrides
from torch import Tensor
from torch.nn import Parameter
from torch.utils._device import DeviceContext

from .patches import Patches, find_imports
from .state import state

__all__ = ["patch_overrides", "preload_overrides"]

_CHECKS = ("has_torch_function_unary", "has_torch_function", "has_torch_function_variadic")
_PLAIN = frozenset({Tensor, Parameter, int, float, bool, str, type(None), tuple, list, dict})


def _has_override(value: Any) -> bool:
    kind = type(value)
    if kind in _PLAIN:
        return False
    function = getattr(kind, "__torch_function__", None)
    if function is None or function is torch._C._disabled_torch_function_impl:
        return False
    return torch._C._is_torch_function_enabled()  # False in the ``__torch_function__`` of a subclass


def preload_overrides() -> None:
    """Find the modules to patch before processes fork from this one."""
    for name in _CHECKS:
        find_imports(getattr(torch.overrides, name))


def patch_overrides(patches: Patches, own_mode: type) -> None:
    """Make ``has_torch_function`` and its two variants ignore the simulator's own mode."""
    length = torch._C._len_torch_function_stack
    mode_at = torch._C._get_function_stack_at
    own_modes = (own_mode, DeviceContext)

    def has_foreign_mode() -> bool:
        count: int = length()
        return not state.active or (
            count > 1 and any(not isinstance(mode_at(position), own_modes) for position in range(count))
        )

    def unary_like(original: Callable[..., bool]) -> Callable[..., bool]:
        def has_torch_function_unary(value: Any) -> bool:
            return _has_override(value) or (has_foreign_mode() and original(value))

        return has_torch_function_unary

    def sequence_like(original: Callable[..., bool]) -> Callable[..., bool]:
        def has_torch_function(values: Any) -> bool:
            return any(map(_has_override, values)) or (has_foreign_mode() and original(values))

        return has_torch_function

    def variadic_like(original: Callable[..., bool]) -> Callable[..., bool]:
        def has_torch_function_variadic(*values: Any) -> bool:
            return any(map(_has_override, values)) or (has_foreign_mode() and original(*values))

        return has_torch_function_variadic

    for name, wrap in zip(_CHECKS, (unary_like, sequence_like, variadic_like)):
        original = getattr(torch.overrides, name)
        patches.replace_imported(original, wrap(original))
