"""Arguments moved at the call that passes them on, where the caller has a name for the device and the function none."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame
from devfix.analysis.observations import Binding
from devfix.fixes.insertion_point import headers, inside_module
from devfix.fixes.move_style import style_at
from devfix.fixes.tensors.misplaced_items import MisplacedItem, PlannedEdit, append_move
from devfix.fixes.value_scope import device_for_move
from devfix.syntax.tree import walk

__all__ = ["move_argument"]

_CHAINABLE = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
_Method = ast.FunctionDef | ast.AsyncFunctionDef


def move_argument(observations: Observations, misplaced: MisplacedItem, binding: Binding) -> PlannedEdit | None:
    """Return ``f(x.to(device))`` for a parameter that is bound to a misplaced item; ``None`` if only ``f`` could do it.

    A function that names a device itself moves its parameter; one that could only ask a module for it does not.
    """
    point = binding.point
    if binding.kind != "param" or len(point.call_stack) < 2:
        return None
    callee, caller = point.call_stack[-1], point.call_stack[-2]
    if inside_module(callee) or inside_module(caller) or device_for_move(observations, point, callee) is not None:
        return None
    argument = _argument(callee, caller, binding.name)
    style = style_at(observations, point, misplaced, caller)
    if argument is None or style is None or device_for_move(observations, point, caller) is None:
        return None
    trailer, guard = style
    return append_move(caller.tree, argument, trailer, ast.unparse(argument)) if guard is None else None


def _argument(callee: CallFrame, caller: CallFrame, name: str) -> ast.expr | None:
    """Return the argument for a parameter in the only call of a function in a statement."""
    function = callee.activation.node
    if not isinstance(function, _Method):
        return None
    calls = [call for root in headers(caller.stmt) for call in walk(root) if isinstance(call, ast.Call)]
    named = [call for call in calls if _last_name(call.func) == function.name]
    if len(named) != 1:
        return None
    found = list(_passed(named[0], function, name))
    return found[0] if len(found) == 1 and isinstance(found[0], _CHAINABLE) else None


def _passed(call: ast.Call, function: _Method, name: str) -> Iterator[ast.expr]:
    yield from (keyword.value for keyword in call.keywords if keyword.arg == name)
    given = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    if given[:1] in (["self"], ["cls"]) and isinstance(call.func, ast.Attribute):
        given = given[1:]
    for parameter, argument in zip(given, call.args, strict=False):
        if isinstance(argument, ast.Starred):
            return
        if parameter == name:
            yield argument


def _last_name(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
