"""Numbers of accelerators and processes in conditions: comparisons with them, and the outcome in a scenario."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from devfix.analysis.domain.objects import Container, object_at
from devfix.analysis.domain.values import Const, Unknown, Value
from devfix.models.flags import DEVICE_COUNTS, DEVICE_LISTS
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = [
    "at_least_one",
    "by_device_count",
    "compare_order",
    "counts_accelerators",
    "has_none",
    "is_device_count",
    "lists_accelerators",
    "with_several",
]


def is_device_count(interp: Interpreter, node: ast.expr) -> bool:
    """Return whether an expression is a number of accelerators: ``num_gpus``, ``args.n_gpu``, ``len(opt.gpu_ids)``."""
    match node:
        case ast.Call(func=ast.Name("len"), args=[ast.Name() | ast.Attribute() as listed]):
            return lists_accelerators(interp, listed)
    return _last_part(node) in DEVICE_COUNTS


def lists_accelerators(interp: Interpreter, node: ast.expr) -> bool:
    """Return whether an expression is a list of accelerators that may have items: ``opt.gpu_ids``."""
    return _last_part(node) in DEVICE_LISTS and not _is_empty(interp, interp.evaluate(node))


def _is_empty(interp: Interpreter, value: Value) -> bool:
    """Return whether a value is certainly no list with items."""
    items = object_at(interp, value, Container)
    return not items.contents if items is not None else not isinstance(value, Unknown)


def _last_part(node: ast.expr) -> str:
    """Return the last part of a dotted name, in lower case; empty for other expressions."""
    last = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return last.lower()


def counts_accelerators(node: ast.expr) -> bool:
    """Return whether an expression is the number of accelerators of the machine: ``torch.cuda.device_count()``."""
    return isinstance(node, ast.Call) and text_of(node.func).endswith(".device_count")


def has_none(interp: Interpreter) -> bool:
    """Return whether PyTorch sees no accelerator: there is none, or the program has hidden it."""
    return interp.scenario.no_accelerator or not interp.now.runtime.sees_accelerators


def at_least_one(interp: Interpreter, op: ast.cmpop, limit: Const) -> bool | None:
    """Compare the number of accelerators with a limit that no number, or each number from one on, satisfies."""
    if has_none(interp):
        return compare_order(op, 0, limit.value)
    outcomes = {compare_order(op, count, limit.value) for count in (1, 2, 1_000)}
    return outcomes.pop() if len(outcomes) == 1 else None


def by_device_count(interp: Interpreter, compare: Callable[[Any, Any], bool | None], limit: Const) -> bool | None:
    """Compare the number of accelerators in the scenario with a limit."""
    if has_none(interp):
        return compare(0, limit.value)
    return with_several(interp, one=compare(1, limit.value), several=compare(2, limit.value))


def with_several(interp: Interpreter, one: bool | None, several: bool | None) -> bool | None:
    """Return the outcome of a condition with one accelerator or process, or with several, as the scenario has it."""
    interp.observations.may_use_second |= one is not None and one is not several
    return several if interp.scenario.multi_accelerator else one


_ORDERS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def compare_order(op: ast.cmpop, left: object, right: object) -> bool | None:
    """Compare two values by ``<``, ``<=``, ``>`` or ``>=``; return ``None`` for another operator or other types."""
    order = _ORDERS.get(type(op))
    try:
        return bool(order(left, right)) if order is not None else None
    except TypeError:
        return None
