"""Memory of each device, by what it is for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor

from .tensors import memory_of

__all__ = ["memory"]


def memory(kinds: Iterable[tuple[str, Iterable[Tensor]]], place_of: Callable[[Tensor], str]) -> dict[str, Any]:
    """Bytes by place and kind; memory that tensors share counts once, for the first kind that has it."""
    seen: set[int] = {0}
    found: dict[str, dict[str, int]] = {}
    for kind, tensors in kinds:
        for tensor in tensors:
            key, size = memory_of(tensor)
            if key in seen:
                continue
            seen.add(key)
            by_kind = found.setdefault(place_of(tensor), {})
            by_kind[kind] = by_kind.get(kind, 0) + size
    return found
