"""Moves that do nothing: their result is dropped, they are never called, or they make a leaf into a copy.

A tensor whose move was dropped carries the move as its birth (``dropped``), so that what it meets later is told as the
fault of the move.  A move that is not called is followed as if it were: what comes after is not the fault.
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
from devfix.analysis.move_observations import BooleanDeviceArgument, DiscardedMove, LeafMove, UncalledMove
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["after_loop", "detached", "move_leaf", "note_dropped", "note_flag", "note_leaf_use", "uncalled"]

MOVES = ("to", "cuda")


# --- results that nobody keeps --------------------------------------------------------------------------------------
def note_dropped(interp: Interpreter, stmt: ast.Expr, result: Value) -> None:
    """``x.to(device)`` as a statement: ``x`` stays where it is."""
    call = stmt.value
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in MOVES):
        return
    target = call.func.value
    if not _is_place(target) or not isinstance(result, Tensor) or result.device != ACCELERATOR:
        return
    if _in_dead_loop(interp, stmt):
        return  # the items of what is iterated are meant
    old = interp.evaluate(target)
    if not isinstance(old, Tensor) or old.device != CPU or not old.is_certain or not _came(old):
        return
    key = _note(interp, "statement", stmt, call, target)
    _forget_transfer(interp, call)
    _put(interp, target, replace(old, origins=(Origin("dropped", key),)))


def _in_dead_loop(interp: Interpreter, stmt: ast.stmt) -> bool:
    assert interp.activation is not None
    loops = (
        parent
        for parent in interp.activation.module.tree.ancestors(stmt)
        if isinstance(parent, (ast.For, ast.AsyncFor))
    )
    return any(stmt is inner for loop in loops if _iterated(loop) for inner, _ in _dead_moves(loop))


def _is_place(node: ast.expr) -> bool:
    """A name, or attributes and constant items of one: something that can be assigned to."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            return False
        node = node.value
    return isinstance(node, ast.Name)


def _came(tensor: Tensor) -> bool:
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


def _put(interp: Interpreter, target: ast.expr, value: Value) -> None:
    """Bind a value without the consequences of an assignment."""
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


def after_loop(interp: Interpreter, stmt: ast.For | ast.AsyncFor) -> None:
    """``for t in tensors: t = t.to(device)``: the items of ``tensors`` stay where they are."""
    held = _iterated(stmt)
    if held is None or not interp.alive:
        return
    for inner, call in _dead_moves(stmt):
        before = len(interp.observations.discarded_moves)
        key = _note(interp, "loop", inner, call, held)
        changed = False
        for device in held.elts if isinstance(held, (ast.Tuple, ast.List)) else [held]:
            if _is_place(device):
                changed |= _mark(interp, device, key)
        if changed:
            interp.observations.discarded_moves[key] = replace(interp.observations.discarded_moves[key], loop=stmt)
            _forget_transfer(interp, call)
        elif len(interp.observations.discarded_moves) > before:
            del interp.observations.discarded_moves[key]


def _mark(interp: Interpreter, device: ast.expr, key: int) -> bool:
    value = interp.evaluate(device)
    if isinstance(value, Pointer):
        obj = interp.heap_object(value)
        if obj.kind not in ("list", "dict"):
            return False
        fields = {name: _marked(item, key) for name, item in obj.fields.items()}
        rest = None if obj.default_item is None else _marked(obj.default_item, key)
        interp.now.update(value, fields=fields, default_item=rest)
        return fields != obj.fields or rest != obj.default_item
    marked = _marked(value, key)
    if marked != value:
        _put(interp, device, marked)
    return marked != value


def _marked(value: Value, key: int) -> Value:
    match value:
        case Tensor(device=device) if device == CPU and _came(value):
            items = {origin.path for origin in value.origins}
            item = items.pop() if value.maybe_container and len(items) == 1 else ()
            return replace(value, origins=(Origin("dropped", key, item),))
        case TupleValue(items):
            return TupleValue(tuple(_marked(item, key) for item in items))
        case IterableOf(element):
            return IterableOf(_marked(element, key))
        case Union(alternatives):
            return join(_marked(option, key) for option in alternatives)
    return value


def _iterated(stmt: ast.For | ast.AsyncFor) -> ast.expr | None:
    """What holds the items of a loop: ``xs`` of ``xs``, ``enumerate(xs)``, ``xs.values()`` and ``xs.items()``."""
    node = stmt.iter
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id == "enumerate" and len(node.args) == 1:
            node = node.args[0]
        elif isinstance(node.func, ast.Attribute) and node.func.attr in ("values", "items") and not node.args:
            node = node.func.value
    return node if _is_place(node) or isinstance(node, (ast.Tuple, ast.List)) else None


@lru_cache(maxsize=4096)
def _dead_moves(stmt: ast.For | ast.AsyncFor) -> tuple[tuple[ast.stmt, ast.Call], ...]:
    """Moves of a loop's own variable after which nothing reads it."""
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


