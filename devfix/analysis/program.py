"""The files of one program: resolves imports to files, and parses each file once."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING

from devfix.analysis.domain.records import dataclass
from devfix.analysis.import_folders import added_folders, path_modules
from devfix.syntax.tree import SourceTree

if TYPE_CHECKING:
    from devfix.analysis.domain.runtime import Runtime
    from devfix.analysis.domain.values import ImportedName, Value

__all__ = ["WHOLE", "Lookups", "Program", "PythonModule", "listing", "merge_lookups"]

Reader = Callable[[str], "str | None"]

#: By folder, the names that were looked for, whether they were there or not.
Lookups = dict[str, set[str]]
WHOLE = ""  # in place of a name: all names in the folder


# Folders that scripts, or those who start them, often add to ``sys.path``.
_SOURCE_FOLDERS = ("src", "lib", "libs", "site-packages", "third_party", "vendor", "external")

# Modules that a file of the same name in a package does not hide: ``import torch`` beside ``utils/torch.py``.  ``test``
# is Python's own test suite, which no program imports.
_INSTALLED = (sys.stdlib_module_names - {"test"}) | {"torch", "numpy"}


@dataclass(eq=False)
class PythonModule:
    """A project file as a Python module.

    Attributes:
        name: dotted name, ``__main__`` for the entry script.
        path: path in findings.
        tree: parsed source.
        env: identifier of the global environment; 0 before the import.
        waiting: per name, the statements that bind it and are not executed before its first use; ``None`` if all are
            executed on import.
        done: identities of executed statements among them.
        evaluated: the values of names that it has imported from other modules, as far as they were used;
            ``None`` while they are evaluated.
        stars: modules of ``from … import *``.
        star_libraries: names of the packages outside the project of which it imports everything, latest first.
        runtime: settings of PyTorch after the import; ``None`` before.

    """

    name: str
    path: str
    tree: SourceTree
    env: int = 0
    waiting: dict[str, list[ast.stmt]] | None = None
    done: set[int] = field(default_factory=set)
    evaluated: dict[ImportedName, Value | None] = field(default_factory=dict)
    stars: list[PythonModule] = field(default_factory=list)
    star_libraries: list[str] = field(default_factory=list)
    runtime: Runtime | None = None


@lru_cache(maxsize=1024)
def listing(folder: str) -> frozenset[str]:
    """Return the names in a folder; empty if it cannot be read."""
    try:
        return frozenset(os.listdir(folder or "."))
    except OSError:
        return frozenset()


def merge_lookups(into: Lookups, other: Lookups) -> None:
    """Add lookups to others."""
    for folder, names in other.items():
        into.setdefault(folder, set()).update(names)


class Program:
    """The project files that one entry script imports.

    Imports are resolved in the script's folder, in those that it adds to ``sys.path``, in its parent folders up to
    ``root`` (scripts are often started from there), in their source folders such as ``src``, and in those that the
    modules read so far add to ``sys.path``.  Every other module is external.

    Attributes:
        roots: the folders in which imports are resolved.
        lookups: the names that were looked for in folders: what the program depends on besides texts.
        configuration: which of several configuration files the command line names.
        configurations: how many of them were found so far.

    """

    def __init__(
        self,
        read: Reader,
        root: str,
        parse: Callable[[str, str], SourceTree] = SourceTree,
        configuration: int = 0,
    ) -> None:
        self._read = read
        self._parse = parse
        self._root = os.path.abspath(root)
        self._modules: dict[str, PythonModule | None] = {}
        self._holders: dict[str, list[str]] = {}  # by the first part of a module's name, the roots that hold it
        self.roots: list[str] = []
        self.lookups: Lookups = {}
        self.configuration = configuration
        self.configurations = 1

    def entry(self, path: str) -> PythonModule | None:
        """Load the entry script at ``path``; return ``None`` if it cannot be read or parsed."""
        self.search_from(path)
        return self.load(path, "__main__")

    def search_from(self, path: str) -> None:
        """Set the folders in which imports of the entry script at ``path`` are resolved."""
        self.roots = self._roots_of(path)
        self._holders.clear()

    def goes_on_from(self, path: str) -> bool:
        """Return whether all imports so far have the files that they would have in an entry script at ``path``.

        If they do, further ones are resolved in the folders of that script.
        """
        roots = self._roots_of(path)
        if any(self._holding(roots, first) != known for first, known in self._holders.items()):
            return False
        self.roots = roots
        return True

    def _roots_of(self, path: str) -> list[str]:
        folder = os.path.dirname(os.path.abspath(path))
        roots = [folder]
        while folder != self._root and os.path.dirname(folder) != folder and folder.startswith(self._root):
            folder = os.path.dirname(folder)
            roots.append(folder)
        return [
            roots[0],
            *self._added_by(path, roots),
            *roots[1:],
            *(os.path.join(root, name) for root in roots for name in _SOURCE_FOLDERS if self.has(root, name)),
        ]

    def _added_by(self, path: str, roots: list[str]) -> list[str]:
        """Return the folders of the project that a script, or a module that it imports for that, adds to the path."""
        text = self._read(path)
        if text is None:
            return []
        files = {os.path.abspath(path): text}
        for name in path_modules(text):
            if self.has(roots[0], name + ".py"):
                file = os.path.join(roots[0], name + ".py")
                files[file] = self._read(file) or ""
        named = (folder for file, source in files.items() for folder in added_folders(source, file))
        return self._among(roots, named)

    def _among(self, roots: list[str], named: Iterable[str]) -> list[str]:
        """Return those of the named folders that are in the project, and not among ``roots``."""
        found = (self._started_from(roots, folder) for folder in named)
        return [each for each in dict.fromkeys(found) if each is not None and each not in roots]

    def _started_from(self, roots: list[str], folder: str) -> str | None:
        """Return a folder of the project that a program names: from where it starts, if the name is relative."""
        for root in roots:
            full = os.path.normpath(os.path.join(root, folder))
            is_inside = os.path.join(full, "").startswith(os.path.join(self._root, ""))
            if is_inside and (full == self._root or (self.has(*os.path.split(full)) and os.path.isdir(full))):
                return full
        return None

    def _holding(self, roots: Iterable[str], first: str) -> list[str]:
        return [root for root in roots if self._holds(root, first)]

    def has_module(self, name: str) -> bool:
        """Return whether the first part of a dotted module name is in one of the folders."""
        first = name.partition(".")[0]
        return any(self._holds(root, first) for root in self.roots)

    def _holds(self, root: str, name: str) -> bool:
        """Return whether an absolute import of ``name`` may be meant to find it in a folder."""
        is_there = self.has(root, name) or self.has(root, name + ".py")
        return is_there and not (name in _INSTALLED and self.has(root, "__init__.py"))

    def text(self, path: str) -> str | None:
        """Return the text of a file of the project that is no Python module; ``None`` if it cannot be read."""
        return self._read(path)

    def names(self, folder: str) -> frozenset[str]:
        """Return the names in a folder of the project; empty outside it."""
        if not os.path.abspath(folder).startswith(self._root):
            return frozenset()
        self.lookups.setdefault(folder, set()).add(WHOLE)
        return listing(folder)

    def has(self, folder: str, name: str) -> bool:
        """Return whether there is a file or folder of this name in a folder."""
        self.lookups.setdefault(folder, set()).add(name)
        return name in listing(folder)

    def load(self, path: str, name: str) -> PythonModule | None:
        """Return the module of a file, parsed on first use; ``None`` if it cannot be read or parsed."""
        key = os.path.abspath(path)
        if key not in self._modules:
            text = self._read(path)
            if text is not None:  # a script's own folders are searched already
                self.roots = [*self.roots, *self._among(self.roots, added_folders(text, key))]
            try:
                self._modules[key] = None if text is None else PythonModule(name, path, self._parse(path, text))
            except SyntaxError:
                self._modules[key] = None
        return self._modules[key]

    def trees(self) -> list[SourceTree]:
        """Return the trees of the files loaded so far."""
        return [module.tree for module in self._modules.values() if module is not None]

    def imported(self) -> list[PythonModule]:
        """Return the modules imported so far, in the order in which their files were read."""
        return [module for module in self._modules.values() if module is not None and module.env]

    def find(self, name: str, importer: PythonModule, level: int = 0) -> PythonModule | None:
        """Return the module for ``import name`` (or ``from ..name``) in ``importer``; ``None`` if it is external."""
        parts = name.split(".") if name else []
        if level:
            folder = os.path.dirname(os.path.abspath(importer.path))
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return self._in_folder(folder, parts, name)
        if not parts:
            return None
        if parts[0] not in self._holders:
            self._holders[parts[0]] = self._holding(self.roots, parts[0])
        for root in self._holders[parts[0]]:
            module = self._in_folder(self._project(root, parts[0]), parts, name)
            if module is not None and (module is not importer or _is_package(module)):
                return module
        return None

    def _project(self, root: str, package: str) -> str:
        """Return the folder that holds a package: a project in a folder of the same name, ``pip install -e name``."""
        project = os.path.join(root, package)
        if self.has(project, "__init__.py") or not self.has(project, package):
            return root
        return project if self.has(os.path.join(project, package), "__init__.py") else root

    def _in_folder(self, folder: str, parts: list[str], name: str) -> PythonModule | None:
        for part in parts[:-1]:
            if not self.has(folder, part):
                return None
            folder = os.path.join(folder, part)
        if parts:
            if self.has(folder, parts[-1] + ".py"):
                return self.load(_display_path(os.path.join(folder, parts[-1] + ".py")), name)
            if not self.has(folder, parts[-1]):
                return None
            folder = os.path.join(folder, parts[-1])
        if not os.path.isdir(folder):
            return None
        if self.has(folder, "__init__.py"):
            return self.load(_display_path(os.path.join(folder, "__init__.py")), name)
        key = os.path.join(folder, "")
        if key not in self._modules:  # a namespace package: no code, but importable files
            self._modules[key] = PythonModule(name, os.path.join(folder, "__init__.py"), self._parse(key, ""))
        return self._modules[key]


def _is_package(module: PythonModule) -> bool:
    """Return whether a module is a package, which may import its own parts by its name."""
    return os.path.basename(module.path) == "__init__.py"


def _display_path(path: str) -> str:
    """Return the path for findings: relative to the current folder if the file is inside it."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative
