"""Functions of the C library that Python does not wrap."""

from __future__ import annotations

import ctypes
import os
from typing import Any

__all__ = ["call"]


def call(name: str, *arguments: Any) -> int:
    """Call a function of the C library that returns a negative number for an error, and return its result.

    Raises:
        OSError: the call failed, or the function does not exist on this system.

    """
    function = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if function is None:
        raise OSError(f"no {name} on this system")
    result = int(function(*arguments))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result
