"""The language of the stubs: Python stub files whose annotations say what a function does with devices.

Stubs are parsed, never run.  ``torch/nn/functional.pyi`` describes the module ``torch.nn.functional``:

- ``def name(...) -> ...: ...`` is a function; several of one name are overloads, and the first that fits a call counts.
- ``class Name(Base, option=value): ...`` is a class with methods; :data:`ROOTS` are the bases that have a meaning.
- ``from module import name``, ``from module import *`` and ``Name = other.Name`` are other names of the same thing.
- ``def __getattr__(...)`` or ``class __getattr__(...)`` stands for every name of the module without a stub of its own.
- ``# https://...`` is the source of what follows it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from devfix.models.signatures import BadSignature, signature_of

__all__ = ["ROOTS", "StubEntry", "StubFile", "StubProblem", "module_name", "parse_stub", "read_folder"]

#: Bases with a meaning of their own, and the options of classes that derive from them.
ROOTS: dict[str, dict[str, type]] = {
    "Module": {"weights": bool},
    "Loss": {},
    "Metric": {},
    "Optimizer": {"eager": bool},
    "Scheduler": {},
    "Distribution": {},
    "Placed": {},
    "Object": {},
    "Overlay": {},
}
_SOURCE = re.compile(r"^\s*#\s*(https?://\S+)")
_WILDCARD = "__getattr__"


@dataclass(frozen=True)
class StubProblem:
    """A declaration that is not in the language, or a file that is no stub; it is left out."""

    path: str
    line: int
    message: str
    left_out: str = "declaration"

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


@dataclass
class StubEntry:
    """One name of a stub.

    Attributes:
        kind: ``function``, ``class`` or ``alias``.
        texts: signatures of a function, bases of a class, or the full name behind an alias.
        options: options of a class.
        source: the page that documents the behaviour.

    """

    kind: str
    texts: list[str] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    source: str = ""


@dataclass
class StubFile:
    """The names of one or more stubs by full name, modules that are other names of modules, and problems."""

    entries: dict[str, StubEntry] = field(default_factory=dict)
    modules: set[str] = field(default_factory=set)
    module_aliases: dict[str, str] = field(default_factory=dict)
    problems: list[StubProblem] = field(default_factory=list)

    def update(self, other: StubFile) -> None:
        """Add the content of another file; its names replace those that are there."""
        self.entries.update(other.entries)
        self.modules |= other.modules
        self.module_aliases.update(other.module_aliases)
        self.problems += other.problems


def module_name(path: Path, root: Path) -> str:
    """Return the module that a stub describes: ``torch/nn/__init__.pyi`` is ``torch.nn``."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def read_folder(root: Path) -> StubFile:
    """Return the content of every stub below a folder, in the order of their paths.

    Links that lead out of the folder are problems: a message about a stub may quote it.
    """
    found = StubFile()
    top = root.resolve()
    for path in sorted(root.rglob("*.pyi")):
        if not path.resolve().is_relative_to(top):
            found.problems.append(StubProblem(str(path), 1, "is a link to a file outside of the folder", "file"))
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            found.problems.append(StubProblem(str(path), 1, f"cannot be read: {error}", "file"))
            continue
        found.update(parse_stub(text, module_name(path, root), str(path)))
    return found


def parse_stub(text: str, module: str, path: str) -> StubFile:
    """Return the content of one stub.

    Args:
        text: its content.
        module: the module that it describes.
        path: its path, for problems.

    """
    found = StubFile(modules={module})
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        found.problems.append(StubProblem(path, line, f"no Python stub: {getattr(error, 'msg', error)}", "file"))
        return found
    _Reader(found, module, path, text).read(tree.body)
    return found


