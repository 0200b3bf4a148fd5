"""Functions as values: ``functools.partial`` and ``reduce``, and the functions of ``operator``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import UNKNOWN, Const, Keywords, Partial, Tensor, Value, join
from devfix.analysis.stdlib.texts import is_dotted_name
from devfix.analysis.transfer.device_check import check_same_device, tensors_in

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS"]


def _partial(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return Partial(args[0], tuple(args[1:]), tuple(keywords.items())) if args else UNKNOWN


def _reduce(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``reduce(function, items)``: one item, or what the function makes of several."""
    if len(args) < 2:
        return UNKNOWN
    function, items, *initial = args
    known = interp.elements(items, node)
    if known is None:
        item = interp.element(items, node)
        first = initial[0] if initial else item
        return join((first, interp.call(function, [first, item], {}, node)))
    sequence = [*initial, *known]
    result = sequence[0] if sequence else UNKNOWN
    for each in sequence[1:]:
        result = interp.call(function, [result, each], {}, node)
    return result


def _operator(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``operator.add(a, b)`` of tensors: both must be on one device."""
    operation = name.rpartition(".")[2].strip("_")
    operands = [operand for value in args for operand in tensors_in(interp, value, "…")]
    if not operands:
        return UNKNOWN
    is_strict = operation in ("matmul", "imatmul")
    device, origins = check_same_device(interp, node, operation, operands, allow_cpu_scalars=not is_strict)
    return Tensor(
        device,
        origins,
        maybe_zero_dim=all(operand.maybe_zero_dim for operand in operands),
        grad=any(operand.grad for operand in operands),
    )


def _getter(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``itemgetter("x")`` is ``lambda given: given["x"]``; ``attrgetter("x")`` is ``lambda given: given.x``."""
    keys = [each.value for each in args if isinstance(each, Const)]
    is_attribute = name.endswith(".attrgetter")
    if not keys or len(keys) < len(args) or (is_attribute and not all(map(is_dotted_name, keys))):
        return UNKNOWN
    parts = [f"given.{key}" if is_attribute else f"given[{key!r}]" for key in keys]
    result = parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
    function = ast.parse(f"lambda given: {result}").body[0]
    assert isinstance(function, ast.Expr)
    for inner in ast.walk(function):
        if hasattr(inner, "lineno"):
            ast.copy_location(inner, node)
    return interp.evaluate(function.value)


_OPERATORS = "add sub mul truediv floordiv mod pow matmul"

OVERLAYS: dict[str, TransferFunction] = {
    **{f"operator.{each}": _operator for name in _OPERATORS.split() for each in (name, f"i{name}")},
    "functools.partial": _partial,
    "functools.reduce": _reduce,
    "operator.attrgetter": _getter,
    "operator.itemgetter": _getter,
}
