"""Legacy names: ``torch.FloatTensor``, ``torch.cuda.FloatTensor`` and ``torch.set_default_tensor_type``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..conversions import dtype_and_tag_of_type
from ..errors import _TYPE_NAMES
from ..patches import Patches
from ..state import state
from ..tags import UNASSIGNED, canonical, get_tag, put_tag, reported_device
from ..transfers import move

__all__ = ["patch_legacy"]


class _LegacyType(type):
    """Metaclass of ``torch.cuda.FloatTensor`` and others: constructor and ``isinstance`` checks."""

    dtype: torch.dtype

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor) and value.dtype == cls.dtype and reported_device(value).type == state.kind

    def __call__(cls, *args: Any, **kwargs: Any) -> Tensor:
        host = torch.Tensor if cls.dtype is torch.float32 else getattr(torch, cls.__name__)
        result = host(*[move(arg, None) if isinstance(arg, Tensor) else arg for arg in args])
        return move(result.to(cls.dtype), canonical(state.kind))


class _HostType(type):
    """Metaclass of ``torch.FloatTensor`` and others, whose instances are on the CPU."""

    real: Any

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, cls.real) and get_tag(value) is None

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = cls.real(*args, **kwargs)
        if get_tag(made) is UNASSIGNED:  # the constructor in C++ has no operands
            put_tag(made, None)
        return made

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.real, name)


def patch_legacy(patches: Patches) -> None:
    """Patch the legacy types, and ``set_default_tensor_type`` for simulated devices."""
    module = getattr(torch, state.kind)
    for dtype, name in _TYPE_NAMES.items():
        if hasattr(torch, name):
            patches.set(torch, name, _HostType(name, (), {"real": getattr(torch, name), "__module__": "torch"}))
        if hasattr(module, name):
            kind = _LegacyType(name, (), {"dtype": dtype, "__module__": f"torch.{state.kind}", "is_cuda": True})
            patches.set(module, name, kind)
    real = torch.set_default_tensor_type

    def set_default_tensor_type(kind: Any) -> None:
        dtype, tag = dtype_and_tag_of_type(kind)
        host = {torch.float32: "FloatTensor", torch.float64: "DoubleTensor", torch.float16: "HalfTensor"}
        real(getattr(torch, host.get(dtype, "BFloat16Tensor")).real)
        state.legacy_default = tag

    patches.set(torch, "set_default_tensor_type", set_default_tensor_type)