# --- moves that are never called -----------------------------------------------------------------------------------
def uncalled(interp: Interpreter, node: ast.Attribute, base: Value, value: Value) -> Value:
    """``model.cuda`` without parentheses, as a statement, assigned to the same name, or returned."""
    if node.attr not in ("cuda", "cpu", "to") or not isinstance(value, Builtin):
        return value
    moved = isinstance(base, Tensor) or (isinstance(base, Pointer) and interp.heap_object(base).kind == "module")
    assert interp.activation is not None
    if not moved or not _is_meant(interp.activation.module.tree.parents, node, text_of(node.value)):
        return value
    point = interp.point(node, with_state=True)
    interp.observations.uncalled_moves.setdefault(point.key, UncalledMove(point, node, interp.latent))
    call = ast.copy_location(ast.Call(node, [], []), node)
    return interp.call(value, [DeviceValue(ACCELERATOR)] if node.attr == "to" else [], {}, call)


def _is_meant(parents: dict[ast.AST, ast.AST], node: ast.expr, receiver: str) -> bool:
    """Whether the result of the call, not the method, is what its place in the program can only want.

    It is returned, bound to the receiver's own name, an item made for each variable of a comprehension, or asked for
    what no method has.
    """
    match parents.get(node):
        case ast.IfExp() as choice if node is not choice.test:
            return _is_meant(parents, choice, receiver)
        case ast.Assign(targets=[target]):
            return text_of(target) == receiver or receiver.endswith(")")  # nobody keeps the method of a new object
        case ast.Tuple() | ast.List() as items:
            return _same_item(parents.get(items), items, node, receiver)
        case ast.ListComp(elt=value) | ast.DictComp(value=value) as comprehension if value is node:
            return any(text_of(name) == receiver for part in comprehension.generators for name in _names(part.target))
        case ast.Attribute(attr=asked):
            return asked in _NO_METHOD_HAS
        case parent:
            return isinstance(parent, (ast.Expr, ast.Return))


_NO_METHOD_HAS = frozenset(
    "device shape dtype grad data size dim view detach requires_grad_ numpy item float long half parameters "
    "state_dict eval train zero_grad".split()
)


def _same_item(parent: ast.AST | None, items: ast.Tuple | ast.List, node: ast.expr, receiver: str) -> bool:
    """``x, y = x.cuda, y.cuda()``: the item goes to the place from which it comes."""
    if not isinstance(parent, ast.Assign) or parent.value is not items or len(parent.targets) != 1:
        return False
    target, device = parent.targets[0], items.elts.index(node)
    if not isinstance(target, (ast.Tuple, ast.List)) or len(target.elts) != len(items.elts):
        return False
    return text_of(target.elts[device]) == receiver


def _names(target: ast.expr) -> Iterator[ast.expr]:
    return (node for node in ast.walk(target) if isinstance(node, ast.Name))


def note_flag(interp: Interpreter, args: list[Value], node: ast.Call, module: bool = False) -> None:
    """``x.cuda(True)``, ``x.cuda(args.pin_memory)``: before PyTorch 0.4 the first argument was ``async``."""
    flags = alternatives(args[0]) if args else ()
    if flags and all(isinstance(flag, Const) and isinstance(flag.value, bool) for flag in flags):
        point = interp.point(node, with_state=True)
        interp.observations.boolean_device_arguments.setdefault(point.key, BooleanDeviceArgument(point, node, module))


# --- leaves --------------------------------------------------------------------------------------------------------
def move_leaf(interp: Interpreter, leaf: Tensor, moved: Tensor, call: ast.Call) -> Tensor:
    """A parameter, or a tensor made with ``requires_grad=True``, goes to the accelerator: the copy is no leaf."""
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
    if isinstance(source, ast.Call):  # what a method makes of a leaf is none: `w.detach().to(device)`
        factory = source is made.node if made is not None else text_of(source.func).endswith("Parameter")
        if not factory:
            return moved
    return _moved_leaf(interp, "parameter" if made is None else "leaf", moved, call, made)


def _asks_for_gradient(node: ast.expr) -> bool:
    """``x.requires_grad_()``."""
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


def detached(tensor: Tensor) -> Tensor:
    """What has the numbers and not the history of a tensor: a leaf again, also where that one was the copy of one."""
    origins = tuple(origin for origin in tensor.origins if origin.kind != "leaf-moved")
    return replace(tensor, origins=origins, grad=False)


def note_leaf_use(interp: Interpreter, value: Value, use: str, node: ast.AST) -> None:
    """The copy is registered, optimised, asked for its gradient, or told to keep that."""
    for option in alternatives(value):
        if isinstance(option, Pointer) and interp.heap_object(option).kind in ("list", "dict"):
            obj = interp.heap_object(option)
            for item in obj.contents:
                note_leaf_use(interp, item, use, node)
        elif isinstance(option, TupleValue):
            for item in option.items:
                note_leaf_use(interp, item, use, node)
        for origin in option.origins if isinstance(option, Tensor) else ():
            for move in interp.observations.leaf_moves.values():
                if origin.kind == "leaf-moved" and move.number == origin.site_id:
                    move.uses.setdefault(use, interp.point(node))
