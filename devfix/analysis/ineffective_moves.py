"""Ineffective moves: the result is discarded, the method is not called, or the copy of a leaf is not a leaf.

A tensor whose move is discarded has the move as its origin (``dropped``), so a later mismatch is reported at the move.
A move that is not called is interpreted as a call, so that only the missing call is reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    Builtin,
    Const,
    DeviceValue,
    IterableOf,
    Origin,
    Pointer,
    Tensor,
    TupleValue,
    Union,
    Value,
    alternatives,
    join,
)
from devfix.analysis.observations.moves import BooleanDeviceArgument, DiscardedMove, LeafMove, UncalledMove
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.protocol import Interpreter

__all__ = [
    "call_if_intended",
    "detach",
    "move_leaf",
    "note_boolean_device",
    "note_discarded",
    "note_leaf_use",
    "note_loop_moves",
]

MOVES = ("to", "cuda")


# --- discarded results ----------------------------------------------------------------------------------------------
def note_discarded(interp: Interpreter, stmt: ast.Expr, result: Value) -> None:
    """Record ``x.to(device)`` as an expression statement: ``x`` keeps its device."""
    call = stmt.value
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in MOVES):
        return
    target = call.func.value
    if not _is_target(target) or not isinstance(result, Tensor) or result.device != ACCELERATOR:
        return
    if _in_dead_loop(interp, stmt):
        return  # recorded for the iterated container
    old = interp.evaluate(target)
    if not isinstance(old, Tensor) or old.device != CPU or not old.is_certain or not _has_cpu_origins(old):
        return
    key = _note(interp, "statement", stmt, call, target)
    _forget_transfer(interp, call)
    _rebind(interp, target, replace(old, origins=(Origin("dropped", key),)))


def _in_dead_loop(interp: Interpreter, stmt: ast.stmt) -> bool:
    assert interp.activation is not None
    loops = (
        parent
        for parent in interp.activation.module.tree.ancestors(stmt)
        if isinstance(parent, (ast.For, ast.AsyncFor))
    )
    return any(stmt is inner for loop in loops if _iterated(loop) for inner, _ in _dead_moves(loop))


def _is_target(node: ast.expr) -> bool:
    """Return whether an expression is an assignable target: a name, or attributes and constant items of one."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            return False
        node = node.value
    return isinstance(node, ast.Name)


def _has_cpu_origins(tensor: Tensor) -> bool:
    return bool(tensor.origins) and all(origin.kind in ("batch", "made", "stored") for origin in tensor.origins)


def _note(interp: Interpreter, kind: str, stmt: ast.stmt, call: ast.Call, target: ast.expr) -> int:
    for key, known in interp.observations.discarded_moves.items():
        if known.stmt is stmt:
            return key
    key = len(interp.observations.discarded_moves) + 1
    interp.observations.discarded_moves[key] = DiscardedMove(
        kind, interp.point(call, with_state=True), stmt, call, target
    )
    return key


def _forget_transfer(interp: Interpreter, call: ast.Call) -> None:
    interp.observations.transfers[:] = [
        transfer for transfer in interp.observations.transfers if transfer.call is not call
    ]


def _rebind(interp: Interpreter, target: ast.expr, value: Value) -> None:
    """Replace the value of a target without recording an assignment."""
    match target:
        case ast.Name(id=name):
            interp.bind(name, value)
        case ast.Attribute(value=owner, attr=name):
            for option in alternatives(interp.evaluate(owner)):
                if isinstance(option, Pointer) and name in interp.heap_object(option).fields:
                    interp.now.set_field(option, name, value)
        case ast.Subscript(value=owner, slice=key):
            for option in alternatives(interp.evaluate(owner)):
                interp.set_item(option, interp.evaluate(key), value, target)


def note_loop_moves(interp: Interpreter, stmt: ast.For | ast.AsyncFor) -> None:
    """Record moves of the loop variable in ``for t in tensors: t = t.to(device)``: the items keep their device."""
    container = _iterated(stmt)
    if container is None or not interp.alive:
        return
    for inner, call in _dead_moves(stmt):
        before = len(interp.observations.discarded_moves)
        key = _note(interp, "loop", inner, call, container)
        changed = False
        for part in container.elts if isinstance(container, (ast.Tuple, ast.List)) else [container]:
            if _is_target(part):
                changed |= _mark_discarded(interp, part, key)
        if changed:
            interp.observations.discarded_moves[key] = replace(interp.observations.discarded_moves[key], loop=stmt)
            _forget_transfer(interp, call)
        elif len(interp.observations.discarded_moves) > before:
            del interp.observations.discarded_moves[key]


