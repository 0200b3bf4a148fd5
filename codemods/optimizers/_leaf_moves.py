"""Copies of leaf tensors to the accelerator, and the uses of the copies that require a leaf.

The copy has the move as its origin (``leaf-moved``) until it is detached.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import Container, module_at, object_at
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    Const,
    Origin,
    Tensor,
    TupleValue,
    Value,
    alternatives,
    join,
)
from devfix.analysis.observations import Subscription
from devfix.analysis.observations.execution import (
    AttributeRead,
    AttributeStored,
    FunctionCalled,
    MethodCalled,
    OptimizerBuilt,
    TensorMoved,
)
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis import Interpreter
    from devfix.analysis.domain.location import ProgramPoint

__all__ = ["SUBSCRIPTIONS", "LeafMove"]


@dataclass(frozen=True, eq=False)
class LeafMove:
    """A copy of a leaf tensor that requires grad to the accelerator: the copy is not a leaf.

    Attributes:
        number: identifier, the ``site_id`` of the copy's origin.
        kind: ``parameter``, ``leaf`` (a factory with ``requires_grad=True``), or ``asked``
            (``x.requires_grad_().to(device)``).
        point: program point of the move.
        call: the move expression.
        made: program point of the factory, for ``leaf``.
        uses: first uses of the copy that require a leaf: ``attribute``, ``optimizer`` or ``grad``.  ``retained`` is a
            call of ``retain_grad()``, after which ``grad`` is valid.

    """

    number: int
    kind: str
    point: ProgramPoint
    call: ast.Call
    made: ProgramPoint | None
    uses: dict[str, ProgramPoint] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class _Leaf:
    """A factory with ``requires_grad=True``."""

    point: ProgramPoint


# --- creation and move ----------------------------------------------------------------------------------------------
def _note_creation(interp: Interpreter, called: FunctionCalled | MethodCalled) -> None:
    """Record a tensor that is created with ``requires_grad=True``; ``Variable(x, requires_grad=True)`` creates none."""
    if called.keywords.get("requires_grad") != Const(True) or not isinstance(called.value, Tensor):
        return
    given = {origin for value in called.args if isinstance(value, Tensor) for origin in value.origins}
    for origin in called.value.origins:
        is_made = origin.kind == "made" and origin not in given
        if is_made and interp.observations.recorded(_Leaf, origin.site_id) is None:
            interp.observations.record(_Leaf(interp.point(called.node, with_state=True)), key=origin.site_id)


def _note_move(interp: Interpreter, moved: TensorMoved) -> Value | None:
    """Record the move of a leaf tensor that requires grad; return the copy with the move as its origin."""
    leaf, call = moved.tensor, moved.node
    if leaf.device != CPU or moved.device != ACCELERATOR or not isinstance(call.func, ast.Attribute):
        return None
    if not interp.now.runtime.gradients:
        return None  # nothing is recorded: the copy is a leaf
    if _asks_for_gradient(call.func.value) and not leaf.grad:
        return _moved_leaf(interp, "asked", moved, None)
    if len(leaf.origins) != 1:
        return None
    origin = leaf.origins[0]
    made = interp.observations.recorded(_Leaf, origin.site_id) if origin.kind == "made" else None
    if made is None and not (origin.kind == "parameter" and not origin.site_id and not origin.attribute_id):
        return None
    source = call.func.value
    if isinstance(source, ast.Call):  # results of methods are not leaves: `w.detach().to(device)`
        is_factory = source is made.point.node if made is not None else text_of(source.func).endswith("Parameter")
        if not is_factory:
            return None
    return _moved_leaf(interp, "parameter" if made is None else "leaf", moved, made)


def _asks_for_gradient(node: ast.expr) -> bool:
    """Return whether an expression is ``x.requires_grad_()``."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "requires_grad_"
        and not node.args
        and not node.keywords
    )


def _moved_leaf(interp: Interpreter, kind: str, moved: TensorMoved, made: _Leaf | None) -> Value:
    call = moved.node
    key = (interp.activation.module.path if interp.activation is not None else "", call.lineno, call.col_offset)
    move = interp.observations.recorded(LeafMove, key)
    if move is None:
        point = interp.point(call, with_state=True)
        move = LeafMove(interp.new_id(), kind, point, call, made.point if made is not None else None)
        interp.observations.record(move, key=key)
    assert isinstance(moved.value, Tensor)
    return replace(moved.value, origins=(Origin("leaf-moved", move.number),))


# --- uses of the copy -----------------------------------------------------------------------------------------------
def _note_read(interp: Interpreter, read: AttributeRead) -> Value | None:
    """Record ``copy.grad``; return ``copy.data``, which is a leaf, without the move as its origin."""
    if read.node.attr == "grad":
        _note_use(interp, read.base, "grad", read.node)
    is_data = read.node.attr == "data" and any(isinstance(option, Tensor) for option in alternatives(read.base))
    return _detached(read.value) if is_data else None


def _note_method(interp: Interpreter, called: MethodCalled) -> Value | None:
    """Record ``copy.retain_grad()``; return ``copy.detach()``, which is a leaf, without the move as its origin."""
    if not isinstance(called.receiver, Tensor):
        return None
    if called.name == "retain_grad":
        _note_use(interp, called.receiver, "retained", called.node)
    return _detached(called.value) if called.name in ("detach", "detach_") else None


def _note_store(interp: Interpreter, stored: AttributeStored) -> None:
    """Record a copy that is assigned to an attribute of a module."""
    if module_at(interp, stored.owner) is not None:
        _note_use(interp, stored.value, "attribute", stored.node)


def _note_optimizer(interp: Interpreter, built: OptimizerBuilt) -> None:
    """Record a copy that an optimizer gets."""
    _note_use(interp, built.parameters, "optimizer", built.node)


def _note_use(interp: Interpreter, value: Value, use: str, node: ast.AST) -> None:
    """Record a use of the copies in a value, and in its containers; one may contain itself."""
    pending, seen = list(alternatives(value)), set[Value]()
    while pending:
        option = pending.pop()
        if option in seen:
            continue
        seen.add(option)
        if (container := object_at(interp, option, Container)) is not None:
            pending.extend(each for item in container.contents for each in alternatives(item))
        elif isinstance(option, TupleValue):
            pending.extend(each for item in option.items for each in alternatives(item))
        for origin in option.origins if isinstance(option, Tensor) else ():
            for move in interp.observations.of(LeafMove) if origin.kind == "leaf-moved" else ():
                if move.number == origin.site_id:
                    move.uses.setdefault(use, interp.point(node))


def _detached(value: Value) -> Value:
    """Return a value whose tensors do not have a move of a leaf as their origin."""
    return join(
        replace(option, origins=tuple(origin for origin in option.origins if origin.kind != "leaf-moved"))
        if isinstance(option, Tensor)
        else option
        for option in alternatives(value)
    )


SUBSCRIPTIONS = (
    Subscription(FunctionCalled, _note_creation),
    Subscription(MethodCalled, _note_creation),
    Subscription(TensorMoved, _note_move),
    Subscription(AttributeRead, _note_read),
    Subscription(MethodCalled, _note_method),
    Subscription(AttributeStored, _note_store),
    Subscription(OptimizerBuilt, _note_optimizer),
)
