"""Operators: what arithmetic, comparison and joining make of tensors, strings and lists."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain.device_parsing import INDEXED, device_named
from devfix.analysis.domain.values import (
    UNKNOWN,
    Const,
    DeviceValue,
    Number,
    Parameters,
    Record,
    Ref,
    Tensor,
    Text,
    TupleValue,
    Union,
    Value,
    options,
    union,
)
from devfix.analysis.stdlib import numpy_
from devfix.analysis.transfer import iteration
from devfix.analysis.transfer.device_check import meet, tensor_side
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["augmented", "binary", "compare", "formatted", "unary"]


def unary(run: Interpreter, node: ast.UnaryOp) -> Value:
    """``not x``, ``-x``, ``+x``, ``~x``."""
    if isinstance(node.op, ast.Not):
        truth = run.truth(node.operand)
        return Const(not truth) if truth is not None else UNKNOWN
    value = run.evaluate(node.operand)
    if isinstance(value, Const) and isinstance(value.value, (int, float)) and isinstance(node.op, ast.USub):
        return Const(-value.value)
    return value


def compare(run: Interpreter, node: ast.Compare) -> Value:
    """``left < right``: a tensor where one side is a tensor, else the truth where it is known."""
    if len(node.ops) == 1:
        left, right = run.evaluate(node.left), run.evaluate(node.comparators[0])
        if _holds_tensor(left) or _holds_tensor(right):
            if isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
                return UNKNOWN
            return _combine(run, node, left, right, node.left, node.comparators[0], strict=False)
        truth = run.truth(node)
        return Const(truth) if truth is not None else UNKNOWN
    for part in (node.left, *node.comparators):
        run.evaluate(part)
    return UNKNOWN


def augmented(run: Interpreter, node: ast.BinOp) -> Value:
    """``left op= right``: the same as the operator, but a tensor on the left is written in place."""
    run.tick()
    return binary(run, node, in_place=True)


def _holds_tensor(value: Value) -> bool:
    return any(isinstance(option, Tensor) for option in options(value))


def binary(run: Interpreter, node: ast.BinOp, in_place: bool = False) -> Value:
    """``left op right``."""
    left, right = run.evaluate(node.left), run.evaluate(node.right)
    if _holds_tensor(left) or _holds_tensor(right):
        strict = isinstance(node.op, ast.MatMult)
        return _combine(run, node, left, right, node.left, node.right, strict, in_place)
    if isinstance(node.op, ast.Add):
        joined = _concatenated(run, left, right)
        if joined is not None:
            return joined
    if isinstance(node.op, ast.Mod) and isinstance(left, (Const, DeviceValue)):
        return formatted(left)
    if isinstance(left, Ref) and run.record(left).kind == "list":
        return run.new(Record("list", rest=iteration.element(run, left, node)))
    if all(isinstance(side, (Const, Number)) for side in (left, right)):
        return Number()
    return numpy_.combined(left, right, node) or UNKNOWN


def _concatenated(run: Interpreter, left: Value, right: Value) -> Value | None:
    if isinstance(left, Const) and isinstance(left.value, str):
        if isinstance(right, Const) and isinstance(right.value, str):
            return Const(left.value + right.value)
        return formatted(left)
    if isinstance(left, TupleValue) and isinstance(right, TupleValue):
        return TupleValue(left.items + right.items)
    if isinstance(left, Parameters) or isinstance(right, Parameters):
        return run.new(Record("list", fields={"0": left, "1": right}))
    if all(isinstance(side, Ref) and run.record(side).kind == "list" for side in (left, right)):
        both = [run.record(side) for side in (left, right) if isinstance(side, Ref)]
        held = [item for record in both for item in (*record.fields.values(), record.rest) if item is not None]
        if all(record.rest is None for record in both):
            return run.new(Record("list", fields={str(i): item for i, item in enumerate(held)}))
        return run.new(Record("list", rest=union(held)))
    return None


def formatted(value: Value) -> Value:
    """A string that starts with a known text: ``"cuda:%d" % i`` names a device."""
    if isinstance(value, Const) and isinstance(value.value, str):
        place = device_named(value.value.split("%")[0].split("{")[0].rstrip(":") or "-")
        return DeviceValue(place, text=True, symbol=INDEXED) if place is not None else Text()
    return value if isinstance(value, DeviceValue) else Text()


def _combine(
    run: Interpreter,
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
        tensor_side(value, text_of(part))
        for value, part in ((left, left_node), (right, right_node))
        if isinstance(value, (Tensor, Union)) and _holds_tensor(value)
    ]
    if len(sides) == 1 and len(sides[0].places) > 1:  # with a number, each alternative stays what it is
        value = left if _holds_tensor(left) else right
        return union(replace(option, loose=False) for option in options(value) if isinstance(option, Tensor))
    written = sides[0] if in_place and _holds_tensor(left) else None
    place, births = meet(run, node, "operator", sides, scalars_are_free=not strict, written=written)
    grad = any(side.grad for side in sides) and not isinstance(node, ast.Compare)
    single = all(side.single for side in sides)
    return Tensor(place, births, scalar=all(side.scalar for side in sides), grad=grad, single=single)
