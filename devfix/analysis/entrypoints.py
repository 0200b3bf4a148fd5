"""Detection of programs: a fast check on bytes, then data flow through the top-level statements.

A file is a program if running it computes with tensors, beyond the definition of names for importers.  That is the case
if it has a ``__main__`` guard, or if its top level

- calls a function of the project that may reach torch, or passes one to other code in a statement, or
- uses the result of a call that may reach torch: as an operand, as an argument, or through a method.

A table of constants, a registration, a seed or a logger is none of these: nothing uses what the call returns.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum

from devfix.syntax.tree import SourceTree, walk

__all__ = ["can_matter", "computes_with_torch", "has_main_guard", "passed_functions", "starts_program"]

_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t]+\.*\w", re.MULTILINE)
_CALL = re.compile(rb"^[^\W\d][\w.]*\(", re.MULTILINE)
_LIBRARIES = re.compile(
    r"torch|\b(?:accelerate|diffusers|timm|transformers)\b|\.cuda\("
)  # they bring PyTorch with them
_CUDA = re.compile(rb"[\"']cuda(?::\d+)?[\"']")


def can_matter(raw: bytes) -> bool:
    """Return whether a file mentions torch or CUDA, or may start a program that imports a file that does."""
    if computes_with_torch(raw.decode("utf-8", "replace")) or _CUDA.search(raw) is not None:
        return True
    return (b"__main__" in raw or _CALL.search(raw) is not None) and _IMPORT.search(raw) is not None


def computes_with_torch(text: str) -> bool:
    """Return whether a file mentions PyTorch, or a library of models on top of it."""
    return _LIBRARIES.search(text) is not None


def starts_program(tree: SourceTree, is_local: Callable[[str], bool]) -> bool:
    """Return whether running the file computes with tensors.

    Args:
        tree: the file.
        is_local: returns whether the module of an absolute import is a file of the project.

    """
    if has_main_guard(tree):
        return True
    external = _Kind.CODE if computes_with_torch(tree.text) else _Kind.PLAIN
    try:
        _TopLevel(is_local, external).execute(tree.tree.body)
    except _Computes:
        return True
    return False


def has_main_guard(tree: SourceTree) -> bool:
    """Return whether a file has code under ``if __name__ == "__main__":``."""
    return any(isinstance(stmt, ast.If) and _is_main_guard(stmt.test) for stmt in tree.tree.body)


def passed_functions(tree: SourceTree) -> frozenset[int]:
    """Return the lines of the functions and methods that a file passes to a call: code out of sight may call them."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [tree.tree.body, *(stmt.body for stmt in tree.tree.body if isinstance(stmt, ast.ClassDef))]
    calls = (node for node in walk(tree.tree) if isinstance(node, ast.Call))
    given = [value for call in calls for value in (*call.args, *(keyword.value for keyword in call.keywords))]
    names = {value.id for value in given if isinstance(value, ast.Name)}
    names |= {value.attr for value in given if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name)}
    return frozenset(
        stmt.lineno for body in bodies for stmt in body if isinstance(stmt, functions) and stmt.name in names
    )


def _is_main_guard(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(test))


class _Computes(Exception):
    """The top level computes with tensors."""


class _Kind(IntEnum):
    """What an expression may be; the kind of a compound expression is the highest of its parts.

    Attributes:
        PLAIN: neither of the others.
        CODE: a function, class or module through which a call may reach torch.
        LOCAL: the same, imported by an absolute name from a file of the project.
        COMPUTED: the result of a call that may reach torch.

    """

    PLAIN = 0
    CODE = 1
    LOCAL = 2
    COMPUTED = 3


_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_NESTED = (*_Definition.__args__, ast.Lambda)


class _TopLevel:
    """The kinds of the names that a file binds at the top level."""

    def __init__(self, is_local: Callable[[str], bool], external: _Kind) -> None:
        self._is_local = is_local
        self._external = external  # what imports from outside the project are
        self._names: dict[str, _Kind] = {}
        self._definitions: dict[str, _Definition] = {}
        self._unbound = _Kind.COMPUTED  # a name that nothing binds; after ``import *``, it may be any of the module's

    # --- statements -------------------------------------------------------------------------------------------
    def execute(self, body: Sequence[ast.AST]) -> None:
        """Follow statements in order; raise :class:`_Computes` where one computes with tensors."""
        for stmt in body:
            match stmt:
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    self._definitions[stmt.name] = stmt
                    self._names.pop(stmt.name, None)
                case ast.Import() | ast.ImportFrom():
                    self._import(stmt)
                case ast.Assign(targets=targets, value=value):
                    kind = self._kind(value)
                    for target in targets:
                        self._store(target, kind)
                case ast.AnnAssign(target=target, value=value):
                    self._store(target, self._kind(value) if value is not None else _Kind.PLAIN)
                case ast.AugAssign(target=target, value=value):
                    self._operate(self._kind(value), self._kind(target))
                case ast.Expr(value=value):
                    self._run(value)
                case _:
                    self._parts(stmt)

    def _parts(self, stmt: ast.AST) -> None:
        """Follow the expressions and blocks of a statement in their order."""
        for name in (getattr(stmt, "name", None), getattr(stmt, "rest", None)):  # of ``except`` and ``case``
            if isinstance(name, str):
                self._names.setdefault(name, _Kind.PLAIN)
        target: ast.expr | None = getattr(stmt, "target", None) or getattr(stmt, "optional_vars", None)
        for part in ast.iter_child_nodes(stmt):
            if not isinstance(part, ast.expr):
                self.execute([part])
            elif part is not target:
                kind = self._kind(part)
                if target is not None:
                    self._store(target, kind)

    def _import(self, stmt: ast.Import | ast.ImportFrom) -> None:
        for alias in stmt.names:
            module = alias.name if isinstance(stmt, ast.Import) else stmt.module or ""
            kind = _Kind.PLAIN
            if not getattr(stmt, "level", 0) and module.split(".")[0] not in sys.stdlib_module_names:
                kind = _Kind.LOCAL if self._is_local(module) else self._external
            if alias.name == "*":
                self._unbound = kind
            self._names[alias.asname or alias.name.split(".")[0]] = kind

    def _store(self, target: ast.expr, kind: _Kind) -> None:
        match target:
            case ast.Name(id=name):
                self._names[name] = max(kind, self._names.get(name, _Kind.PLAIN))
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                for element in elements:
                    self._store(element, kind)
            case ast.Starred(value=value):
                self._store(value, kind)
            case ast.Attribute(value=value) | ast.Subscript(value=value):
                self._operate(self._kind(value), kind)

    def _run(self, value: ast.expr) -> None:
        """Follow an expression statement: it runs the code that it calls or passes on."""
        self._kind(value)
        for call in _calls(value):
            if self._kind(call.func) == _Kind.LOCAL:
                raise _Computes
            passed = [*call.args, *(keyword.value for keyword in call.keywords)]
            if self._is_imported(call.func) and any(self._is_definition(each) for each in passed):
                raise _Computes

    def _is_imported(self, function: ast.expr) -> bool:
        root = _root(function)
        return root in self._names and self._names[root] != _Kind.PLAIN

    def _is_definition(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self._definitions and self._kind(node) == _Kind.CODE

    # --- expressions ------------------------------------------------------------------------------------------
    def _kind(self, node: ast.expr) -> _Kind:
        match node:
            case ast.Constant():
                return _Kind.PLAIN
            case ast.Name(id=name):
                return self._name(name)
            case ast.Attribute(value=value):
                return self._kind(value)
            case ast.Call():
                return self._call(node)
            case ast.Lambda():
                return _Kind.CODE
            case ast.BinOp(left=left, right=right):
                return self._operate(self._kind(left), self._kind(right))
            case ast.Compare(left=left, comparators=others):
                return self._operate(*map(self._kind, [left, *others]))
            case ast.Subscript(value=value, slice=index):
                return self._operate(self._kind(value), self._kind(index))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self._kind(test)
                return max(self._kind(body), self._kind(orelse))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self._kind(operand)
                return _Kind.PLAIN
            case ast.NamedExpr(target=target, value=value):
                kind = self._kind(value)
                self._store(target, kind)
                return kind
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                for generator in node.generators:
                    self._store(generator.target, self._kind(generator.iter))
                    for condition in generator.ifs:
                        self._kind(condition)
        kinds = [self._kind(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
        return max(kinds, default=_Kind.PLAIN)

    def _operate(self, *kinds: _Kind) -> _Kind:
        """Return the kind of an operation; of two computed operands, one may be on another device."""
        if kinds.count(_Kind.COMPUTED) > 1:
            raise _Computes
        return max(kinds)

    def _call(self, call: ast.Call) -> _Kind:
        function = self._kind(call.func)
        passed = [*call.args, *(keyword.value for keyword in call.keywords)]
        if _Kind.COMPUTED in (function, *map(self._kind, passed)):
            raise _Computes
        if function == _Kind.PLAIN:  # ``Thread(target=main)``
            return _Kind.COMPUTED if any(map(self._is_definition, passed)) else _Kind.PLAIN
        definition = self._definitions.get(call.func.id) if isinstance(call.func, ast.Name) else None
        if definition is not None and not isinstance(definition, ast.ClassDef):
            raise _Computes
        return _Kind.COMPUTED

    def _name(self, name: str) -> _Kind:
        kind = self._names.get(name)
        if kind is None and name in self._definitions:
            return _Kind.CODE if self._reaches(name, set()) else _Kind.PLAIN
        if kind is None and not hasattr(builtins, name) and not name.startswith("__"):
            return self._unbound
        return kind or _Kind.PLAIN

    def _reaches(self, name: str, seen: set[str]) -> bool:
        """Return whether calling a name may reach torch, through the functions and classes of the file."""
        if name in self._names:
            return self._names[name] != _Kind.PLAIN
        if name in seen or name not in self._definitions:
            return False
        seen.add(name)
        return any(self._reaches(each, seen) for each in _called(self._definitions[name]))


def _called(definition: _Definition) -> Iterator[str]:
    """Yield the names at the root of what a definition calls, decorates itself with or derives from."""
    for node in walk(definition):
        if isinstance(node, ast.Call):
            yield _root(node.func)
        elif isinstance(node, ast.ClassDef):
            yield from map(_root, node.bases)


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls that an expression makes, without those in its lambdas."""
    if isinstance(node, ast.Call):
        yield node
    for part in ast.iter_child_nodes(node):
        if not isinstance(part, _NESTED):
            yield from _calls(part)


def _root(node: ast.expr) -> str:
    """Return the name that an expression such as ``a.b(c)[d].e`` begins with; ``""`` if it is none."""
    while not isinstance(node, ast.Name):
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=inner):
                node = inner
            case _:
                return ""
    return node.id
