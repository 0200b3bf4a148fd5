"""Literal CUDA devices where a device is expected: ``"cuda"``, ``f"cuda:{rank}"`` and ``torch.device("cuda")``."""

from __future__ import annotations

import ast
import re

from codemods.portability._guards import asks_for_cuda
from codemods.portability._torch_names import named
from codemods.portability.places.cuda_place import CudaPlace, Kind, Piece
from codemods.portability.places.settings_reads import is_answered
from devfix.syntax.bindings import defaults
from devfix.syntax.device_literals import is_cuda_literal
from devfix.syntax.tree import SourceTree, walk

__all__ = ["is_computed_cuda", "is_device_argument", "is_used_as_device", "literal_place", "whole"]

_DEVICE = re.compile(r"(?:.*_)?(?:device|dev)", re.IGNORECASE)
_PARAMETER = "the default of a parameter: a query there would run when the module is imported"


def literal_place(tree: SourceTree, node: ast.expr) -> CudaPlace | None:
    """Return the place of a literal device where a device is expected."""
    computed = not isinstance(node, ast.Constant)
    if computed and not is_computed_cuda(node):
        return None
    if not computed and not is_cuda_literal(node):
        return None
    place, outer = node, tree.parents[node]
    while isinstance(outer, ast.IfExp) and (asks_for_cuda(tree, outer, place) or _is_chosen_by_index(outer, place)):
        place, outer = outer, tree.parents[outer]  # ``"cuda" if args.gpus else "cpu"``
    literal = str(node.value) if isinstance(node, ast.Constant) else ""
    if isinstance(outer, ast.Call) and outer.args[:1] == [place] and named(tree, outer.func) == "torch.device":
        if (
            place is not node
            or isinstance(tree.parents[outer], (ast.Assign, ast.AnnAssign, ast.IfExp))
            or literal != "cuda"
            or len(outer.args) > 1
        ):
            return CudaPlace(tree, node, Kind.CHOICE, literal)
        return CudaPlace(tree, outer, pieces=(whole(tree, outer),))
    if isinstance(outer, ast.arguments) and (parameter := _parameter(outer, node)) is not None:
        function = tree.parents[outer]
        if computed or not isinstance(function, ast.FunctionDef):
            return CudaPlace(tree, node, Kind.PARAMETER, literal, reason=_PARAMETER, name=parameter.arg)
        if _is_stub(function) or _chooses(function, parameter.arg):
            return None
        return CudaPlace(tree, node, Kind.PARAMETER, literal, name=parameter.arg)
    if not is_device_argument(tree, place, outer) and not _is_device_value(tree, place, outer):
        return None
    if place is node and literal and _is_moved_by_torch(tree, outer):
        return CudaPlace(tree, node, literal=literal, pieces=(whole(tree, node),))
    return CudaPlace(tree, node, Kind.CHOICE, literal)


def is_used_as_device(tree: SourceTree, node: ast.expr) -> bool:
    """Return whether a setting is used by PyTorch, or kept, as a device."""
    outer = tree.parents[node]
    if isinstance(outer, ast.Call) and outer.args[:1] == [node] and named(tree, outer.func) == "torch.device":
        return True
    if isinstance(outer, ast.Dict) or (isinstance(outer, ast.keyword) and not _is_moved_by_torch(tree, outer)):
        return False
    return is_device_argument(tree, node, outer) or _is_device_value(tree, node, outer)


def _is_stub(function: ast.FunctionDef) -> bool:
    """Return whether a function does nothing: one of a protocol, an overload, or an abstract one."""
    return all(
        isinstance(stmt, (ast.Pass, ast.Raise)) or (isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant))
        for stmt in function.body
    )


def _chooses(function: ast.FunctionDef, name: str) -> bool:
    """Return whether a function replaces a device that it was given without CUDA."""
    tests = [ast.unparse(stmt.test) for stmt in function.body if isinstance(stmt, ast.If)]
    return any(test.startswith(f"{name} == ") and "is_available" in test for test in tests)


