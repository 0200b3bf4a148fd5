"""Names of one file: imports, aliases, classes and functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING

from devfix.analysis.domain.classes import NO_MODULES
from devfix.models.index import is_module
from devfix.syntax.tree import SourceTree, walk

if TYPE_CHECKING:
    from devfix.analysis.program import Program, PythonModule

__all__ = ["FileNames", "names_of", "names_with_imports"]

_Function = ast.FunctionDef | ast.AsyncFunctionDef

_MOST_IMPORTS = 4  # files that pass a name on
_MOST_BASES = 8  # classes between a class and a module class of a library


class FileNames:
    """The names that the module scope of a file binds.

    Attributes:
        imported: full names by local name; relative imports begin with a dot.
        aliases: values of names that are assigned once.
        classes: classes by name.
        functions: functions by name.
        other_file: returns the names of the file that a full name is imported from, and the name there; ``None`` if
            no other file is read.

    """

    other_file: Callable[[str], tuple[FileNames, str] | None] | None = None

    def __init__(self, tree: SourceTree) -> None:
        self.imported: dict[str, str] = {}
        self.aliases: dict[str, ast.expr] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self.functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
        self._attributes: dict[ast.ClassDef, dict[str, str | None]] = {}
        for node in tree.nodes:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._import(node)
        for statement in tree.tree.body:
            self._statement(statement)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        prefix = "." * node.level + (node.module or "") if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                self.imported.setdefault(alias.asname or alias.name, f"{prefix}.{alias.name}")
            elif alias.asname:
                self.imported.setdefault(alias.asname, alias.name)
            else:
                first = alias.name.split(".")[0]
                self.imported.setdefault(first, first)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.ClassDef(name=name):
                self.classes[name] = statement
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                self.functions[name] = statement
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                self.aliases.setdefault(name, value)
            case ast.If() | ast.Try():
                for part in (*statement.body, *statement.orelse):
                    self._statement(part)

    def full_name(self, node: ast.expr) -> str:
        """Return the full name of a chain of names; ``""`` for other expressions."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        parts.append(self.imported.get(node.id, node.id))
        return ".".join(reversed(parts))

    def linked(self, other_file: Callable[[str], tuple[FileNames, str] | None]) -> FileNames:
        """Return these names, together with those of the files that they are imported from."""
        names = copy(self)
        names.other_file = other_file
        return names

    def definition(self, name: str) -> tuple[FileNames, ast.expr | ast.ClassDef] | None:
        """Return what an imported name stands for in the file that defines it: an alias, or a class."""
        names: FileNames = self
        for _ in range(_MOST_IMPORTS):
            full = names.imported.get(name)
            if full is None:
                found = names.classes.get(name) or names.aliases.get(name)
                return (names, found) if found is not None and names is not self else None
            other = names.other_file(full) if names.other_file is not None else None
            if other is None:
                return None
            names, name = other
        return None

    def is_module_class(self, node: ast.expr) -> bool:
        """Return whether an expression names a class of modules: of a library, of the file, or by its name."""
        return self._is_module_name(self.full_name(node), _MOST_BASES)

    def _is_module_name(self, name: str, bases: int) -> bool:
        local = self.classes.get(name)
        if local is not None:
            return bases > 0 and any(self._is_module_name(self.full_name(base), bases - 1) for base in local.bases)
        return (name.endswith("Module") and not name.endswith("DataModule")) or is_module(name)

    def derives_from_module(self, owner: ast.ClassDef) -> bool:
        """Return whether a base of a class is known as a class of modules."""
        return any(self.is_module_class(base) for base in owner.bases)

    def is_module(self, owner: ast.ClassDef) -> bool:
        """Return whether a class is a class of modules: by its bases, or by ``forward`` and a base of another file."""
        if self.derives_from_module(owner):
            return True
        found = self.method(owner, "forward") if owner.bases else None
        return (
            found is not None
            and [parameter.arg for parameter in found[0].args.args[:1]] == ["self"]
            and any(self._is_foreign(base) for each in self.lineage(owner) for base in each.bases)
        )

    def _is_foreign(self, base: ast.expr) -> bool:
        """Return whether a base is a class of another file of the project."""
        full = self.full_name(base)
        first = full.partition(".")[0]
        return full not in self.classes and first not in NO_MODULES and not full.startswith("torch.")

    def may_be_object(self, parameter: str) -> bool:
        """Return whether a parameter is named like a class that the file defines or imports: ``boxes``, ``Boxes``."""
        return _parameter_key(parameter) in self._class_names

    def named_like(self, parameter: str) -> ast.ClassDef | None:
        """Return the class of the file that a parameter is named like: ``patch_embed``, ``PatchEmbed``."""
        wanted = _parameter_key(parameter)
        return next((cls for name, cls in self.classes.items() if _class_key(name) == wanted), None)

    @cached_property
    def _class_names(self) -> frozenset[str]:
        """Return the names of classes outside PyTorch, as names of parameters."""
        imported = (name for name, full in self.imported.items() if not full.startswith("torch."))
        names = (name for name in (*imported, *self.classes) if name[:1].isupper() and not name.isupper())
        return frozenset(map(_class_key, names))

    def names_from(self, libraries: frozenset[str]) -> dict[str, str]:
        """Return the imported names that belong to these libraries, with the library of each."""
        roots = ((name, full.partition(".")[0]) for name, full in self.imported.items())
        return {name: root for name, root in roots if root in libraries}

    def all_functions(self) -> Iterator[tuple[_Function, ast.ClassDef | None]]:
        """Yield the functions and methods of the file, with the class of each method."""
        yield from ((function, None) for function in self.functions.values())
        for owner in self.classes.values():
            for statement in owner.body:
                if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    yield statement, owner

    def lineage(self, owner: ast.ClassDef) -> list[ast.ClassDef]:
        """Return a class and the classes of the file that it derives from, nearest first."""
        found = [owner]
        for each in found:
            bases = (self.classes.get(self.full_name(base)) for base in each.bases)
            found += [base for base in bases if base is not None and base not in found]
        return found

    def method(self, owner: ast.ClassDef, name: str) -> tuple[_Function, ast.ClassDef] | None:
        """Return a method of a class and the class that defines it."""
        for each in self.lineage(owner):
            for statement in each.body:
                if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and statement.name == name:
                    return statement, each
        return None

    def sets(self, owner: ast.ClassDef, name: str) -> bool:
        """Return whether methods of a class, or of its bases in the file, set ``self.name``."""
        return any(name in self._own_attributes(each) for each in self.lineage(owner))

    def attribute_class(self, owner: ast.ClassDef, name: str) -> str:
        """Return the full name of the class whose object ``self.name`` is; ``""`` if no assignment says it."""
        for each in self.lineage(owner):
            created = self._own_attributes(each).get(name)
            if created is not None:
                return created
        return ""

    def _own_attributes(self, owner: ast.ClassDef) -> dict[str, str | None]:
        """Return the attributes of ``self`` that a class sets, with the full name of what is called first to set one.

        ``None`` if nothing is called, ``""`` if what is called has no name.
        """
        if owner not in self._attributes:
            found = self._attributes[owner] = {}
            for node in walk(owner):
                match node:
                    case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                        found.setdefault(name, None)
                    case (
                        ast.Assign(
                            targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=ast.Call(func=func)
                        )
                        | ast.AnnAssign(
                            target=ast.Attribute(value=ast.Name(id="self"), attr=name), value=ast.Call(func=func)
                        )
                    ):
                        if found.get(name) is None:
                            found[name] = self.full_name(func)
        return self._attributes[owner]


def _parameter_key(parameter: str) -> str:
    """Return what a parameter has in common with the class it is named after: ``patch_embed2``, ``patchembed``."""
    return parameter.replace("_", "").rstrip("0123456789").lower()


def _class_key(cls: str) -> str:
    """Return what a class has in common with parameters that are named after it: ``PatchEmbedBase``, ``patchembed``."""
    return cls.lower().removesuffix("base")


def names_of(tree: SourceTree) -> FileNames:
    """Return the names of a file (cached)."""
    return tree.derived(FileNames)


def names_with_imports(program: Program, module: PythonModule) -> FileNames:
    """Return the names of a module, together with those of the project's files that it imports from."""

    def other_file(full: str) -> tuple[FileNames, str] | None:
        level = len(full) - len(full.lstrip("."))
        source, _, name = full[level:].rpartition(".")
        found = program.find(source, module, level)
        return (names_with_imports(program, found), name) if found is not None else None

    return names_of(module.tree).linked(other_file)
