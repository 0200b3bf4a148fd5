"""A second fence around writing: a read-only mount does not keep a process from writing to a FIFO.

Imports the standard library only.  Source: landlock(7), https://docs.kernel.org/userspace-api/landlock.html.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable
from contextlib import suppress

from .system_calls import call

__all__ = ["allow_writing_only"]

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture but alpha
_GET_VERSION, _PATH_BENEATH = 1, 1
_WRITE_FILE, _REFER = 1 << 1, 1 << 13
#: The first version that lets files move between folders.
_OLDEST = 2


def allow_writing_only(folders: Iterable[str]) -> None:
    """Permit this process to open files and FIFOs for writing only below these folders, if the kernel supports it.

    The process must not be able to gain privileges (``PR_SET_NO_NEW_PRIVS``).
    """
    with suppress(OSError):
        if _call(_CREATE_RULESET, None, 0, _GET_VERSION) < _OLDEST:
            return
        attributes = struct.pack("Q", _WRITE_FILE | _REFER)
        rules = _call(_CREATE_RULESET, attributes, len(attributes), 0)
        try:
            for folder in folders:
                _allow(rules, folder)
            _call(_RESTRICT_SELF, rules, 0)
        finally:
            os.close(rules)


def _allow(rules: int, folder: str) -> None:
    opened = os.open(folder, os.O_PATH)
    try:
        _call(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", _WRITE_FILE | _REFER, opened), 0)
    finally:
        os.close(opened)


def _call(number: int, *arguments: int | bytes | None) -> int:
    return call("syscall", ctypes.c_long(number), *(_word(each) for each in arguments))


def _word(argument: int | bytes | None) -> ctypes.c_long | bytes | None:
    """Return an argument of a variadic C function at its full width."""
    return ctypes.c_long(argument) if isinstance(argument, int) else argument
