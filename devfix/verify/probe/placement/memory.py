"""Memory use of each device, by purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor

from .tensors import storage_of

__all__ = ["memory"]


def memory(kinds: Iterable[tuple[str, Iterable[Tensor]]], device_of: Callable[[Tensor], str]) -> dict[str, Any]:
    """Return bytes by device and kind; a storage shared by several tensors counts once, for its first kind."""
    seen: set[int] = {0}
    found: dict[str, dict[str, int]] = {}
    for kind, tensors in kinds:
        for tensor in tensors:
            key, size = storage_of(tensor)
            if key in seen:
                continue
            seen.add(key)
            by_kind = found.setdefault(device_of(tensor), {})
            by_kind[kind] = by_kind.get(kind, 0) + size
    return found
