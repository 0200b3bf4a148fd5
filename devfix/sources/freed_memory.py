"""Freed memory: returned to the operating system, so that one large program does not enlarge the peak of the next.

glibc keeps freed blocks for later allocations, between blocks in use: after a program of 260 MB, 95 MB.
https://man7.org/linux/man-pages/man3/malloc_trim.3.html
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache

__all__ = ["resident_bytes", "return_freed"]

_MIN_GROWTH = 48 << 20  # bytes since the last time; less is not worth a collection
_MAX_GROWTH = 192 << 20  # bytes
_MIN_GARBAGE = 0.05  # share of the new objects; after a collection that finds less, the next one waits twice as long
_resident_before = 0
_growth = _MIN_GROWTH


def return_freed() -> None:
    """Collect garbage and return freed memory, if this process has grown by much; only with glibc on Linux.

    What is alive then is not searched again until ``gc.unfreeze()``, which a scan calls at its end.
    """
    global _resident_before, _growth
    if resident_bytes() - _resident_before < _growth:
        return
    trim = _malloc_trim()
    if trim is not None:
        new = gc.get_count()[0]
        _growth = min(2 * _growth, _MAX_GROWTH) if gc.collect() < _MIN_GARBAGE * new else _MIN_GROWTH
        gc.freeze()  # mostly syntax trees, which form no cycles
        trim(0)
    _resident_before = resident_bytes()


def resident_bytes() -> int:
    """Return the resident memory of this process; 0 if it is unknown."""
    with suppress(OSError), open("/proc/self/statm", "rb", buffering=0) as file:
        return int(file.read(100).split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


@lru_cache(maxsize=1)
def _malloc_trim() -> Callable[[int], int] | None:
    import ctypes  # slow; most runs are small

    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError):  # another C library, or another system
        return None
