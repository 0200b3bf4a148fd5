"""Folders that a script adds to ``sys.path``, as far as its text says which: imports are resolved there, too."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

__all__ = ["added_folders", "path_modules"]

_MOST_FOLDERS = 16  # of one script
_MOST_NAMES = 8  # that refer to each other
_SAME = frozenset({"abspath", "realpath", "normpath", "expanduser", "fspath", "str", "Path", "PurePath"})
_SAME_OBJECT = frozenset({"resolve", "absolute", "as_posix", "expanduser", "__str__"})  # methods of ``Path``
_PATH_MODULES = re.compile(r"^\s*(?:import|from)\s+(\w*path\w*)\b", re.MULTILINE)


def path_modules(text: str) -> list[str]:
    """Return the modules of the script's own folder that it may import for their effect on ``sys.path``."""
    return [name for name in _PATH_MODULES.findall(text) if name not in ("pathlib", "path")]


def added_folders(text: str, path: str) -> tuple[str, ...]:
    """Return the folders that a file adds to ``sys.path``; relative ones start in the folder the program starts in.

    Args:
        text: the text of the file.
        path: its absolute path, ``__file__``.

    """
    return _added_folders(text, path) if "sys.path" in text or "from sys import" in text else ()


@lru_cache(maxsize=128)
def _added_folders(text: str, path: str) -> tuple[str, ...]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    found = _Folders(tree, path).all()
    return tuple(dict.fromkeys(found))[:_MOST_FOLDERS]


class _Folders:
    """The folders in the expressions of one file."""

    def __init__(self, tree: ast.Module, path: str) -> None:
        self._path = path
        self._nodes = list(ast.walk(tree))
        self._names = frozenset(name for node in self._nodes for name in _imported_path(node))
        self._bound: dict[str, list[ast.expr]] = {}
        for node in self._nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._bound.setdefault(name, []).append(value)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    self._bound.setdefault(name, []).append(value)
                case ast.For(target=ast.Name(id=name), iter=ast.List(elts=items) | ast.Tuple(elts=items)):
                    self._bound.setdefault(name, []).extend(items)
        self._bind_parameters()

    def _bind_parameters(self) -> None:
        """Bind the parameters of functions that change ``sys.path`` to the arguments of their calls."""
        adding = {
            node.name: [each.arg for each in node.args.args]
            for node in self._nodes
            if isinstance(node, ast.FunctionDef) and any(True for _ in _added(ast.walk(node), self._names))
        }
        for node in self._nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in adding:
                for name, argument in zip(adding[node.func.id], node.args, strict=False):
                    self._bound.setdefault(name, []).append(argument)

    def all(self) -> Iterator[str]:
        """Yield every folder that the file adds."""
        for added in _added(self._nodes, self._names):
            yield from self._values(added, _MOST_NAMES)

    def _values(self, node: ast.expr, names: int) -> Iterator[str]:
        """Yield what a path may be; ``names`` is how many more may be followed."""
        match node:
            case ast.Constant(value=str(text)):
                yield text
            case ast.Name(id="__file__"):
                yield self._path
            case ast.Name(id=name) if names:
                for value in self._bound.get(name, ()):
                    yield from self._values(value, names - 1)
            case ast.Attribute(value=inner, attr="parent"):
                yield from map(os.path.dirname, self._values(inner, names))
            case ast.Subscript(
                value=ast.Attribute(value=inner, attr="parents"), slice=ast.Constant(value=int(count))
            ) if 0 <= count < _MOST_FOLDERS:
                yield from (_ancestor(text, count + 1) for text in self._values(inner, names))
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                yield from self._joined([left, right], names, "")
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                yield from self._joined([left, right], names, "/")
            case ast.JoinedStr(values=parts):
                yield from self._joined(
                    [part.value if isinstance(part, ast.FormattedValue) else part for part in parts], names, ""
                )
            case ast.Call(func=func, args=args):
                yield from self._of_call(func, args, names)

    def _of_call(self, func: ast.expr, args: list[ast.expr], names: int) -> Iterator[str]:
        name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
        if name in ("getcwd", "cwd") and not args:
            yield "."
        elif name == "dirname" and len(args) == 1:
            yield from map(os.path.dirname, self._values(args[0], names))
        elif name == "join" and len(args) > 1:
            yield from self._joined(args, names, "/")
        elif name == "joinpath" and isinstance(func, ast.Attribute):
            yield from self._joined([func.value, *args], names, "/")
        elif name in _SAME and len(args) == 1:
            yield from self._values(args[0], names)
        elif name in _SAME_OBJECT and isinstance(func, ast.Attribute) and not args:
            yield from self._values(func.value, names)

    def _joined(self, parts: Iterable[ast.expr], names: int, separator: str) -> Iterator[str]:
        """Yield the combination of the first value of each part; nothing if one of them is unknown."""
        values = [next(self._values(part, names), None) for part in parts]
        known = [value for value in values if value is not None]
        if len(known) == len(values):
            yield os.path.join(*known) if separator else "".join(known)


def _is_path(node: ast.expr, names: frozenset[str]) -> bool:
    """Return whether an expression is ``sys.path``, or one of its other names."""
    if isinstance(node, ast.Name):
        return node.id in names
    return isinstance(node, ast.Attribute) and node.attr == "path" and getattr(node.value, "id", "") == "sys"


def _imported_path(node: ast.AST) -> Iterator[str]:
    """Yield the names that ``from sys import path`` binds."""
    if isinstance(node, ast.ImportFrom) and node.module == "sys":
        yield from (alias.asname or alias.name for alias in node.names if alias.name == "path")


def _ancestor(path: str, count: int) -> str:
    for _ in range(count):
        path = os.path.dirname(path)
    return path


def _added(nodes: Iterable[ast.AST], names: frozenset[str]) -> Iterator[ast.expr]:
    """Yield what calls add to ``sys.path``, which has some other names."""
    for node in nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="append"), args=[added]) if _is_path(owner, names):
                yield added
            case ast.Call(func=ast.Attribute(value=owner, attr="insert"), args=[_, added]) if _is_path(owner, names):
                yield added
            case ast.Call(
                func=ast.Attribute(value=owner, attr="extend"), args=[ast.List(elts=items) | ast.Tuple(elts=items)]
            ) if _is_path(owner, names):
                yield from items
