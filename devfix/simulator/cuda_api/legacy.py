"""Legacy names: ``torch.cuda.FloatTensor`` and ``torch.set_default_tensor_type``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..conversions import dtype_and_tag_of_type
from ..errors import _TYPE_NAMES
from ..patches import Patches
from ..state import state
from ..tags import canonical, reported_device
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


def patch_legacy(patches: Patches) -> None:
    """Patch the legacy types of ``torch.cuda``, and ``set_default_tensor_type`` for simulated devices."""
    module = getattr(torch, state.kind)
    for dtype, name in _TYPE_NAMES.items():
        if hasattr(module, name):
            kind = _LegacyType(name, (), {"dtype": dtype, "__module__": f"torch.{state.kind}", "is_cuda": True})
            patches.set(module, name, kind)
    real = torch.set_default_tensor_type

    def set_default_tensor_type(kind: Any) -> None:
        dtype, tag = dtype_and_tag_of_type(kind)
        host = {torch.float32: "FloatTensor", torch.float64: "DoubleTensor", torch.float16: "HalfTensor"}
        real("torch." + host.get(dtype, "BFloat16Tensor"))
        state.legacy_default = tag

    patches.set(torch, "set_default_tensor_type", set_default_tensor_type)
