"""The files of one program: finding what an import means, parsing each file once."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from devfix.syntax.tree import SourceTree

__all__ = ["Program", "PythonModule", "listing"]

Reader = Callable[[str], "str | None"]


# folders that scripts put on ``sys.path``
_BESIDE = ("src", "lib", "libs", "site-packages", "third_party", "vendor", "external")


@dataclass(eq=False)
class PythonModule:
    """A project file as a Python module.

    ``env`` is its global environment, 0 until it is imported; ``waiting`` the statements that bind a name and have
    not been run, as nobody has asked for the name; ``stars`` the modules of ``from … import *``.
    """

    name: str
    path: str
    tree: SourceTree
    env: int = 0
    waiting: dict[str, list[ast.stmt]] | None = None
    done: set[int] = field(default_factory=set)
    stars: list[PythonModule] = field(default_factory=list)


@lru_cache(maxsize=1024)
def listing(folder: str) -> frozenset[str]:
    """The names in a folder, none where it cannot be read; looked up once."""
    try:
        return frozenset(os.listdir(folder or "."))
    except OSError:
        return frozenset()


class Program:
    """The project around one entry script.

    ``read`` gives a file's text, ``None`` where it cannot be read.  Imports are looked up where Python looks (the
    script's folder) and in the folders above it up to ``root``, and their ``src`` folder: scripts are started from
    there, too.  What is not found there is outside the project.  ``folders`` are those that were looked into.
    """

    def __init__(self, read: Reader, root: str, parse: Callable[[str, str], SourceTree] = SourceTree) -> None:
        self._read = read
        self._parse = parse
        self._root = os.path.abspath(root)
        self._modules: dict[str, PythonModule | None] = {}
        self.roots: list[str] = []
        self.folders: set[str] = set()

    def entry(self, path: str) -> PythonModule | None:
        """The script that starts the program; ``None`` where it cannot be parsed."""
        folder = os.path.dirname(os.path.abspath(path))
        self.roots = [folder]
        while folder != self._root and os.path.dirname(folder) != folder and folder.startswith(self._root):
            folder = os.path.dirname(folder)
            self.roots.append(folder)
        beside = [os.path.join(root, name) for root in self.roots for name in _BESIDE if name in self._names(root)]
        self.roots.extend(beside)
        return self.load(path, "__main__")

    def _names(self, folder: str) -> frozenset[str]:
        self.folders.add(folder)
        return listing(folder)

    def load(self, path: str, name: str) -> PythonModule | None:
        """The module of a file, parsed once."""
        key = os.path.abspath(path)
        if key not in self._modules:
            text = self._read(path)
            try:
                self._modules[key] = None if text is None else PythonModule(name, path, self._parse(path, text))
            except SyntaxError:
                self._modules[key] = None
        return self._modules[key]

    def trees(self) -> list[SourceTree]:
        """The files that were read so far."""
        return [module.tree for module in self._modules.values() if module is not None]

    def find(self, name: str, importer: PythonModule, level: int = 0) -> PythonModule | None:
        """The project module that ``import name`` (or ``from ...name``) means in ``importer``."""
        parts = name.split(".") if name else []
        if level:
            folder = os.path.dirname(os.path.abspath(importer.path))
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return self._in_folder(folder, parts, name)
        for root in self.roots:
            if parts and (parts[0] in self._names(root) or parts[0] + ".py" in self._names(root)):
                module = self._in_folder(root, parts, name)
                if module is not None:
                    return module
        return None

    def _in_folder(self, folder: str, parts: list[str], name: str) -> PythonModule | None:
        for part in parts[:-1]:
            if part not in self._names(folder):
                return None
            folder = os.path.join(folder, part)
        if parts:
            if parts[-1] + ".py" in self._names(folder):
                return self.load(_shown(os.path.join(folder, parts[-1] + ".py")), name)
            if parts[-1] not in self._names(folder):
                return None
            folder = os.path.join(folder, parts[-1])
        if not os.path.isdir(folder):
            return None
        if "__init__.py" in self._names(folder):
            return self.load(_shown(os.path.join(folder, "__init__.py")), name)
        key = os.path.join(folder, "")
        if key not in self._modules:  # a namespace package: nothing to run, but its files can be imported
            self._modules[key] = PythonModule(name, os.path.join(folder, "__init__.py"), self._parse(key, ""))
        return self._modules[key]


def _shown(path: str) -> str:
    """A path as findings name it: relative to the current folder where it lies inside."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative
