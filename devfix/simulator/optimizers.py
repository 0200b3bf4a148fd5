"""Grouping of tensors by device in optimizers and gradient clipping, by tag instead of the real device.

Source: ``_group_tensors_by_first_tensors_device_and_dtype`` in aten/src/ATen/native/ForeachUtils.h.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from .patches import Patches
from .state import state
from .tags import reported_device

__all__ = ["patch_optimizers"]

_STEP_DTYPES = (torch.float32, torch.float64)


def _fits(tensor: Any, device: torch.device, dtype: torch.dtype) -> bool:
    """Whether a tensor may have the same index as one of ``device`` and ``dtype``.

    ``step`` tensors may be on the CPU with dtype float32 or float64.  As in PyTorch, any such CPU tensor passes this
    check and fails in the arithmetic.
    """
    found = reported_device(tensor)
    if found == device:
        return tensor.dtype == dtype or tensor.dtype in _STEP_DTYPES
    return found.type == "cpu" and tensor.dtype in _STEP_DTYPES


def _mismatch(real: Any) -> RuntimeError:
    """Return the error with the installed version's message."""
    try:
        real([[torch.zeros(1)], [torch.zeros(1, dtype=torch.int32)]], False)
    except RuntimeError as error:
        return RuntimeError(str(error))
    return RuntimeError("Tensors of the same index must be on the same device and the same dtype")


def _move_steps(optimizer: Any, args: Any, kwargs: Any) -> None:
    """Move step counters to the devices of their parameters; without device checks, a loaded state fits any device."""
    for group in optimizer.param_groups:
        if group.get("capturable") or group.get("fused"):
            for parameter in group["params"]:
                step = optimizer.state.get(parameter, {}).get("step")
                if isinstance(step, torch.Tensor) and step.device != parameter.device:
                    optimizer.state[parameter]["step"] = step.to(parameter.device)


def patch_optimizers(patches: Patches) -> None:
    """Make PyTorch group tensors by their simulated device."""
    if not state.checks:
        patches.on_undo(register_optimizer_step_pre_hook(_move_steps).remove)
    real = torch._C._group_tensors_by_device_and_dtype

    def group(tensorlists: Any, with_indices: bool = False) -> Any:
        groups: dict[Any, Any] = {}
        for index, first in enumerate(tensorlists[0]):
            key = (reported_device(first), first.dtype)
            row = [tensors[index] if len(tensors) else None for tensors in tensorlists]
            if state.checks and not all(tensor is None or _fits(tensor, *key) for tensor in row):
                raise _mismatch(real)
            lists, indices = groups.setdefault(key, ([[] for _ in tensorlists], []))
            for position, tensors in enumerate(tensorlists):
                if len(tensors):
                    lists[position].append(row[position])
            if with_indices:
                indices.append(index)
        return groups

    patches.set(torch._C, "_group_tensors_by_device_and_dtype", group)
