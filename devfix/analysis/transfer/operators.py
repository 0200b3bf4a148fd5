"""Operators: arithmetic, comparison and concatenation of tensors, strings and lists."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.classes import find_member
from devfix.analysis.domain.device_parsing import UNKNOWN_INDEX, parse_device
from devfix.analysis.domain.joins import join_options
from devfix.analysis.domain.objects import Mapping, Opaque, object_at
from devfix.analysis.domain.records import replace
from devfix.analysis.domain.values import (
    UNKNOWN,
    UNKNOWN_DEVICE,
    Bound,
    Const,
    DeviceValue,
    External,
    Function,
    Number,
    Parameters,
    Pointer,
    Tensor,
    Text,
    TupleValue,
    Union,
    Unknown,
    Value,
    alternatives,
    join,
)
from devfix.analysis.stdlib import numpy_
from devfix.analysis.stdlib.containers import DictObject, ListObject, new_list
from devfix.analysis.stdlib.texts import composed
from devfix.analysis.transfer import iteration
from devfix.analysis.transfer.device_check import OperandSet, check_same_device, tensor_operands
from devfix.syntax.tree import implicit_call, text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["augmented", "binary", "compare", "format_string", "unary"]

_PLACEHOLDERS = frozenset(
    {"torch.empty(0)", "torch.zeros(0)", "torch.tensor([])", "torch.Tensor()", "torch.Tensor([])"}
)


def unary(interp: Interpreter, node: ast.UnaryOp) -> Value:
    """Evaluate ``not x``, ``-x``, ``+x`` or ``~x``."""
    if isinstance(node.op, ast.Not):
        truth = interp.truth(node.operand)
        return Const(not truth) if truth is not None else UNKNOWN
    value = interp.evaluate(node.operand)
    if isinstance(value, Const) and isinstance(value.value, (int, float)) and isinstance(node.op, ast.USub):
        return Const(-value.value)
    return value


def compare(interp: Interpreter, node: ast.Compare) -> Value:
    """Evaluate ``left < right``: a tensor if one operand is a tensor, else its truth value if known."""
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
    """Evaluate ``left op= right``: as the operator, but a tensor on the left is written in place."""
    interp.steps += 1
    if interp.steps > interp.step_budget:
        interp.give_up()
    return binary(interp, node, in_place=True)


def _is_text(value: Value) -> bool:
    """Return whether a value is a string: what it is combined with is none of a batch's tensors, but another string."""
    return isinstance(value, Text) or (isinstance(value, Const) and isinstance(value.value, str))


def _holds_tensor(value: Value) -> bool:
    return any(isinstance(option, Tensor) for option in alternatives(value))


def _is_tensor(value: Value) -> bool:
    return isinstance(value, Tensor) and value.is_certain


def _is_loaded_entry(value: Value) -> bool:
    """Return whether a value is an entry of a checkpoint that nothing has used as a tensor: it may be a number."""
    tensors = [option for option in alternatives(value) if isinstance(option, Tensor)]
    return bool(tensors) and all(tensor.may_be_number for tensor in tensors)


_PARAMETERS = (".weight", ".bias")  # of a loaded module


def _is_option(value: Value) -> bool:
    """Return whether a value is an attribute of what a checkpoint holds, an option: ``state["args"].beta``."""
    paths = [origin.path for option in alternatives(value) if isinstance(option, Tensor) for origin in option.origins]
    return _is_loaded_entry(value) and all(
        path and path[-1].startswith(".") and path[-1] not in _PARAMETERS for path in paths
    )


def _perhaps_numbers(value: Value) -> Value:
    """Return entries of checkpoints as values on an unknown device: they may be numbers."""
    return join(
        replace(option, device=UNKNOWN_DEVICE) if isinstance(option, Tensor) else option
        for option in alternatives(value)
    )