def _mark_discarded(interp: Interpreter, target: ast.expr, key: int) -> bool:
    value = interp.evaluate(target)
    if isinstance(value, Pointer):
        obj = interp.heap_object(value)
        if obj.kind not in ("list", "dict"):
            return False
        fields = {name: _with_discarded_origin(item, key) for name, item in obj.fields.items()}
        default_item = None if obj.default_item is None else _with_discarded_origin(obj.default_item, key)
        interp.now.update(value, fields=fields, default_item=default_item)
        return fields != obj.fields or default_item != obj.default_item
    marked = _with_discarded_origin(value, key)
    if marked != value:
        _rebind(interp, target, marked)
    return marked != value


def _with_discarded_origin(value: Value, key: int) -> Value:
    match value:
        case Tensor(device=device) if device == CPU and _has_cpu_origins(value):
            items = {origin.path for origin in value.origins}
            item = items.pop() if value.maybe_container and len(items) == 1 else ()
            return replace(value, origins=(Origin("dropped", key, item),))
        case TupleValue(items):
            return TupleValue(tuple(_with_discarded_origin(item, key) for item in items))
        case IterableOf(element):
            return IterableOf(_with_discarded_origin(element, key))
        case Union(alternatives):
            return join(_with_discarded_origin(option, key) for option in alternatives)
    return value


def _iterated(stmt: ast.For | ast.AsyncFor) -> ast.expr | None:
    """Return the container of a loop's items: ``xs`` in ``xs``, ``enumerate(xs)``, ``xs.values()``, ``xs.items()``."""
    node = stmt.iter
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id == "enumerate" and len(node.args) == 1:
            node = node.args[0]
        elif isinstance(node.func, ast.Attribute) and node.func.attr in ("values", "items") and not node.args:
            node = node.func.value
    return node if _is_target(node) or isinstance(node, (ast.Tuple, ast.List)) else None


@lru_cache(maxsize=4096)
def _dead_moves(stmt: ast.For | ast.AsyncFor) -> tuple[tuple[ast.stmt, ast.Call], ...]:
    """Return the moves of a loop's variable that is not read afterwards."""
    last = stmt.target.elts[-1] if isinstance(stmt.target, ast.Tuple) else stmt.target
    if not isinstance(last, ast.Name):
        return ()
    found: list[tuple[ast.stmt, ast.Call]] = []
    for inner in _statements(stmt.body):
        alone = isinstance(inner, ast.Expr)
        rebinds = isinstance(inner, ast.Assign) and text_of(inner.targets[0]) == last.id and len(inner.targets) == 1
        call = inner.value if isinstance(inner, (ast.Expr, ast.Assign)) else None
        if not (alone or rebinds) or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        if call.func.attr not in MOVES or text_of(call.func.value) != last.id:
            continue
        later = (node for node in ast.walk(stmt) if isinstance(node, ast.Name) and node.id == last.id)
        end = (inner.end_lineno or 0, inner.end_col_offset or 0)
        if not any((node.lineno, node.col_offset) >= end for node in later):
            found.append((inner, call))
    return tuple(found)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for stmt in body:
        yield stmt
        if isinstance(stmt, ast.If):
            yield from _statements(stmt.body)
            yield from _statements(stmt.orelse)


# --- moves without call parentheses -------------------------------------------------------------------------------
def call_if_intended(interp: Interpreter, node: ast.Attribute, base: Value, value: Value) -> Value:
    """Record ``model.cuda`` without call parentheses where a call is intended; return the value of the call.

    ``value`` is the value of the attribute ``node``; it is returned unchanged if no call is intended.
    """
    if node.attr not in ("cuda", "cpu", "to") or not isinstance(value, Builtin):
        return value
    moved = isinstance(base, Tensor) or (isinstance(base, Pointer) and interp.heap_object(base).kind == "module")
    assert interp.activation is not None
    if not moved or not _is_call_intended(interp.activation.module.tree.parents, node, text_of(node.value)):
        return value
    point = interp.point(node, with_state=True)
    interp.observations.uncalled_moves.setdefault(point.key, UncalledMove(point, node, interp.latent))
    call = ast.copy_location(ast.Call(node, [], []), node)
    return interp.call(value, [DeviceValue(ACCELERATOR)] if node.attr == "to" else [], {}, call)


def _is_call_intended(parents: dict[ast.AST, ast.AST], node: ast.expr, receiver: str) -> bool:
    """Return whether a call is intended: the method itself makes no sense in this position.

    It is an expression statement, is returned, is assigned to the receiver's name, is the element of a comprehension
    over the receiver, or has an attribute read that no method has.
    """
    match parents.get(node):
        case ast.IfExp() as choice if node is not choice.test:
            return _is_call_intended(parents, choice, receiver)
        case ast.Assign(targets=[target]):
            return text_of(target) == receiver or receiver.endswith(")")  # no program stores the method of a new object
        case ast.Tuple() | ast.List() as items:
            return _same_item(parents.get(items), items, node, receiver)
        case ast.ListComp(elt=value) | ast.DictComp(value=value) as comprehension if value is node:
            return any(text_of(name) == receiver for part in comprehension.generators for name in _names(part.target))
        case ast.Attribute(attr=read):
            return read in _TENSOR_ATTRIBUTES
        case parent:
            return isinstance(parent, (ast.Expr, ast.Return))


