"""Notebooks, and scripts exported by ``jupyter nbconvert --to script``, with stand-ins for IPython."""

from __future__ import annotations
import __future__

import ast
import importlib
import inspect
import json
import linecache
import os
import re
import shlex
import subprocess
import sys
import types
from contextlib import suppress
from typing import Any

__all__ = ["is_export", "prepare", "run"]

_EXPORT_MARKERS = re.compile(rb"^# In\[[\d ]*\]:|^get_ipython\(\)\.", re.MULTILINE)

#: Commands that would change the interpreter or wait for input.
_INSTALLERS = re.compile(r"^\s*(sudo\s+)?(python\d?\s+-m\s+)?(pip\d?|conda|mamba|uv|apt|apt-get|brew)\s")

#: Magics whose argument or cell is Python code.
_EXECUTED = ("time", "timeit", "capture", "prun")


#: Unconditional imports of modules that exist only in hosted notebooks.
_HOSTED = re.compile(r"^(?:from|import)[ \t]+(google\.colab|kaggle_secrets|kaggle_datasets)\b", re.MULTILINE)


def run(path: str, program: str, namespace: dict[str, Any]) -> None:
    """Run the cells of a notebook in order in one namespace, as IPython does.

    Args:
        path: the notebook, used as file name of its code objects.
        program: a JSON file with its cells (:func:`devfix.sources.notebooks.runnable`).
        namespace: of ``__main__``.

    """
    with open(program, encoding="utf-8") as source:
        cells = json.load(source)
    shown: list[str] = []
    for cell in cells:
        shown += [""] * (cell["line"] - 1 - len(shown)) + [line + "\n" for line in cell["shown"].split("\n")]
    linecache.cache[path] = (
        sum(map(len, shown)),
        None,
        shown,
        path,
    )  # without modification time, linecache does not read the file
    for name in {name for cell in cells for name in _HOSTED.findall(cell["code"])}:
        _register_stand_in(name)
    prepare(namespace)
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    for cell in cells:
        text = "\n" * (cell["line"] - 1) + cell["code"]
        code = compile(text, path, "exec", flags=flags, dont_inherit=True)
        flags |= code.co_flags & _FUTURE
        if code.co_flags & inspect.CO_COROUTINE:
            _event_loop().run_until_complete(eval(code, namespace))
        else:
            exec(code, namespace)


#: Flags of `from __future__ import`, which apply to all later cells; the flag of nested_scopes has another meaning.
_FUTURE = sum(
    getattr(__future__, name).compiler_flag for name in __future__.all_feature_names if name != "nested_scopes"
)


def _event_loop() -> Any:
    """Return the event loop of all cells; tasks continue in later cells."""
    import asyncio

    global _loop
    if _loop is None:
        _loop = asyncio.new_event_loop()
        asyncio.set_event_loop(_loop)
    return _loop


_loop: Any = None


class _Hosted(types.ModuleType):
    """Stand-in for a module of a hosted service; its functions do nothing."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []  # a package, without files

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Null()


class _Null:
    """Object with every attribute and an empty string representation; calls return it."""

    def __call__(self, *_: Any, **__: Any) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __str__(self) -> str:
        return ""


def _register_stand_in(name: str) -> None:
    """Register a stand-in for a missing module of a hosted notebook; folders that it mounts stay missing."""
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        path = ".".join(parts[:end])
        try:
            importlib.import_module(path)
        except ImportError:
            stand_in = sys.modules[path] = _Hosted(path)
            if end > 1:
                setattr(sys.modules[parts[0]], parts[1], stand_in)


def is_export(source: bytes) -> bool:
    """Whether a script was exported from a notebook: it has cell numbers or calls IPython at top level."""
    return _EXPORT_MARKERS.search(source) is not None


def prepare(namespace: dict[str, Any]) -> None:
    """Add ``get_ipython`` and ``display`` to a script's namespace."""
    shell = _Shell(namespace)
    namespace.update(get_ipython=lambda: shell, display=_display)
    with suppress(ImportError):  # exports may import IPython's get_ipython, which returns None outside IPython
        library: Any = importlib.import_module("IPython")
        library.get_ipython = namespace["get_ipython"]


def _display(*values: Any, **_: Any) -> None:
    for value in values:
        print(value)


class _Shell:
    """Stand-in for IPython's shell: it runs commands and programs and ignores display settings."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.user_ns = namespace

    def system(self, command: str) -> None:
        """Run ``!command``, but no installer."""
        if not _INSTALLERS.match(command):
            sys.stdout.flush()
            subprocess.run(command, shell=True, check=False)

    def make_folders(self, names: list[str]) -> None:
        """Run ``!mkdir`` of a notebook."""
        for name in names:
            os.makedirs(os.path.expanduser(name), exist_ok=True)

    def getoutput(self, command: str, *_: Any, **__: Any) -> list[str]:
        """Run ``x = !command``, but no installer, and return its output lines."""
        if _INSTALLERS.match(command):
            return []
        done = subprocess.run(command, shell=True, check=False, capture_output=True, text=True)
        return done.stdout.splitlines()

    def run_line_magic(self, name: str, line: str = "", *_: Any, **__: Any) -> None:
        """Run ``%name line``."""
        if name in _EXECUTED:
            self._execute(line)
        elif name == "cd":
            with suppress(OSError):  # IPython prints the error and continues
                os.chdir(os.path.expanduser(line.strip().strip("\"'")))
        elif name in ("env", "set_env") and ("=" in line or " " in line.strip()):
            key, value = re.split(r"\s*=\s*|\s+", line.strip(), maxsplit=1)
            os.environ[key] = value
        elif name in ("run", "load_ext", "autoreload", "matplotlib", "config"):
            self._run(line) if name == "run" else None
        elif name in ("sx", "system", "mkdir", "rm", "cp", "mv", "ls", "cat"):
            self.system(line if name in ("sx", "system") else f"{name} {line}")

    def run_cell_magic(self, name: str, line: str, cell: str) -> None:
        """Run ``%%name line`` of a cell."""
        if name in _EXECUTED:
            self._execute(cell)
        elif name in ("bash", "sh", "script"):
            subprocess.run(["bash" if name == "bash" else "sh", "-c", cell], check=False)
        elif name in ("writefile", "file"):
            append, path = "-a" in line.split(), line.split()[-1]
            with open(path, "a" if append else "w", encoding="utf-8") as target:
                target.write(cell)

    def magic(self, line: str) -> None:
        """Run ``%line``, the form of older exports."""
        name, _, rest = line.strip().lstrip("%").partition(" ")
        self.run_line_magic(name, rest)

    def _execute(self, program: str) -> None:
        exec(compile(program, "<cell>", "exec", dont_inherit=True), self.user_ns)

    def _run(self, line: str) -> None:
        path, *arguments = shlex.split(line)
        original_argv, sys.argv = sys.argv, [path, *arguments]
        try:
            with open(path, "rb") as source:
                exec(compile(source.read(), os.path.abspath(path), "exec", dont_inherit=True), self.user_ns)
        finally:
            sys.argv = original_argv

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: None