def binary(interp: Interpreter, node: ast.BinOp, in_place: bool = False) -> Value:
    """Evaluate ``left op right``."""
    left, right = interp.evaluate(node.left), interp.evaluate(node.right)
    defined = _defined(interp, node, left, right, in_place)
    if defined is not None:
        return defined
    if (_holds_tensor(left) or _holds_tensor(right)) and not (_is_text(left) or _is_text(right)):
        left, right = _moved(interp, left, node.left, right), _moved(interp, right, node.right, left)
        if _has_sequence(interp, node.op, left, right):
            return numpy_.operator_result(left, right, node) or UNKNOWN
        strict = isinstance(node.op, ast.MatMult)
        combined = _combine(interp, node, left, right, node.left, node.right, strict, in_place)
        return join((combined, Number())) if _may_be_number(left) and _may_be_number(right) else combined
    if isinstance(node.op, ast.Add):
        concatenated = _concatenate(interp, left, right, node)
        if concatenated is not None:
            return concatenated
    if isinstance(node.op, ast.BitOr):
        merged = _merged(interp, left, right)
        if merged is not None:
            return merged
    if isinstance(node.op, ast.Mod) and isinstance(left, (Const, DeviceValue)):
        operands = right.items if isinstance(right, TupleValue) else (right,)
        return _identified(format_string(left), (left, *operands), node)
    for operand in (left, right) if isinstance(node.op, ast.Mult) else (left,):  # ``[x] * 3``, ``3 * [x]``
        if object_at(interp, operand, ListObject) is not None:
            item = UNKNOWN if _repeats_placeholders(node) else iteration.element(interp, operand, node)
            return interp.new(ListObject(default_item=item))
    if all(isinstance(operand, (Const, Number)) for operand in (left, right)):
        return Number()
    return numpy_.operator_result(left, right, node) or UNKNOWN


_METHODS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.LShift: "lshift",
    ast.MatMult: "matmul",
    ast.Mod: "mod",
    ast.Mult: "mul",
    ast.Pow: "pow",
    ast.RShift: "rshift",
    ast.Sub: "sub",
}


def _defined(interp: Interpreter, node: ast.BinOp, left: Value, right: Value, in_place: bool) -> Value | None:
    """Call the method of a project class for an operator: ``__iadd__``, ``__add__``, ``__radd__``."""
    name = _METHODS[type(node.op)]
    tried = [(left, f"__{name}__", right), (right, f"__r{name}__", left)]
    for receiver, method, other in [(left, f"__i{name}__", right), *tried] if in_place else tried:
        cls = interp.heap_object(receiver).cls if isinstance(receiver, Pointer) else None
        found = find_member(interp, cls, method) if cls is not None else None
        if isinstance(found, Function):
            call = implicit_call(node, method)
            return interp.call(Bound(found, receiver), [other], {}, call)
    return None


def _merged(interp: Interpreter, left: Value, right: Value) -> Value | None:
    """Return the dictionary of ``left | right``."""
    one, two = object_at(interp, left, Mapping), object_at(interp, right, Mapping)
    if one is None or two is None:
        return None
    rest = join_options(one.default_item, two.default_item)
    fields = {**one.fields, **two.fields}
    if two.default_item is not None:
        fields = {key: join((value, two.default_item)) for key, value in fields.items()}
    return interp.new(DictObject(fields=fields, default_item=rest))


def _may_be_number(value: Value) -> bool:
    return any(isinstance(option, (Const, Number)) for option in alternatives(value))


def _moved(interp: Interpreter, value: Value, node: ast.expr, other: Value) -> Value:
    """Return an object of an unknown class as a tensor on the accelerator, if it has been moved there.

    What is combined with a tensor is a tensor, too, and its move makes a copy: ``node`` must name the result.
    """
    unknown = object_at(interp, value, Opaque)
    if unknown is None or unknown.last_moved_at is None or not _is_tensor(other):
        return value
    found = unknown.tensors()
    move = unknown.last_moved_at.node
    if not found or not isinstance(move, ast.Call) or not isinstance(move.func, ast.Attribute):
        return value
    statement = unknown.last_moved_at.call_frame.stmt
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    is_original = text_of(node) == text_of(move.func.value)
    return found[0] if not is_original or any(text_of(target) == text_of(node) for target in targets) else value


def _repeats_placeholders(node: ast.BinOp) -> bool:
    """Return whether ``[torch.empty(0)] * n`` makes a list whose items are all to be replaced: they hold no number."""
    items = next((side.elts for side in (node.left, node.right) if isinstance(side, ast.List)), [])
    return any(text_of(item) in _PLACEHOLDERS for item in items)


def _has_sequence(interp: Interpreter, operator: ast.operator, left: Value, right: Value) -> bool:
    """Return whether an operand is a list or a tuple, which no tensor is multiplied with: the other one is an array."""
    return not isinstance(operator, ast.Add) and any(
        isinstance(value, TupleValue) or object_at(interp, value, ListObject) is not None for value in (left, right)
    )


