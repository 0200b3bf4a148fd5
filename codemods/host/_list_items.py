"""Lists of accelerator tensors: where the tensors are added, and how they are used.

The tensors have the list as an origin (``kept``): if the list is converted to an array, the origin leads to the
additions.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import ACCELERATOR, Origin, Tensor
from devfix.analysis.observations import Subscription
from devfix.analysis.observations.execution import ItemAdded, MethodCalled, OperandsCompared

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from devfix.analysis import Interpreter, Observations
    from devfix.analysis.domain.location import ProgramPoint

__all__ = ["SUBSCRIPTIONS", "ListAppend", "appends_to", "uses_of_items"]


@dataclass(frozen=True, eq=False)
class ListAppend:
    """A tensor on the accelerator is added to a list; ``expression`` is the tensor's expression."""

    container: int
    point: ProgramPoint
    expression: ast.expr
    tensor: Tensor


@dataclass(frozen=True)
class ItemUse:
    """A use of a list's item as a tensor: the name of a method, or ``operand``."""

    container: int
    name: str


def appends_to(observations: Observations, lists: Collection[int]) -> list[ListAppend]:
    """Return the additions to lists, list by list."""
    found = [append for append in observations.of(ListAppend) if append.container in lists]
    return sorted(found, key=lambda append: append.container)


def uses_of_items(observations: Observations, lists: Collection[int]) -> set[str]:
    """Return the uses of the items of lists: the names of methods, and ``operand``."""
    return {use.name for use in observations.of(ItemUse) if use.container in lists}


def _note_item(interp: Interpreter, added: ItemAdded) -> Tensor | None:
    """Record an accelerator tensor that is added to a list; return it with the list as an origin."""
    value, container, expression = added.value, added.container.id, added.expression
    if not isinstance(value, Tensor) or value.device != ACCELERATOR:
        return None
    assert interp.activation is not None
    key = (container, interp.activation.module.path, expression.lineno, expression.col_offset)
    if interp.observations.recorded(ListAppend, key) is None:
        append = ListAppend(container, interp.point(expression, with_state=True), expression, value)
        interp.observations.record(append, key=key)
    others = (origin for origin in value.origins if origin.kind != "kept")
    return replace(value, origins=(*others, Origin("kept", container)))


def _note_method(interp: Interpreter, called: MethodCalled) -> None:
    if isinstance(called.receiver, Tensor):
        _note_uses(interp, called.receiver.origins, called.name)


def _note_operands(interp: Interpreter, compared: OperandsCompared) -> None:
    for operand in compared.operands:
        _note_uses(interp, operand.origins, "operand")


def _note_uses(interp: Interpreter, origins: Iterable[Origin], name: str) -> None:
    for origin in origins:
        if origin.kind == "kept":
            interp.observations.record(ItemUse(origin.site_id, name))


SUBSCRIPTIONS = (
    Subscription(ItemAdded, _note_item),
    Subscription(MethodCalled, _note_method),
    Subscription(OperandsCompared, _note_operands),
)