_TENSOR_ATTRIBUTES = frozenset(
    "device shape dtype grad data size dim view detach requires_grad_ numpy item float long half parameters "
    "state_dict eval train zero_grad".split()
)


def _same_item(parent: ast.AST | None, items: ast.Tuple | ast.List, node: ast.expr, receiver: str) -> bool:
    """Return whether an item is assigned to the target it is read from: ``x, y = x.cuda, y.cuda()``."""
    if not isinstance(parent, ast.Assign) or parent.value is not items or len(parent.targets) != 1:
        return False
    target, index = parent.targets[0], items.elts.index(node)
    if not isinstance(target, (ast.Tuple, ast.List)) or len(target.elts) != len(items.elts):
        return False
    return text_of(target.elts[index]) == receiver


def _names(target: ast.expr) -> Iterator[ast.expr]:
    return (node for node in ast.walk(target) if isinstance(node, ast.Name))


def note_boolean_device(interp: Interpreter, args: list[Value], node: ast.Call, module: bool = False) -> None:
    """Record a boolean device argument: ``x.cuda(True)``.  Before PyTorch 0.4 the first argument was ``async``."""
    values = alternatives(args[0]) if args else ()
    if values and all(isinstance(value, Const) and isinstance(value.value, bool) for value in values):
        point = interp.point(node, with_state=True)
        interp.observations.boolean_device_arguments.setdefault(point.key, BooleanDeviceArgument(point, node, module))


# --- leaf tensors ------------------------------------------------------------------------------------------------
def move_leaf(interp: Interpreter, leaf: Tensor, moved: Tensor, call: ast.Call) -> Tensor:
    """Return the accelerator copy of a tensor; record the move if the tensor is a leaf that requires grad."""
    if leaf.device != CPU or not isinstance(call.func, ast.Attribute):
        return moved
    if _asks_for_gradient(call.func.value) and not leaf.grad:
        return _moved_leaf(interp, "asked", moved, call, None)
    if len(leaf.origins) != 1:
        return moved
    origin = leaf.origins[0]
    made = interp.observations.grad_leaves.get(origin.site_id) if origin.kind == "made" else None
    if not (made is not None or (origin.kind == "parameter" and not origin.site_id and not origin.attribute_id)):
        return moved
    source = call.func.value
    if isinstance(source, ast.Call):  # results of methods are not leaves: `w.detach().to(device)`
        factory = source is made.node if made is not None else text_of(source.func).endswith("Parameter")
        if not factory:
            return moved
    return _moved_leaf(interp, "parameter" if made is None else "leaf", moved, call, made)


def _asks_for_gradient(node: ast.expr) -> bool:
    """Return whether an expression is ``x.requires_grad_()``."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "requires_grad_"
        and not node.args
        and not node.keywords
    )


def _moved_leaf(interp: Interpreter, kind: str, moved: Tensor, call: ast.Call, made: ProgramPoint | None) -> Tensor:
    key = (interp.activation.module.path if interp.activation is not None else "", call.lineno, call.col_offset)
    if key not in interp.observations.leaf_moves:
        number = len(interp.observations.leaf_moves) + 1
        interp.observations.leaf_moves[key] = LeafMove(number, kind, interp.point(call, with_state=True), call, made)
    return replace(moved, origins=(Origin("leaf-moved", interp.observations.leaf_moves[key].number),))


def detach(tensor: Tensor) -> Tensor:
    """Return the result of ``tensor.detach()``, which is a leaf."""
    origins = tuple(origin for origin in tensor.origins if origin.kind != "leaf-moved")
    return replace(tensor, origins=origins, grad=False)


def note_leaf_use(interp: Interpreter, value: Value, use: str, node: ast.AST) -> None:
    """Record a use that requires a leaf, or ``retain_grad()``, for the leaf copies in a value."""
    for option in alternatives(value):
        if isinstance(option, Pointer) and interp.heap_object(option).kind in ("list", "dict"):
            for item in interp.heap_object(option).contents:
                note_leaf_use(interp, item, use, node)
        elif isinstance(option, TupleValue):
            for item in option.items:
                note_leaf_use(interp, item, use, node)
        for origin in option.origins if isinstance(option, Tensor) else ():
            for move in interp.observations.leaf_moves.values():
                if origin.kind == "leaf-moved" and move.number == origin.site_id:
                    move.uses.setdefault(use, interp.point(node))