def _concatenate(interp: Interpreter, left: Value, right: Value, node: ast.BinOp) -> Value | None:
    if isinstance(left, Const) and isinstance(left.value, str):
        if isinstance(right, Const) and isinstance(right.value, str):
            return Const(left.value + right.value)
        return _identified(format_string(left), (left, right), node)
    if isinstance(left, Text) or (isinstance(right, Const) and isinstance(right.value, str)):
        return composed((left, right), node)
    if isinstance(left, TupleValue) and isinstance(right, TupleValue):
        return TupleValue(left.items + right.items)
    if isinstance(left, Parameters) or isinstance(right, Parameters):
        return interp.new(ListObject(fields={"0": left, "1": right}))
    one, two = object_at(interp, left, ListObject), object_at(interp, right, ListObject)
    if one is None or two is None:
        return None
    items = [*one.contents, *two.contents]
    if one.default_item is None and two.default_item is None:
        return new_list(interp, items)
    return interp.new(ListObject(default_item=join(items)))


def _identified(value: Value, parts: tuple[Value, ...], node: ast.expr) -> Value:
    """Give an unknown string the identity of its parts."""
    return composed(parts, node) if value == Text() else value


def format_string(value: Value) -> Value:
    """Format a string with unknown parts after a known start: ``"cuda:%d" % i`` names a device."""
    if isinstance(value, Const) and isinstance(value.value, str):
        device = parse_device(value.value.split("%")[0].split("{")[0].rstrip(":") or "-")
        return DeviceValue(device, text=True, symbol=UNKNOWN_INDEX) if device is not None else Text()
    return value if isinstance(value, DeviceValue) else Text()


def _may_follow(interp: Interpreter, operand: OperandSet, other: Value) -> bool:
    """Return whether the result may be where ``other`` is: a 0-dimensional CPU tensor joins any tensor."""
    return operand.may_join_accelerator and any(
        object_at(interp, option, Opaque) is not None or (isinstance(option, Unknown) and not numpy_.is_array(option))
        for option in alternatives(other)
    )


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
    """Evaluate an operator on tensors: both must be on one device; CPU scalars are exempt, except in ``@``."""
    if in_place and not _holds_tensor(left) and _may_be_unknown(interp, left):
        return UNKNOWN  # what is written in place stays where it is
    if not strict:
        left, right = (UNKNOWN if _is_option(value) else value for value in (left, right))
    others = (UNKNOWN,) if _may_be_unknown(interp, left) and _may_be_unknown(interp, right) else ()
    operands = [
        tensor_operands(value, text_of(part))
        for value, part in ((left, left_node), (right, right_node))
        if isinstance(value, (Tensor, Union)) and _holds_tensor(value)
    ]
    if len(operands) == 1 and any(_is_loaded_entry(value) for value in (left, right)):
        return _perhaps_numbers(left if _holds_tensor(left) else right)
    if len(operands) == 1 and len(operands[0].devices) > 1:  # with a number, each alternative keeps its device
        value = left if _holds_tensor(left) else right
        tensors = [option for option in alternatives(value) if isinstance(option, Tensor)]
        return join((*others, *(replace(tensor, maybe_container=False) for tensor in tensors)))
    if len(operands) == 2 and _is_loaded_entry(left) and _is_loaded_entry(right):
        return _perhaps_numbers(left)
    if len(operands) == 1 and not strict and _may_follow(interp, operands[0], right if _holds_tensor(left) else left):
        return Tensor(UNKNOWN_DEVICE, maybe_zero_dim=True, grad=operands[0].grad and not isinstance(node, ast.Compare))
    written = operands[0] if in_place and _holds_tensor(left) else None
    device, origins = check_same_device(
        interp, node, "operator", operands, allow_cpu_scalars=not strict, written=written
    )
    grad = any(operand.grad for operand in operands) and not isinstance(node, ast.Compare)
    is_single_number = all(operand.is_single_number for operand in operands)
    result = Tensor(
        device,
        origins,
        is_certain=any(map(_is_tensor, (*alternatives(left), *alternatives(right)))),
        maybe_zero_dim=all(operand.maybe_zero_dim for operand in operands),
        grad=grad,
        is_single_number=is_single_number,
    )
    return join((*others, result))


def _may_be_unknown(interp: Interpreter, value: Value) -> bool:
    """Return whether a value may be something unknown, such as an array."""
    return any(
        isinstance(option, (Unknown, External)) or object_at(interp, option, Opaque) is not None
        for option in alternatives(value)
    )
