"""Optimizers and gradient clipping group tensors by device in C++, where all are on the CPU: group them by tag.

Source: ``_group_tensors_by_first_tensors_device_and_dtype`` in aten/src/ATen/native/ForeachUtils.h.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.utils._foreach_utils as foreach_utils

from .patches import Patches
from .state import state
from .tags import reported_device

__all__ = ["patch_optimizers"]

_WORDS = (
    "Tensors of the same index must be on the same device and the same dtype except `step` tensors that can be CPU and "
    "float32/64 notwithstanding"
)
_STEP_DTYPES = (torch.float32, torch.float64)


def _group(tensorlists: Any, with_indices: bool = False) -> Any:
    """As ``torch._C._group_tensors_by_device_and_dtype``, by simulated device."""
    groups: dict[Any, Any] = {}
    for index, first in enumerate(tensorlists[0]):
        key = (reported_device(first), first.dtype)
        lists, indices = groups.setdefault(key, ([[] for _ in tensorlists], []))
        for position, tensors in enumerate(tensorlists):
            tensor = tensors[index] if len(tensors) else None
            if tensor is not None and state.checks:
                device = reported_device(tensor)
                is_step = device.type == "cpu" and tensor.dtype in _STEP_DTYPES and tensor.dim() == 0
                if not ((device == key[0] and tensor.dtype == key[1]) or is_step):
                    _check_like_step(tensor, key)
            if len(tensors):
                lists[position].append(tensor)
        if with_indices:
            indices.append(index)
    return {key: (lists, indices) for key, (lists, indices) in groups.items()}


def _check_like_step(tensor: Any, key: Any) -> None:
    if reported_device(tensor) == key[0] and tensor.dtype in _STEP_DTYPES:
        return
    raise RuntimeError(_WORDS)


def patch_optimizers(patches: Patches) -> None:
    """Group tensors by their simulated device wherever PyTorch groups them."""
    real = torch._C._group_tensors_by_device_and_dtype

    def group(tensorlists: Any, with_indices: bool = False) -> Any:
        return _group(tensorlists, with_indices)

    patches.set(torch._C, "_group_tensors_by_device_and_dtype", group)
    _ = real, foreach_utils
