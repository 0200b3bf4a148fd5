"""Objects with two devices, by syntax: where they are, ``self.device``, and where they work.

The two differ if the modules wait on the CPU for their turn.  A method that works on ``self._execution_device`` and
places a value on ``self.device`` mixes them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis.domain.records import dataclass
from devfix.syntax.tree import SourceTree, position, walk

__all__ = ["MixedPlacement", "mixed_placements"]

_Method = ast.FunctionDef | ast.AsyncFunctionDef
_OWN = "device"  # the attribute and the local name


@dataclass(frozen=True, eq=False)
class MixedPlacement:
    """A placement on ``self.device`` in a method that works on another device of its object.

    Attributes:
        tree: the file.
        placed: ``self.device``, as an argument of the placement.
        told: what binds ``device``: an assignment or a parameter.
        attribute: the attribute that the class works on: ``_execution_device``.

    """

    tree: SourceTree
    placed: ast.Attribute
    told: ast.stmt | ast.arg
    attribute: str


def mixed_placements(tree: SourceTree) -> Iterator[MixedPlacement]:
    """Yield the placements of a file on another device than the one on which their method works."""
    if f"self.{_OWN}" not in tree.text or f"_{_OWN}" not in tree.text:
        return
    for cls in tree.tree.body:
        if isinstance(cls, ast.ClassDef):
            yield from _in_class(tree, cls)


def _in_class(tree: SourceTree, cls: ast.ClassDef) -> Iterator[MixedPlacement]:
    methods = [stmt for stmt in cls.body if isinstance(stmt, _Method)]
    assigned = {method: _assigned(method) for method in methods}
    sources = {_source(stmt.value) for stmts in assigned.values() for stmt in stmts}
    attributes = sources - {None}
    if len(attributes) != 1 or any(method.name == _OWN for method in methods):
        return  # one that the class defines itself may be the same device
    attribute = str(attributes.pop())
    for method in methods:
        if any(_source(stmt.value) is None for stmt in assigned[method]):
            continue
        told = _told(method, assigned[method])
        for placed in _placed(method) if told is not None else ():
            if told is not None and position(placed) > position(told):
                yield MixedPlacement(tree, placed, told, attribute)


def _assigned(method: _Method) -> list[ast.Assign]:
    """Return the assignments of the local name."""
    return [
        node
        for node in walk(method)
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == _OWN for target in node.targets)
    ]


def _source(value: ast.expr) -> str | None:
    """Return the attribute that an assigned device comes from: ``device or self._execution_device``."""
    match value:
        case ast.BoolOp(op=ast.Or(), values=[ast.Name(id=name), other]) if name == _OWN:
            return _source(other)
        case ast.IfExp(body=ast.Name(id=name), orelse=other) if name == _OWN:
            return _source(other)
        case ast.Attribute(value=ast.Name(id="self"), attr=attribute):
            return attribute if attribute.strip("_") != _OWN and _OWN in attribute.split("_") else None
    return None


def _told(method: _Method, assigned: list[ast.Assign]) -> ast.stmt | ast.arg | None:
    """Return what binds the local name in every call, before anything else."""
    arguments = method.args
    parameters = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    own = next((stmt for stmt in method.body if stmt in assigned), None)
    return own or next((parameter for parameter in parameters if parameter.arg == _OWN), None)


def _placed(method: _Method) -> Iterator[ast.Attribute]:
    """Yield ``self.device`` as the device of placements, except of the modules of the object."""
    for node in walk(method):
        if not isinstance(node, ast.Call):
            continue
        given = [keyword.value for keyword in node.keywords if keyword.arg == _OWN]
        if isinstance(node.func, ast.Attribute) and node.func.attr == "to":
            given = [] if _is_own(node.func.value) else [*given, *node.args[:1]]
        for value in given:
            if isinstance(value, ast.Attribute) and ast.unparse(value) == f"self.{_OWN}":
                yield value


def _is_own(receiver: ast.expr) -> bool:
    """Return whether a value belongs to the object: ``self.vae``."""
    while isinstance(receiver, ast.Attribute):
        receiver = receiver.value
    return isinstance(receiver, ast.Name) and receiver.id == "self"
