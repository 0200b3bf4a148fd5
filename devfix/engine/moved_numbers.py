"""Moves of values that are no tensors: an edit must not call a tensor's method on what may be a number."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from devfix.analysis import Interpreter, Subscription
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.values import Const, Number, Value
from devfix.analysis.observations.execution import MethodCalled

__all__ = ["SUBSCRIPTION", "MovedNumber"]

_MOVES = frozenset({"cpu", "cuda", "to"})


@dataclass(frozen=True, eq=False)
class MovedNumber:
    """A call of ``.to()`` or its like on a number or another constant, such as ``None``."""

    point: ProgramPoint
    receiver: ast.expr


def _note(interp: Interpreter, called: MethodCalled) -> Value | None:
    function = called.node.func
    if called.name in _MOVES and isinstance(called.receiver, (Number, Const)) and isinstance(function, ast.Attribute):
        point = interp.point(called.node)
        interp.observations.record(MovedNumber(point, function.value), key=point.key)
    return None


SUBSCRIPTION = Subscription(MethodCalled, _note)
