"""Tensors as JSON values, and their storages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from ..plain import sizes

__all__ = ["DeviceCounts", "count_tensors", "describe_tensor", "storage_of"]

#: Number of tensors and their bytes, by device.
DeviceCounts = dict[str, list[int]]


def describe_tensor(tensor: Tensor, device_of: Callable[[Tensor], str]) -> dict[str, Any]:
    """Return ``place`` (the device), ``shape``, ``dtype`` and ``bytes`` of a tensor; call it without active modes."""
    return {
        "place": device_of(tensor),
        "shape": sizes(tensor),
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "bytes": _bytes(tensor),
    }


def count_tensors(tensors: Iterable[Tensor], device_of: Callable[[Tensor], str]) -> DeviceCounts:
    """Return the number of tensors on each device, and their bytes."""
    found: DeviceCounts = {}
    for tensor in tensors:
        entry = found.setdefault(device_of(tensor), [0, 0])
        entry[0] += 1
        entry[1] += _bytes(tensor)
    return found


def storage_of(tensor: Tensor) -> tuple[int, int]:
    """Return the identity and the bytes of a tensor's storage; (0, 0) if it has none."""
    try:
        storage = tensor.untyped_storage()
        return storage._cdata, 0 if tensor.is_meta else storage.nbytes()
    except (NotImplementedError, RuntimeError):  # sparse and wrapped tensors have no storage
        return 0, 0


def _bytes(tensor: Tensor) -> int:
    if tensor.layout is not torch.strided or tensor.is_nested:
        return 0
    try:
        return tensor.numel() * tensor.element_size()
    except RuntimeError:  # an uninitialized parameter of a lazy module
        return 0