def _parameter(arguments: ast.arguments, default: ast.expr) -> ast.arg | None:
    """Return the parameter for a device with this default; ``None`` if it is for something else."""
    found = (name for name, each in defaults(arguments).items() if each is default)
    return next((name for name in found if _DEVICE.fullmatch(name.arg)), None)


def _is_chosen_by_index(choice: ast.IfExp, body: ast.expr) -> bool:
    """Return whether a device is chosen by its index: ``f"cuda:{index}" if index > -1 else "cpu"``."""
    match choice:
        case ast.IfExp(
            test=ast.Compare(left=ast.Name() | ast.Attribute() as index, ops=[op], comparators=[least]),
            orelse=ast.Constant(value="cpu"),
        ) if choice.body is body and is_computed_cuda(body):
            is_least = (type(op), ast.unparse(least)) in ((ast.Gt, "-1"), (ast.GtE, "0"), (ast.NotEq, "-1"))
            return is_least and ast.unparse(index) in {ast.unparse(node) for node in walk(body)}
    return False


def is_device_argument(tree: SourceTree, node: ast.expr, outer: ast.AST) -> bool:
    """Return whether an expression is the argument ``device`` of a call, or the first one of ``to``."""
    if isinstance(outer, ast.Call):
        return outer.args[:1] == [node] and isinstance(outer.func, ast.Attribute) and outer.func.attr == "to"
    if not isinstance(outer, ast.keyword) or outer.arg not in ("device", "map_location"):
        return False
    call = tree.parents[outer]
    return not (isinstance(call, ast.Call) and getattr(call.func, "attr", "") in ("add_argument", "option"))


def _is_moved_by_torch(tree: SourceTree, outer: ast.AST) -> bool:
    call = tree.parents[outer] if isinstance(outer, ast.keyword) else outer
    return isinstance(call, ast.Call) and (
        named(tree, call.func).startswith("torch.") or getattr(call.func, "attr", "") == "to"
    )


def _is_device_value(tree: SourceTree, node: ast.expr, outer: ast.AST) -> bool:
    """Return whether an expression is assigned to what is named, or used, as a device, or is under such a key."""
    if isinstance(outer, ast.Dict):
        key = next((key for key, value in zip(outer.keys, outer.values, strict=True) if value is node), None)
        return isinstance(key, ast.Constant) and bool(_DEVICE.fullmatch(str(key.value)))
    if not isinstance(outer, (ast.Assign, ast.AnnAssign)) or outer.value is not node:
        return False
    if isinstance(outer, ast.AnnAssign) and isinstance(tree.parents[outer], ast.ClassDef):
        return False  # the default of a dataclass: DEV816
    targets = outer.targets if isinstance(outer, ast.Assign) else [outer.target]
    names = [each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in targets]
    if any(map(is_answered, targets)):
        return False
    return all(_DEVICE.fullmatch(name) or name in tree.derived(_names_of_devices) for name in names)


def _names_of_devices(tree: SourceTree) -> frozenset[str]:
    """Return the names that are an argument ``device`` of a call, or the first one of ``to``."""
    return frozenset(
        node.id
        for node in tree.nodes
        if isinstance(node, ast.Name) and is_device_argument(tree, node, tree.parents[node])
    )


def is_computed_cuda(node: ast.expr) -> bool:
    """Return whether an expression is ``f"cuda:{rank}"``, ``"cuda:" + str(rank)`` or ``"cuda:{}".format(rank)``."""
    first: ast.AST = node
    if isinstance(node, ast.JoinedStr) and node.values:
        first = node.values[0]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mod)):
        first = node.left
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        first = node.func.value
    return first is not node and isinstance(first, ast.Constant) and str(first.value).startswith("cuda:")


def whole(tree: SourceTree, node: ast.expr) -> Piece:
    """Return the part of an expression that changes if the device replaces all of it."""
    span = tree.span(node)
    return (span.line, span.column), (span.end_line, span.end_column), lambda name: name
