"""Device facts: which functions can make a difference between devices at all, found without interpretation.

With all arguments and all weights on one accelerator, an operation fails only if something creates a tensor elsewhere,
or reads memory on the host: a factory without the device of an argument, a move to the CPU, a NumPy function, a tensor
that a module keeps outside its buffers.  A function in which none of this happens, and that reads nothing which comes
from there, returns results where its inputs are: it is transparent, and need not be interpreted.

The search goes by names, within a file and through its imports.  It may take a transparent function for another one,
but not the reverse, except through attributes of objects that other code has set.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

from devfix.analysis.callers.facts.file_sources import ClassSources, Function, FunctionSources, sources_of
from devfix.analysis.callers.facts.value_sources import (
    BUILT,
    CREATED,
    CREATED_BY_DEFAULT,
    FOLLOWED,
    LOADED,
    READ,
    RESULT,
)
from devfix.analysis.callers.roles import Role, role
from devfix.analysis.domain.records import dataclass
from devfix.analysis.program import Lookups, merge_lookups
from devfix.syntax.tree import position, text_of

if TYPE_CHECKING:
    from devfix.analysis.program import Program, PythonModule
    from devfix.syntax.tree import SourceTree

__all__ = ["DeviceFacts"]

_CREATED = frozenset({CREATED, CREATED_BY_DEFAULT})
_CALLED = ("?", "=?", "()")


@dataclass
class _Class:
    """A class.

    Attributes:
        is_module: it is a class of modules.
        members: attributes that may be elsewhere, and methods whose results may.
        building: methods that run before the module is moved.

    """

    is_module: bool
    members: set[str] = field(default_factory=set)
    building: set[str] = field(default_factory=set)


@dataclass
class _File:
    """What matters in a file.

    Attributes:
        module: the file.
        names: names of its top level that bring another device, with and without a device that is passed to them.
        always: those of them that bring it even if a device is passed.
        builders: names whose calls build a module.
        classes: its classes, and those that it imports.
        dotted: the same as ``names``, of imported modules: ``ops.table``.
        followers: functions whose results are where an argument is.
        callables: names of its functions and classes.
        functions: lines and columns of functions and methods that can make a difference.
        imports: local name, name there, and file of each import; without a name there, all of the file is imported:
            as a module, or, without a local name, by ``*``.
        lookups: the names that were looked for in folders to resolve its imports.
        packages: first parts of the modules that it imports by their full names.

    """

    module: PythonModule
    names: set[str] = field(default_factory=set)
    always: set[str] = field(default_factory=set)
    builders: set[str] = field(default_factory=set)
    classes: dict[str, _Class] = field(default_factory=dict)
    dotted: set[str] = field(default_factory=set)
    followers: set[str] = field(default_factory=set)
    callables: set[str] = field(default_factory=set)
    functions: set[tuple[int, int]] = field(default_factory=set)
    imports: list[tuple[str, str, _File]] = field(default_factory=list)
    lookups: Lookups = field(default_factory=dict)
    packages: set[str] = field(default_factory=set)

    @cached_property
    def path(self) -> str:
        """Return the absolute path: one string for all that depend on the file."""
        return os.path.abspath(self.module.path)

    def size(self) -> int:
        """Return how much is known; it only grows."""
        known = (self.names, self.always, self.builders, self.dotted, self.followers, self.callables)
        return sum(map(len, known)) + sum(1 + len(cls.members) + len(cls.building) for cls in self.classes.values())

    def import_all(self) -> None:
        """Take over what is known of the imported files."""
        for name, original, source in self.imports:
            if original:
                self._add(name, original, source)
            elif name:
                self.dotted |= {f"{name}.{each}" for each in source.names}
                self.classes.update({f"{name}.{each}": cls for each, cls in source.classes.items() if "." not in each})
            else:
                self.names |= source.names
                self.always |= source.always
                self.builders |= source.builders
                self.followers |= source.followers
                self.callables |= source.callables
                self.classes.update({each: cls for each, cls in source.classes.items() if each not in self.classes})

    def _add(self, name: str, original: str, source: _File) -> None:
        pairs = (
            (self.names, source.names),
            (self.always, source.always),
            (self.builders, source.builders),
            (self.followers, source.followers),
            (self.callables, source.callables),
        )
        for mine, theirs in pairs:
            if original in theirs:
                mine.add(name)
        if original in source.classes:
            self.classes.setdefault(name, source.classes[original])


class DeviceFacts:
    """The functions of a program's files that can make a difference between devices."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._files: dict[str, _File] = {}

    def goes_on_from(self, path: str) -> bool:
        """Return whether these facts also hold for an entry file at ``path``, and if so, go on from there."""
        return self._program.goes_on_from(path)

    def may_matter(self, module: PythonModule, function: ast.AST) -> bool:
        """Return whether a function or method of a file can make a difference between devices."""
        return position(function) in self._file(module).functions

    def builds_module(self, module: PythonModule, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Return whether a function of a file returns a module that it builds, or says so."""
        declared = "" if function.returns is None else text_of(function.returns).strip("'\"")
        return not self._file(module).builders.isdisjoint({function.name, declared})

    def module(self, path: str) -> PythonModule | None:
        """Return a file; ``None`` if it cannot be read or parsed."""
        return self._program.load(path, "")

    def is_transparent(self, path: str) -> bool:
        """Return whether nothing in a file can make a difference: no function, except tests, and nothing it binds."""
        module = self.module(path)
        if module is None:
            return True
        file, tree = self._file(module), module.tree
        if not file.names.isdisjoint(sources_of(tree).bound):
            return False
        functions = (node for node in tree.nodes if isinstance(node, Function)) if file.functions else ()
        found = (node for node in functions if position(node) in file.functions)
        return all(role(node, _owner(tree, node), tree) is Role.TEST for node in found)

    def dependencies(self, path: str) -> tuple[set[str], Lookups]:
        """Return the absolute paths of the files on which the facts of a file depend, and the names looked for."""
        module = self._program.load(path, "")
        found = {} if module is None else {module.path: self._file(module)}
        pending = list(found.values())
        packages, lookups = set[str](), Lookups()
        while pending:
            file = pending.pop()
            packages |= file.packages
            merge_lookups(lookups, file.lookups)
            for _, _, source in file.imports:
                if source.module.path not in found:
                    found[source.module.path] = source
                    pending.append(source)
        names = packages.union(f"{package}.py" for package in packages)
        merge_lookups(lookups, dict.fromkeys(self._program.roots, names))
        return {file.path for file in found.values()}, lookups

    def _file(self, module: PythonModule) -> _File:
        if module.path not in self._files:
            self._load(module)
        return self._files[module.path]

    def _load(self, module: PythonModule) -> None:
        """Find the facts of a file and of all that it imports; imports may form cycles."""
        new: list[_File] = []
        self._collect(module, new)
        searches = {id(file): _Search(file) for file in new}
        pending = new
        while pending:
            changed = set[int]()
            for file in pending:
                before = file.size()
                searches[id(file)].settle()
                if file.size() != before:
                    changed.add(id(file))
            pending = [file for file in new if any(id(source) in changed for _, _, source in file.imports)]
        for search in searches.values():
            search.note_functions()

    def _collect(self, module: PythonModule, new: list[_File]) -> _File:
        """Resolve the imports of a file and of what it imports; the imported files come first."""
        known = self._files.get(module.path)
        if known is not None:
            return known
        file = self._files[module.path] = _File(module)
        for stmt in sources_of(module.tree).imports:
            if isinstance(stmt, ast.ImportFrom):
                self._import_from(stmt, file, new)
                continue
            for alias in stmt.names:
                source = self._find(alias.name, file)
                if source is not None and source is not module:
                    file.imports.append((alias.asname or alias.name, "", self._collect(source, new)))
        new.append(file)
        return file

    def _import_from(self, stmt: ast.ImportFrom, file: _File, new: list[_File]) -> None:
        module = file.module
        source = self._find(stmt.module or "", file, stmt.level)
        if source is None:
            return
        found = self._collect(source, new) if source.path != module.path else None
        defined = sources_of(source.tree).defined
        for alias in stmt.names:
            name = alias.asname or alias.name
            if found is not None:
                file.imports.append(("", "", found) if alias.name == "*" else (name, alias.name, found))
            if alias.name in defined or alias.name == "*":
                continue
            inner = self._find(f"{stmt.module or ''}.{alias.name}".lstrip("."), file, stmt.level)
            if inner is not None and inner.path not in (source.path, module.path):
                file.imports.append((name, "", self._collect(inner, new)))

    def _find(self, name: str, file: _File, level: int = 0) -> PythonModule | None:
        """Return the file that a file imports; note what was looked for."""
        if not level:
            file.packages.add(name.partition(".")[0])
        outer, self._program.lookups = self._program.lookups, file.lookups
        try:
            return self._program.find(name, file.module, level)
        finally:
            self._program.lookups = outer


class _Search:
    """A fixpoint over the names of a file."""

    def __init__(self, file: _File) -> None:
        self._file = file
        self._found = sources_of(file.module.tree)
        self._own = {name: _Class(found.is_module) for name, found in self._found.classes.items()}
        file.classes.update(self._own)
        file.builders |= {name for name, cls in self._own.items() if cls.is_module}
        file.callables |= {*self._own, *(function.name for function in self._found.functions)}
        file.names |= self._found.factories
        # of objects whose class is not known: the attributes of the file's classes, and of those that it imports
        self._members: set[str] = set()
        # results of operations, without and with a device that is passed
        self._elsewhere: set[str] = set()
        self._always_elsewhere: set[str] = set()

    def settle(self) -> None:
        """Find the names and members that matter."""
        self._file.import_all()
        self._members.update(*(cls.members for cls in self._file.classes.values()))
        before = -1
        while before != (before := self._size()):
            for name, sources in self._found.bound.items():
                self._name(name, sources, None)
            for function in self._found.functions:
                self._function(function)
            for name, found in self._found.classes.items():
                self._class(name, found, self._own[name])

    def note_functions(self) -> None:
        """Find the functions that use them."""
        for function in self._found.functions:
            self._note(function, None)
        for name, found in self._found.classes.items():
            for method in found.methods:
                self._note(method, self._own[name])
            matter = {each.name for each in found.methods if each.place in self._file.functions}
            for method in found.methods:  # what it keeps is what those methods read
                if method.stores and not method.builds and not matter.isdisjoint(method.mentions):
                    self._file.functions.add(method.place)

    def _size(self) -> int:
        file = self._file
        own = sum(len(cls.members) + len(cls.building) for cls in self._own.values())
        own += len(self._elsewhere) + len(self._always_elsewhere)
        return len(file.followers) + len(file.names) + len(file.always) + len(file.builders) + len(self._members) + own

    def _name(self, name: str, sources: Iterable[str], cls: _Class | None) -> None:
        if self._is_elsewhere(sources, cls):
            self._file.names.add(name)
        if self._is_elsewhere(sources, cls, always=True):
            self._file.always.add(name)

    def _operate(self, function: FunctionSources, cls: _Class | None) -> None:
        """Find the operations of a function whose operands are all elsewhere."""
        for result, operands in function.operations.items():
            for always, found in ((False, self._elsewhere), (True, self._always_elsewhere)):
                if result not in found and all(self._is_elsewhere(each, cls, always) for each in operands):
                    found.add(result)

    def _function(self, function: FunctionSources) -> None:
        self._operate(function, None)
        self._name(function.name, function.returns, None)
        if self._follows(function.returns):
            self._file.followers.add(function.name)
        called = {each.lstrip("()=?") for each in function.returns if each.startswith(_CALLED)}
        if BUILT in function.returns or not called.isdisjoint(self._file.builders):
            self._file.builders.add(function.name)
        for attribute, sources in function.stores.items():
            if self._is_elsewhere(sources, None):
                self._members.add(attribute.rpartition(".")[2])

    def _class(self, name: str, found: ClassSources, cls: _Class) -> None:
        for base in found.bases:
            inherited = self._file.classes.get(base)
            if inherited is not None:
                cls.members |= inherited.members
                cls.building |= inherited.building
        for member, sources in found.bound.items():
            if self._is_elsewhere(sources, cls):
                cls.members.add(member)
        for method in found.methods:
            self._operate(method, cls)
            is_building = method.builds or method.name in cls.building
            if is_building:
                cls.building |= method.mentions
            if not method.builds and self._is_elsewhere(method.returns, cls):
                cls.members.add(method.name)
            for attribute, sources in method.stores.items():
                if self._is_elsewhere(sources, cls) or (is_building and self._follows(sources)):
                    (cls.members if attribute.startswith("self.") else self._members).add(attribute.rpartition(".")[2])
        self._members |= cls.members
        if (cls.is_module and {"forward", "__call__"} & cls.members) or (not cls.is_module and cls.members):
            self._file.names.add(name)
            self._file.always.add(name)

    def _note(self, function: FunctionSources, cls: _Class | None) -> None:
        if not function.builds and (self._matters(function.uses, cls) or self._passes_on(function, cls)):
            self._file.functions.add(function.place)

    def _passes_on(self, function: FunctionSources, cls: _Class | None) -> bool:
        """Return whether a function passes a module that it builds to one that may call it, and not to build more."""
        is_building = cls is not None and function.name in cls.building
        return not is_building and self._matters(function.passes, cls)

    def _matters(self, uses: frozenset[str], cls: _Class | None) -> bool:
        """Return whether what meets operands and arguments may be elsewhere; functions and classes are passed on."""
        return READ in uses or LOADED in uses or self._is_elsewhere(uses - self._file.callables, cls)

    def _follows(self, sources: Iterable[str]) -> bool:
        return any(each == FOLLOWED or each.lstrip("=?") in self._file.followers for each in sources)

    def _is_elsewhere(self, sources: Iterable[str], cls: _Class | None, always: bool = False) -> bool:
        """Return whether a value with these sources may be on another device than the arguments and weights."""
        return any(self._brings(source, cls, always) for source in sources)

    def _brings(self, source: str, cls: _Class | None, always: bool) -> bool:
        file = self._file
        if source in _CREATED:
            return source == CREATED or not always
        if source.startswith("()"):
            return source[2:] in file.builders
        bare = source.removeprefix("=")
        name = bare.removeprefix("?")
        if name.startswith(RESULT):
            return name in (self._always_elsewhere if always else self._elsewhere)
        if name.startswith(("self.", "cls.")):
            return cls is not None and name.partition(".")[2] in cls.members
        if name.startswith("."):
            return name[1:] in self._members
        return name in (file.always if always or bare != source else file.names) or name in file.dotted


def _owner(tree: SourceTree, function: ast.AST) -> ast.ClassDef | None:
    """Return the class of a method."""
    owner = tree.parents[function]
    while isinstance(owner, (ast.If, ast.Try)):
        owner = tree.parents[owner]
    return owner if isinstance(owner, ast.ClassDef) else None
