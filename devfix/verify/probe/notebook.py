"""Scripts that ``jupyter nbconvert --to script`` made of notebooks call IPython, which is not there."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import subprocess
import sys
from contextlib import suppress
from typing import Any

__all__ = ["is_export", "prepare"]

_MARKS = re.compile(rb"^# In\[[\d ]*\]:|^get_ipython\(\)\.", re.MULTILINE)

#: Commands that would change the interpreter, or wait for somebody.
_INSTALLERS = re.compile(r"^\s*(sudo\s+)?(python\d?\s+-m\s+)?(pip\d?|conda|mamba|uv|apt|apt-get|brew)\s")

#: Magics whose argument or cell is a program.
_EXECUTED = ("time", "timeit", "capture", "prun")


def is_export(source: bytes) -> bool:
    """Whether a script was exported from a notebook: it has its cells' numbers, or calls IPython at top level."""
    return _MARKS.search(source) is not None


def prepare(namespace: dict[str, Any]) -> None:
    """Give a script's namespace what a notebook has: ``get_ipython`` and ``display``."""
    shell = _Shell(namespace)
    namespace.update(get_ipython=lambda: shell, display=_display)
    with suppress(ImportError):  # some tools write an import of it, and it gives None outside of IPython
        library: Any = importlib.import_module("IPython")
        library.get_ipython = namespace["get_ipython"]


def _display(*values: Any, **_: Any) -> None:
    for value in values:
        print(value)


class _Shell:
    """What exported cells ask of IPython: commands run, programs run, and the looks do nothing."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.user_ns = namespace

    def system(self, command: str) -> None:
        """``!command``; nothing is installed."""
        if not _INSTALLERS.match(command):
            sys.stdout.flush()
            subprocess.run(command, shell=True, check=False)

    def getoutput(self, command: str, *_: Any, **__: Any) -> list[str]:
        """``x = !command``."""
        if _INSTALLERS.match(command):
            return []
        done = subprocess.run(command, shell=True, check=False, capture_output=True, text=True)
        return done.stdout.splitlines()

    def run_line_magic(self, name: str, line: str = "", *_: Any, **__: Any) -> None:
        """``%name line``."""
        if name in _EXECUTED:
            self._execute(line)
        elif name == "cd":
            os.chdir(os.path.expanduser(line.strip()))
        elif name in ("env", "set_env") and ("=" in line or " " in line.strip()):
            key, value = re.split(r"\s*=\s*|\s+", line.strip(), maxsplit=1)
            os.environ[key] = value
        elif name in ("run", "load_ext", "autoreload", "matplotlib", "config"):
            self._run(line) if name == "run" else None
        elif name in ("sx", "system", "mkdir", "rm", "cp", "mv", "ls", "cat"):
            self.system(line if name in ("sx", "system") else f"{name} {line}")

    def run_cell_magic(self, name: str, line: str, cell: str) -> None:
        """``%%name line`` over a cell."""
        if name in _EXECUTED:
            self._execute(cell)
        elif name in ("bash", "sh", "script"):
            subprocess.run(["bash" if name == "bash" else "sh", "-c", cell], check=False)
        elif name in ("writefile", "file"):
            append, path = "-a" in line.split(), line.split()[-1]
            with open(path, "a" if append else "w", encoding="utf-8") as target:
                target.write(cell)

    def magic(self, line: str) -> None:
        """``%line`` as older exports write it."""
        name, _, rest = line.strip().lstrip("%").partition(" ")
        self.run_line_magic(name, rest)

    def _execute(self, program: str) -> None:
        exec(compile(program, "<cell>", "exec", dont_inherit=True), self.user_ns)

    def _run(self, line: str) -> None:
        path, *arguments = shlex.split(line)
        kept, sys.argv = sys.argv, [path, *arguments]
        try:
            with open(path, "rb") as source:
                exec(compile(source.read(), os.path.abspath(path), "exec", dont_inherit=True), self.user_ns)
        finally:
            sys.argv = kept

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: None
