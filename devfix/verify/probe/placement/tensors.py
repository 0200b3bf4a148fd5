"""Tensors as JSON values, and their memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

__all__ = ["Places", "count", "describe", "memory_of"]

#: Number of tensors and their bytes, by place.
Places = dict[str, list[int]]


def describe(tensor: Tensor, place_of: Callable[[Tensor], str]) -> dict[str, Any]:
    """``place``, ``shape``, ``dtype`` and ``bytes`` of a tensor; call it where no mode watches."""
    return {
        "place": place_of(tensor),
        "shape": list(tensor.shape),
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "bytes": _bytes(tensor),
    }


def count(tensors: Iterable[Tensor], place_of: Callable[[Tensor], str]) -> Places:
    """How many tensors live where, and their bytes."""
    found: Places = {}
    for tensor in tensors:
        entry = found.setdefault(place_of(tensor), [0, 0])
        entry[0] += 1
        entry[1] += _bytes(tensor)
    return found


def memory_of(tensor: Tensor) -> tuple[int, int]:
    """What tensors that share memory have in common, and the bytes of it; (0, 0) where there is none."""
    try:
        storage = tensor.untyped_storage()
        return storage._cdata, 0 if tensor.is_meta else storage.nbytes()
    except (NotImplementedError, RuntimeError):  # sparse and wrapped tensors have no storage of their own
        return 0, 0


def _bytes(tensor: Tensor) -> int:
    if tensor.layout is not torch.strided:
        return 0
    try:
        return tensor.numel() * tensor.element_size()
    except RuntimeError:  # a parameter of a lazy module that has no shape yet
        return 0
