"""Placements, by syntax, on another device than the one that a function works on.

An object may have two devices: where it is, ``self.device``, and where it works.  The two differ if the modules wait on
the CPU for their turn.  A method that works on ``self._execution_device`` and places a value on ``self.device`` mixes
them.  A function that is told its device, and sends a value to ``cuda`` all the same, mixes them, too.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from devfix.analysis.callers.roles import Role, role
from devfix.analysis.domain.records import dataclass
from devfix.syntax.tree import SourceTree, position, walk

__all__ = ["IgnoredDevice", "MixedPlacement", "ignored_devices", "mixed_placements"]

_Method = ast.FunctionDef | ast.AsyncFunctionDef
_OWN = "device"  # the attribute and the local name
_ACCELERATOR = "cuda"


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


@dataclass(frozen=True, eq=False)
class IgnoredDevice:
    """A placement on the default accelerator in a function that its callers tell which device to work on.

    Attributes:
        tree: the file.
        placed: ``x.cuda()``, or the literal ``"cuda"``.
        told: the parameter ``device``.
        device: the expression for it: ``device`` or ``self.device``.

    """

    tree: SourceTree
    placed: ast.Call | ast.Constant
    told: ast.arg
    device: str


def ignored_devices(tree: SourceTree, left_out: Collection[int] = ()) -> Iterator[IgnoredDevice]:
    """Yield the placements of a file that ignore the device which a function, or its object, is told.

    A placement under a condition may depend on the device, and a function that uses ``torch.cuda`` works with CUDA
    only; neither is yielded.  ``left_out`` are the lines of functions that programs call, which show what happens.
    """
    if _OWN not in tree.text or _ACCELERATOR not in tree.text:
        return
    for function in (node for node in tree.nodes if isinstance(node, _Method)):
        parent = tree.parents.get(function)
        owner = parent if isinstance(parent, ast.ClassDef) else None
        told, device = _parameter(function), _OWN
        if told is None and owner is not None:
            told, device = _kept_by(owner), f"self.{_OWN}"
        if told is None or function.name == _ACCELERATOR or _works_with_cuda(function):
            continue
        if function.lineno in left_out or role(function, owner, tree) is Role.TEST:
            continue
        for node in walk(function):
            placed = _on_accelerator(node)
            if placed is not None and not _is_conditional(tree, placed, function):
                yield IgnoredDevice(tree, placed, told, device)


def _parameter(function: _Method) -> ast.arg | None:
    """Return the parameter ``device``; ``None`` if the function has none, or binds the name again.

    Nor is a parameter returned that callers may leave out without naming an accelerator (``device=None``,
    ``device="cpu"``, ``device="gpu"``): an edit that follows it would change what they get.
    """
    names = [node for node in walk(function) if isinstance(node, ast.Name) and node.id == _OWN]
    if any(isinstance(name.ctx, ast.Store) for name in names):
        return None
    spec = function.args
    positional = [*spec.posonlyargs, *spec.args]
    defaults = [*[None] * (len(positional) - len(spec.defaults)), *spec.defaults, *spec.kw_defaults]
    for parameter, default in zip([*positional, *spec.kwonlyargs], defaults, strict=True):
        if parameter.arg == _OWN:
            return parameter if not isinstance(default, ast.Constant) or _is_accelerator(default.value) else None
    return None


def _is_accelerator(value: object) -> bool:
    """Return whether PyTorch takes a constant for an accelerator: ``"cuda:0"``, an index."""
    return type(value) is int or (isinstance(value, str) and value.startswith(_ACCELERATOR))


def _kept_by(cls: ast.ClassDef) -> ast.arg | None:
    """Return the parameter of the constructor that is ``self.device``, if nothing else is assigned to it."""
    constructor = next((each for each in cls.body if isinstance(each, _Method) and each.name == "__init__"), None)
    kept = [
        ast.unparse(node.value)
        for node in walk(cls)
        if isinstance(node, ast.Assign) and any(ast.unparse(target) == f"self.{_OWN}" for target in node.targets)
    ]
    is_kept = kept in ([_OWN], [f"torch.device({_OWN})"])
    return _parameter(constructor) if constructor is not None and is_kept else None


def _works_with_cuda(function: _Method) -> bool:
    """Return whether a function uses ``torch.cuda``, or asks where a value is: ``is_cuda``."""
    return any(
        isinstance(node, ast.Attribute)
        and (node.attr == "is_cuda" or (node.attr == _ACCELERATOR and getattr(node.value, "id", "") == "torch"))
        for node in walk(function)
    )


def _on_accelerator(node: ast.AST) -> ast.Call | ast.Constant | None:
    match node:
        case ast.Call(func=ast.Attribute(attr="cuda"), args=[], keywords=[]):
            return node
        case ast.Call(func=ast.Attribute(attr="to"), args=[ast.Constant(value="cuda") as literal, *_]):
            return literal
        case ast.keyword(arg="device", value=ast.Constant(value="cuda") as literal):
            return literal
    return None


def _is_conditional(tree: SourceTree, node: ast.AST, function: _Method) -> bool:
    """Return whether a condition that may be about devices, a ``try`` or an inner function decides about a node."""
    while node is not function:
        child, node = node, tree.parents[node]
        if node is not function and isinstance(node, _Method | ast.Try | ast.Lambda | ast.ClassDef):
            return True
        if isinstance(node, (ast.If, ast.IfExp)) and child is not node.test:
            test = ast.unparse(node.test).lower()
            if any(word in test for word in _DEVICE_WORDS):
                return True
    return False


_DEVICE_WORDS = ("cuda", "gpu", "device", "accel", "cpu")


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
