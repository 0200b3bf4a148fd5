"""Expressions that number an accelerator: ``x.cuda(args.gpu)``, ``x.cuda(y.get_device())``."""

from __future__ import annotations

import ast
import re

from devfix.syntax import project_flags
from devfix.syntax.declared_options import is_declared, option_attribute
from devfix.syntax.tree import SourceTree

__all__ = ["is_index_of_many", "is_index_of_move", "is_integer", "is_kept_as_device", "tensor_of_index"]

_GET = "get_device"
_INDEX = re.compile(r"(?:local_)?rank|gpu(?:_?id|_?index)?", re.IGNORECASE)
_INDICES = re.compile(r"(?:device|gpu)_?ids?|gpus", re.IGNORECASE)
_NUMBERED = re.compile(r"rank|index|idx|gpu|worker|process|^i$|_id$", re.IGNORECASE)


def tensor_of_index(tree: SourceTree, index: ast.expr) -> ast.expr | None:
    """Return the tensor of ``x.get_device()``, its index; ``None`` for other expressions.

    A tensor on the CPU has the index -1, with which ``cuda()`` fails.
    https://docs.pytorch.org/docs/stable/generated/torch.Tensor.get_device.html
    """
    match index:
        case ast.Call(func=ast.Attribute(attr=name, value=tensor), args=[], keywords=[]) if name == _GET:
            is_simple = isinstance(tensor, (ast.Name, ast.Attribute))
            return tensor if is_simple and _GET not in tree.derived(_functions) else None
    return None


def is_index_of_move(tree: SourceTree, node: ast.Name | ast.Attribute | ast.Subscript) -> bool:
    """Return whether an expression is the index of an accelerator where a device is expected.

    ``model.to(local_rank)``, ``model.to(device_ids[0])``, and ``device = cfg.gpu_id``.  What a machine may answer, such
    as ``"cpu"``, is none.
    """
    match tree.parents.get(node):
        case ast.Call(func=ast.Attribute(attr="to"), args=[first, *_]):
            is_place = first is node
        case _:
            is_place = is_kept_as_device(tree, node)
    if not is_place or not _is_named_as_index(node):
        return False
    if isinstance(node, ast.Subscript) and any(isinstance(outer, ast.JoinedStr) for outer in tree.ancestors(node)):
        return False  # quotes in a text
    return not project_flags.current().answers.may_decide(node, tree.ancestors(node))


def _is_named_as_index(node: ast.expr) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _INDEX.fullmatch(name) is not None
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=ast.Constant(value=int())):
            return _INDICES.fullmatch(name) is not None
    return False


def is_index_of_many(tree: SourceTree, node: ast.BinOp) -> bool:
    """Return whether a name gets one of the accelerators by a number: ``device = rank % torch.cuda.device_count()``."""
    if not isinstance(node.op, ast.Mod):
        return False
    match tree.parents.get(node):
        case ast.Assign(targets=[ast.Name()]):
            number = node.left.func if isinstance(node.left, ast.Call) else node.left
        case _:
            return False
    match number:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _NUMBERED.search(name) is not None
    return False


def is_kept_as_device(tree: SourceTree, node: ast.expr) -> bool:
    """Return whether an expression is assigned to a name for a device: ``device = cfg.gpu_id``."""
    match tree.parents.get(node):
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return value is node and name.endswith("device")
    return False


def is_integer(tree: SourceTree, index: ast.expr) -> bool:
    """Return whether an expression is an option for a number, or a name that only stands for one, never ``None``."""
    if isinstance(index, ast.Attribute):
        return isinstance(index.value, ast.Name) and index.attr in tree.derived(_integer_options)
    if not isinstance(index, ast.Name):
        return False
    values = tree.derived(_values).get(index.id, [])
    return bool(values) and all(value is not None and _is_number(tree, value) for value in values)


def _is_number(tree: SourceTree, value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return isinstance(value.value, int) and not isinstance(value.value, bool)
    return isinstance(value, ast.Attribute) and is_integer(tree, value)


def _functions(tree: SourceTree) -> frozenset[str]:
    """Return the names of the functions and methods that a file defines."""
    return frozenset(node.name for node in tree.nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))


def _integer_options(tree: SourceTree) -> frozenset[str]:
    """Return the attributes of a file's options whose type and default are integers, and that nothing assigns."""
    found: set[str] = set()
    assigned = {node.attr for node in tree.nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    for node in tree.nodes:
        if isinstance(node, ast.Call) and is_declared(node):
            given = {each.arg: each.value for each in node.keywords}
            kind, default = given.get("type"), given.get("default")
            is_number = isinstance(kind, ast.Name) and kind.id == "int"
            if is_number and isinstance(default, ast.Constant) and type(default.value) is int and "nargs" not in given:
                found.add(option_attribute(node))
    return frozenset(found - assigned)


def _values(tree: SourceTree) -> dict[str, list[ast.expr | None]]:
    """Return what each name of a file is bound to, in any scope; ``None`` for what is no assignment of one value."""
    found: dict[str, list[ast.expr | None]] = {}
    for node in tree.nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                outer = tree.parents[node]
                found.setdefault(name, []).append(outer.value if isinstance(outer, ast.Assign) else None)
            case ast.arg(arg=name):
                found.setdefault(name, []).append(None)
    return found
