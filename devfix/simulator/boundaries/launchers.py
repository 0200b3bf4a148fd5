"""Other Python programs that a script starts: they run without the simulated devices, so they are unsupported."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from typing import Any

from ..patches import Patches
from ..state import state

__all__ = ["patch_launchers"]

_PYTHON = re.compile(r"python[\d.]*(?:\.exe)?")
_LAUNCHERS = frozenset({"torchrun", "accelerate", "deepspeed", "horovodrun"})

#: Modules that are run with ``-m`` and compute nothing with tensors.
_TOOLS = frozenset({"ensurepip", "pip", "py_compile", "venv", "zipfile"})


def patch_launchers(patches: Patches) -> None:
    """Record ``subprocess`` calls and ``os.system`` that start a Python program as unsupported."""
    real_init: Any = subprocess.Popen.__init__
    real_system = os.system

    def init(self: Any, args: Any, *rest: Any, **options: Any) -> None:
        _note(args)
        real_init(self, args, *rest, **options)

    def system(command: Any) -> int:
        _note(command)
        return real_system(command)

    patches.set(subprocess.Popen, "__init__", init)
    patches.set(os, "system", system)


def _note(command: Any) -> None:
    if starts_python_program(_words(command)):
        state.note_unsupported("a Python program in a child process")


def _words(command: Any) -> list[str]:
    try:
        if isinstance(command, (str, bytes)):
            return shlex.split(os.fsdecode(command))
        return [os.fsdecode(each) for each in command]
    except (TypeError, ValueError):
        return []


def starts_python_program(words: Sequence[str]) -> bool:
    """Whether a command line starts a Python script, a module that is no tool of Python, or a launcher of PyTorch."""
    for position, word in enumerate(words):
        name = os.path.basename(word)
        if name in _LAUNCHERS:
            return True
        if _PYTHON.fullmatch(name):
            rest = words[position + 1 :]
            modules = [following for option, following in itertools.pairwise(rest) if option == "-m"]
            return any(each.endswith(".py") for each in rest) or any(each not in _TOOLS for each in modules)
    return False
