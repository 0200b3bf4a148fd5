"""Operators: what arithmetic, comparison and joining make of tensors, strings and lists."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain.device_parsing import UNKNOWN_INDEX, parse_device
from devfix.analysis.domain.values import (
    UNKNOWN,
    Const,
    DeviceValue,
    HeapObject,
    Number,
    Parameters,
    Pointer,
    Tensor,
    Text,
    TupleValue,
    Union,
    Value,
    alternatives,
    join,
)
from devfix.analysis.stdlib import numpy_
from devfix.analysis.transfer import iteration
from devfix.analysis.transfer.device_check import check_same_device, tensor_operands
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["augmented", "binary", "compare", "formatted", "unary"]


def unary(interp: Interpreter, node: ast.UnaryOp) -> Value:
    """``not x``, ``-x``, ``+x``, ``~x``."""
    if isinstance(node.op, ast.Not):
        truth = interp.truth(node.operand)
        return Const(not truth) if truth is not None else UNKNOWN
    value = interp.evaluate(node.operand)
    if isinstance(value, Const) and isinstance(value.value, (int, float)) and isinstance(node.op, ast.USub):
        return Const(-value.value)
    return value


def compare(interp: Interpreter, node: ast.Compare) -> Value:
    """``left < right``: a tensor where one side is a tensor, else the truth where it is known."""
    if len(node.ops) == 1:
        left, right = interp.evaluate(node.left), interp.evaluate(node.comparators[0])
        if _holds_tensor(left) or _holds_tensor(right):
            if isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
                return UNKNOWN
            return _combine(interp, node, left, right, node.left, node.comparators[0], strict=False)
        truth = interp.truth(node)
        return Const(truth) if truth is not None else UNKNOWN
    for part in (node.left, *node.comparators):
        interp.evaluate(part)
    return UNKNOWN


def augmented(interp: Interpreter, node: ast.BinOp) -> Value:
    """``left op= right``: the same as the operator, but a tensor on the left is written in place."""
    interp.spend_step()
    return binary(interp, node, in_place=True)


def _holds_tensor(value: Value) -> bool:
    return any(isinstance(option, Tensor) for option in alternatives(value))


def binary(interp: Interpreter, node: ast.BinOp, in_place: bool = False) -> Value:
    """``left op right``."""
    left, right = interp.evaluate(node.left), interp.evaluate(node.right)
    if _holds_tensor(left) or _holds_tensor(right):
        strict = isinstance(node.op, ast.MatMult)
        return _combine(interp, node, left, right, node.left, node.right, strict, in_place)
    if isinstance(node.op, ast.Add):
        joined = _concatenated(interp, left, right)
        if joined is not None:
            return joined
    if isinstance(node.op, ast.Mod) and isinstance(left, (Const, DeviceValue)):
        return formatted(left)
    if isinstance(left, Pointer) and interp.heap_object(left).kind == "list":
        return interp.new(HeapObject("list", default_item=iteration.element(interp, left, node)))
    if all(isinstance(side, (Const, Number)) for side in (left, right)):
        return Number()
    return numpy_.combined(left, right, node) or UNKNOWN


def _concatenated(interp: Interpreter, left: Value, right: Value) -> Value | None:
    if isinstance(left, Const) and isinstance(left.value, str):
        if isinstance(right, Const) and isinstance(right.value, str):
            return Const(left.value + right.value)
        return formatted(left)
    if isinstance(left, TupleValue) and isinstance(right, TupleValue):
        return TupleValue(left.items + right.items)
    if isinstance(left, Parameters) or isinstance(right, Parameters):
        return interp.new(HeapObject("list", fields={"0": left, "1": right}))
    if all(isinstance(side, Pointer) and interp.heap_object(side).kind == "list" for side in (left, right)):
        both = [interp.heap_object(side) for side in (left, right) if isinstance(side, Pointer)]
        held = [item for obj in both for item in (*obj.fields.values(), obj.default_item) if item is not None]
        if all(obj.default_item is None for obj in both):
            return interp.new(HeapObject("list", fields={str(i): item for i, item in enumerate(held)}))
        return interp.new(HeapObject("list", default_item=join(held)))
    return None


def formatted(value: Value) -> Value:
    """A string that starts with a known text: ``"cuda:%d" % i`` names a device."""
    if isinstance(value, Const) and isinstance(value.value, str):
        device = parse_device(value.value.split("%")[0].split("{")[0].rstrip(":") or "-")
        return DeviceValue(device, text=True, symbol=UNKNOWN_INDEX) if device is not None else Text()
    return value if isinstance(value, DeviceValue) else Text()


def _combine(
    interp: Interpreter,
    node: ast.expr,
    left: Value,
    right: Value,
    left_node: ast.expr,
    right_node: ast.expr,
    strict: bool,
    in_place: bool = False,
) -> Value:
    """An operator on tensors: both operands must live together (CPU scalars may join, except in ``@``)."""
    sides = [
        tensor_operands(value, text_of(part))
        for value, part in ((left, left_node), (right, right_node))
        if isinstance(value, (Tensor, Union)) and _holds_tensor(value)
    ]
    if len(sides) == 1 and len(sides[0].devices) > 1:  # with a number, each alternative stays what it is
        value = left if _holds_tensor(left) else right
        return join(
            replace(option, maybe_container=False) for option in alternatives(value) if isinstance(option, Tensor)
        )
    written = sides[0] if in_place and _holds_tensor(left) else None
    device, origins = check_same_device(interp, node, "operator", sides, allow_cpu_scalars=not strict, written=written)
    grad = any(side.grad for side in sides) and not isinstance(node, ast.Compare)
    is_single_number = all(side.is_single_number for side in sides)
    return Tensor(
        device,
        origins,
        maybe_zero_dim=all(side.maybe_zero_dim for side in sides),
        grad=grad,
        is_single_number=is_single_number,
    )
