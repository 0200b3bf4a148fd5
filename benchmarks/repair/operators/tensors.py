"""Tensors that are made on the wrong device."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from benchmarks.repair.mutations import Replacement, operator
from benchmarks.repair.operators._sites import (
    FACTORIES,
    Sites,
    calls,
    device_in_reach,
    function_name,
    is_move,
    keyword,
    knows_torch,
    moved,
    name,
    with_keyword,
    without,
    without_keyword,
)
from devfix.syntax.tree import SourceTree

__all__ = ["OPERATORS"]

_LIKE = {"zeros_like": "zeros", "ones_like": "ones", "rand_like": "rand", "randn_like": "randn"}
_NEW = {"new_zeros": "zeros", "new_ones": "ones", "new_empty": "empty", "new_full": "full"}


def _factory_in_forward(tree: SourceTree) -> Sites:
    """``device=`` of a factory, in the methods of a model."""
    for call in _with_device(tree):
        if function_name(tree, call) in ("forward", "init_hidden", "__init__", "loss", "sample", "encode", "decode"):
            yield call, without_keyword(tree, call, "device")


def _factory_elsewhere(tree: SourceTree) -> Sites:
    """``device=`` of a factory anywhere else."""
    inside = {id(call) for call, _ in _factory_in_forward(tree)}
    for call in _with_device(tree):
        if id(call) not in inside:
            yield call, without_keyword(tree, call, "device")


def _with_device(tree: SourceTree) -> Iterator[ast.Call]:
    for call in calls(tree, *FACTORIES, *_LIKE, *_NEW):
        given = keyword(call, "device")
        if given is not None and "cpu" not in ast.unparse(given.value):
            yield call


def _like_to_factory(tree: SourceTree) -> Sites:
    """``torch.zeros_like(x)`` becomes ``torch.zeros(x.shape)``, ``x.new_zeros(n)`` becomes ``torch.zeros(n)``."""
    for call in calls(tree, *_LIKE):
        if len(call.args) == 1 and isinstance(call.func, ast.Attribute):
            rest = "".join(f", {tree.source(keyword)}" for keyword in call.keywords)
            code = f"{tree.source(call.func.value)}.{_LIKE[name(call)]}({tree.source(call.args[0])}.shape{rest})"
            yield call, [(tree.span(call), code)]
    for call in calls(tree, *_NEW):
        if "import torch\n" not in tree.text:
            continue
        arguments = ", ".join(tree.source(argument) for argument in (*call.args, *call.keywords))
        owner = ast.unparse(moved(call)) if isinstance(call.func, ast.Attribute) else "x"
        dtype = "" if keyword(call, "dtype") else f", dtype={owner}.dtype"
        yield call, [(tree.span(call), f"torch.{_NEW[name(call)]}({arguments}{dtype})")]


def _cpu_accumulator(tree: SourceTree) -> Sites:
    """``total = 0.0`` becomes ``total = torch.zeros(())`` where ``total += loss`` follows, or ``loss.item()`` did."""
    for node in ast.walk(tree.tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
            continue
        if node.value.value == 0 and node.value.value is not False and _numbers_added(tree, node):
            yield node, [(tree.span(node.value), "torch.zeros(())")]


def _numbers_added(tree: SourceTree, node: ast.AST) -> list[ast.Call]:
    """The calls ``loss.item()`` in what is added to the target of an assignment, in a file that knows ``torch``."""
    assert isinstance(node, ast.Assign)
    if not knows_torch(tree):
        return []
    target = ast.unparse(node.targets[0])
    added = [
        inner.value
        for inner in ast.walk(tree.function(node))
        if isinstance(inner, ast.AugAssign) and isinstance(inner.op, ast.Add) and ast.unparse(inner.target) == target
    ]
    return [call for value in added for call in ast.walk(value) if isinstance(call, ast.Call) and name(call) == "item"]


def _of_tensors(tree: SourceTree, node: ast.AST) -> list[Replacement]:
    """The same program with a sum of tensors."""
    return [(tree.span(call), f"{tree.source(moved(call))}.detach()") for call in _numbers_added(tree, node)]


def _loss_weight(tree: SourceTree) -> Sites:
    """``weight=`` or ``pos_weight=`` of a loss stays on the CPU."""
    for call in ast.walk(tree.tree):
        if not isinstance(call, ast.Call) or not _is_loss(call):
            continue
        for given in (keyword(call, "weight"), keyword(call, "pos_weight")):
            changes = _stripped(tree, _origin(tree, given.value)) if given is not None else []
            if changes:
                yield call, changes


def _is_loss(call: ast.Call) -> bool:
    return name(call).endswith(("Loss", "_loss", "_entropy", "_with_logits"))


def _cpu_mask(tree: SourceTree) -> Sites:
    """The mask of ``masked_fill`` or ``where`` comes from the CPU."""
    for call in calls(tree, "masked_fill", "masked_fill_", "where", "masked_scatter"):
        if len(call.args) > 1:
            mask = call.args[0]
            bare = isinstance(mask, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
            code = f"{tree.source(mask)}.cpu()" if bare else f"({tree.source(mask)}).cpu()"
            yield call, _stripped(tree, _origin(tree, mask)) or [(tree.span(mask), code)]


def _origin(tree: SourceTree, node: ast.expr) -> ast.expr:
    """What a name of the same function was bound to; the expression itself where it is no such name."""
    if isinstance(node, ast.Name):
        for statement in ast.walk(tree.function(node)):
            if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == node.id:
                return statement.value
    return node


def _stripped(tree: SourceTree, value: ast.expr) -> list[Replacement]:
    """Replacements that take one device out of an expression: its outermost move, or the first ``device=``."""
    for node in ast.walk(value):
        if isinstance(node, ast.Call) and is_move(node):
            return without(tree, node)
        if isinstance(node, ast.Call) and name(node) in FACTORIES and keyword(node, "device") is not None:
            return without_keyword(tree, node, "device")
    return []


def _index_on_accelerator(tree: SourceTree) -> Sites:
    """``data[torch.randint(...)]`` gets its indices from the accelerator, and the data is on the CPU."""
    read = [node.slice for node in ast.walk(tree.tree) if isinstance(node, ast.Subscript)]
    used = {ast.unparse(inner) for index in read for inner in ast.walk(index)}
    used |= {ast.unparse(node.value) for node in ast.walk(tree.tree) if isinstance(node, ast.Subscript)} & _parts(tree)
    for call in calls(tree, "randint", "randperm", "arange"):
        device = device_in_reach(tree, call)
        if device and keyword(call, "device") is None and _bound(tree, call) in used:
            yield call, with_keyword(tree, call, "device", device)


def _parts(tree: SourceTree) -> set[str]:
    """Names whose slices are indices themselves: ``data[order[i : i + 8]]``, ``rows = order[i : i + 8]``."""
    inner = [
        node
        for outer in ast.walk(tree.tree)
        if isinstance(outer, (ast.Subscript, ast.Assign))
        for node in ast.walk(outer.slice if isinstance(outer, ast.Subscript) else outer.value)
    ]
    return {
        ast.unparse(node.value)
        for node in inner
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
    }


def _bound(tree: SourceTree, call: ast.Call) -> str:
    """What a call's value, or a part of it, is bound to; the call itself where it is nothing."""
    statement = tree.statement(call)
    if isinstance(statement, ast.Assign):
        return ast.unparse(statement.targets[0])
    return ast.unparse(statement.target) if isinstance(statement, ast.For) else ast.unparse(call)


OPERATORS = (
    operator("factory-in-forward", _factory_in_forward),
    operator("factory-elsewhere", _factory_elsewhere),
    operator("like-to-factory", _like_to_factory),
    operator("cpu-accumulator", _cpu_accumulator, _of_tensors),
    operator("loss-weight", _loss_weight),
    operator("cpu-mask", _cpu_mask),
    operator("index-on-accelerator", _index_on_accelerator),
)