class _Reader:
    def __init__(self, found: StubFile, module: str, path: str, text: str) -> None:
        self.found = found
        self.module = module
        self.path = path
        self.sources = [match and match[1] for match in map(_SOURCE.match, text.splitlines())]
        self.imported: dict[str, str] = {}
        self.defined: set[str] = set()

    def read(self, body: Iterable[ast.stmt]) -> None:
        body = list(body)
        self.defined = {node.name for node in body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        for node in body:
            try:
                self.statement(node)
            except (BadSignature, RecursionError) as error:
                name = f"`{node.name}`: " if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else ""
                self.found.problems.append(StubProblem(self.path, node.lineno, f"{name}{error}"))

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef():
                self.function(node, self.module)
            case ast.ClassDef():
                self.class_(node)
            case ast.ImportFrom(module=str(origin), names=names, level=0):
                for name in names:
                    self.import_(origin, name)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name() | ast.Attribute() as value):
                self.add(f"{self.module}.{name}", StubEntry("alias", [self.full_name(ast.unparse(value))]), node)
            case ast.Import() | ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case _:
                raise BadSignature(f"`{ast.unparse(node).splitlines()[0]}` has no meaning in a stub")

    def import_(self, origin: str, name: ast.alias) -> None:
        if name.name == "*":
            self.found.module_aliases[self.module] = origin
            return
        self.imported[name.asname or name.name] = f"{origin}.{name.name}"
        key = f"{self.module}.{name.asname or name.name}"
        self.found.entries.setdefault(key, StubEntry("alias", [f"{origin}.{name.name}"]))

    def function(self, node: ast.FunctionDef, owner: str) -> None:
        if not all(_is_constant(part) for part in node.body):
            raise BadSignature("a stub has `...` for a body")
        if any(not (isinstance(each, ast.Name) and each.id == "overload") for each in node.decorator_list):
            raise BadSignature("a function of a stub has no decorator but `@overload`")
        signature_of(node)
        returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
        text = f"({ast.unparse(node.args)}){returns}"
        key = f"{owner}.{node.name}"
        known = self.found.entries.get(key)
        if known is not None and known.kind == "function":
            known.texts.append(text)
            return
        self.add(key, StubEntry("function", [text]), node)

    def class_(self, node: ast.ClassDef) -> None:
        bases = [self.full_name(ast.unparse(base)) for base in node.bases]
        options = dict(map(_option, node.keywords))
        for base in bases:
            allowed = ROOTS.get(base, None if "." not in base else {})
            if allowed is None:
                raise BadSignature(f"`{base}` is neither a class of a stub nor one of {', '.join(ROOTS)}")
        known = {key: kind for root in ROOTS.values() for key, kind in root.items()}
        for key, value in options.items():
            if not isinstance(value, known.get(key, ())):
                raise BadSignature(f"`{key}={value!r}` is not an option of a class")
        name = f"{self.module}.{node.name}"
        self.add(name, StubEntry("class", bases or ["Object"], options), node)
        for part in node.body:
            try:
                if isinstance(part, ast.FunctionDef):
                    self.function(part, name)
                elif not (isinstance(part, ast.Pass) or _is_constant(part)):
                    raise BadSignature("a class of a stub has methods only")
            except BadSignature as error:
                self.found.problems.append(StubProblem(self.path, part.lineno, f"`{node.name}`: {error}"))

    def full_name(self, name: str) -> str:
        first, _, rest = name.partition(".")
        if name in ROOTS:
            return name
        if first in self.imported:
            return f"{self.imported[first]}.{rest}" if rest else self.imported[first]
        return f"{self.module}.{name}" if first in self.defined else name

    def add(self, key: str, entry: StubEntry, node: ast.stmt) -> None:
        entry.source = next((url for url in reversed(self.sources[: node.lineno]) if url), "")
        self.found.entries[key] = entry


def _option(keyword: ast.keyword) -> tuple[str, Any]:
    if keyword.arg is None or not isinstance(keyword.value, ast.Constant):
        raise BadSignature(f"`{ast.unparse(keyword)}` is not an option of a class")
    return keyword.arg, keyword.value.value


def _is_constant(node: ast.stmt) -> bool:
    """Return whether a statement is ``...`` or a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
