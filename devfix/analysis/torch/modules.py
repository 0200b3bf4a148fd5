"""``nn.Module`` objects: their parts, their moves, their calls."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis import attribute_stores, ineffective_moves
from devfix.analysis.domain.classes import find_member
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Const,
    Device,
    HeapObject,
    Origin,
    Pointer,
    Tensor,
    TupleValue,
    Value,
    alternatives,
    join,
)
from devfix.analysis.torch import optimizers
from devfix.analysis.torch.module_tree import children, is_opaque, parts
from devfix.analysis.transfer.device_check import OperandSet, check_same_device, tensors_in, weight_operands
from devfix.models.index import model_of
from devfix.models.tensor_methods import NN_MODULE_METHODS
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.protocol import Interpreter

__all__ = [
    "attach",
    "call_leaf",
    "call_sequential",
    "forget",
    "make",
    "move",
    "moved_field",
    "note_own",
    "promote",
]

_HELD = ("parameter", "buffer")


def make(
    interp: Interpreter, name: str, node: ast.AST, device: Device | None = None, weights: bool = True, **fields: Value
) -> Pointer:
    """A module of the library class ``name``."""
    devices = frozenset({device or interp.default_device})
    obj = HeapObject(
        "module", name, fields=dict(fields), devices=devices, weights=weights, allocated_at=interp.point(node)
    )
    return interp.new(obj)


def move(interp: Interpreter, pointer: Pointer, device: Device, node: ast.AST) -> None:
    """``module.to(...)``: in place, with everything that is registered below."""
    point = interp.point(node, with_state=True)
    if device == ACCELERATOR:
        interp.observations.moves.append(point)
    moved = [part for _, part in parts(interp, pointer)]
    optimizers.note_move(interp, moved, device, point)
    for part in moved:
        obj = interp.heap_object(part)
        own = _moves_itself(interp, obj)
        fields = {name: moved_field(value, device, own) for name, value in obj.fields.items()}
        interp.now.write(part.id, replace(obj, fields=fields, devices=frozenset({device}), last_moved_at=point))


def moved_field(value: Value, device: Device, own: bool = False) -> Value:
    """What an attribute holds after its module has moved: parameters and buffers go along.

    ``own``: the class itself says what moves.
    """
    if isinstance(value, Tensor) and any(origin.kind in _HELD and not origin.attribute_id for origin in value.origins):
        return replace(value, device=device)
    if own and isinstance(value, Tensor):
        return replace(value, device=UNKNOWN_DEVICE, origins=())
    return value


def _moves_itself(interp: Interpreter, obj: HeapObject) -> bool:
    """Whether a class says itself what moves with its instances: every ``Module.to()`` goes through ``_apply``."""
    return obj.cls is not None and find_member(interp, obj.cls, "_apply") is not None


def forget(interp: Interpreter, pointer: Pointer) -> None:
    """A module went through code that devfix cannot read: weights that were on the CPU may be anywhere now."""
    for _, part in parts(interp, pointer):
        obj = interp.heap_object(part)
        if CPU in obj.devices:
            interp.now.update(part, devices=frozenset({UNKNOWN_DEVICE}))


def attach(
    interp: Interpreter,
    parent: Pointer,
    name: str | None,
    value: Value,
    node: ast.AST,
    weak: bool = False,
    source: ast.expr | None = None,
) -> None:
    """``parent.name = value`` or ``parent[name] = value``; ``name`` is ``None`` where it is not known.

    ``source`` is the expression that gave the value.
    """
    point = interp.point(node, with_state=True)
    ineffective_moves.note_leaf_use(interp, value, "attribute", node)
    obj = interp.heap_object(parent)
    if name is not None and name.lstrip("-").isdigit() and int(name) < 0 and obj.fields and obj.default_item is None:
        numbered = [key for key in obj.fields if key.isdigit()]
        name = str(len(numbered) + int(name)) if numbered else name
    for option in alternatives(value):
        if name in NN_MODULE_METHODS or name == "forward":
            break  # a method that is replaced on the object
        if isinstance(option, Pointer) and interp.heap_object(option).kind in ("module", "opaque"):
            promote(interp, option)
            interp.now.update(option, attached_at=point)
            _set_info(interp, option, "parent", parent)
            _set_info(interp, option, "slot", name or "*")
            old = interp.heap_object(parent).fields.get(name) if name is not None else None
            optimizers.note_attach(interp, parent, option, old, point)
    obj = interp.heap_object(parent)
    inherited = obj.cls is None or (name in _OWN_TENSORS and name not in obj.fields)
    if inherited and obj.weights and _taken_over(name, value):  # a new layer takes over weights
        interp.now.update(parent, devices=frozenset({value.device if isinstance(value, Tensor) else UNKNOWN_DEVICE}))
    elif isinstance(value, Tensor) and name in obj.get("buffers", frozenset()):
        if value.device != CPU or obj.last_moved_at is None:  # what a buffer's name is given is the buffer from now on
            value = replace(value, origins=(Origin("buffer", parent.id),))
    elif _is_parameter(value, source):
        assert isinstance(value, Tensor)
        note_own(interp, parent, value.device, point)
        value = replace(value, origins=(Origin("parameter", parent.id),))
        interp.now.update(
            parent,
            weights=True,
            devices=obj.devices | {value.device} if obj.weights else frozenset({value.device}),
        )
    elif name is not None and obj.cls is not None:
        value = attribute_stores.note_store(interp, parent, name, value, node, source, point)
    if name is None:
        obj = interp.heap_object(parent)
        interp.now.update(parent, default_item=value if obj.default_item is None else join((obj.default_item, value)))
    else:
        old = obj.fields.get(name)
        interp.now.set_field(parent, name, join((old, value)) if weak and old is not None else value)


_OWN_TENSORS = ("weight", "bias", "running_mean", "running_var")


def _taken_over(name: str | None, value: Value) -> bool:
    """Whether a layer of PyTorch is given weights or statistics that may live elsewhere than on the CPU."""
    if isinstance(value, Tensor):
        return value.device != CPU
    return name in _OWN_TENSORS and not isinstance(value, (Const, Pointer))


def _is_parameter(value: Value, source: ast.expr | None) -> bool:
    return (
        isinstance(value, Tensor)
        and any(origin.kind == "parameter" for origin in value.origins)
        and not attribute_stores.is_plain_tensor(value.origins, source)
    )


def note_own(interp: Interpreter, pointer: Pointer, device: Device, point: ProgramPoint) -> None:
    """A parameter or buffer of a module's own comes on the CPU after the module was moved."""
    obj = interp.heap_object(pointer)
    if device == CPU and obj.last_moved_at is not None and ACCELERATOR in obj.devices:
        interp.now.update(pointer, attached_at=point)


def _set_info(interp: Interpreter, pointer: Pointer, key: str, value: object) -> None:
    obj = interp.heap_object(pointer)
    kept = tuple(pair for pair in obj.info if pair[0] != key)
    interp.now.update(pointer, info=(*kept, (key, value)))


def promote(interp: Interpreter, pointer: Pointer) -> None:
    """Something unknown has proved to be a module (it has ``parameters()``, it is trained …)."""
    obj = interp.heap_object(pointer)
    if obj.kind == "opaque":
        devices = obj.devices
        if obj.get("constructed") and obj.last_moved_at is None:
            devices = frozenset({interp.default_device})  # a class called without a device makes its weights on the CPU
        interp.now.update(pointer, kind="module", weights=True, devices=devices, info=(*obj.info, ("opaque", True)))


def call_leaf(
    interp: Interpreter, pointer: Pointer, args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    """Call a module whose ``forward`` is not in the project."""
    obj = interp.heap_object(pointer)
    kind = model_of(obj.name)
    text = text_of(node.func)
    operands = [
        operand
        for value, argument in zip(
            [*args, *keywords.values()], _argument_texts(node, len(args), keywords), strict=False
        )
        for operand in tensors_in(interp, value, argument)
    ]
    opaque = is_opaque(obj)
    weighted = [
        weight_operands(interp, part, path) for path, part in parts(interp, pointer) if interp.heap_object(part).weights
    ]
    if kind == "ctc":
        return _result(interp, operands[:1], weighted, node, text)
    if kind == "recurrent":
        out = _result(interp, operands, weighted, node, text)
        state = replace(out, maybe_container=True) if isinstance(out, Tensor) else out
        return TupleValue((out, state))
    if kind == "attention":
        out = _result(interp, operands, weighted, node, text)
        return TupleValue((out, out))
    if not operands and opaque:
        return UNKNOWN
    out = _result(interp, operands, weighted, node, text, opaque, maybe_zero_dim=bool(obj.get("mean")))
    return replace(out, maybe_container=True) if opaque and isinstance(out, Tensor) else out


def _result(
    interp: Interpreter,
    operands: list[OperandSet],
    weighted: list[OperandSet],
    node: ast.Call,
    text: str,
    opaque: bool = False,
    maybe_zero_dim: bool = False,
) -> Value:
    both = [*weighted, *operands]
    device, origins = check_same_device(interp, node, text, both, opaque=opaque)
    grad = any(operand.grad for operand in both)
    return Tensor(
        device,
        origins if not weighted else _kept(origins),
        maybe_zero_dim=maybe_zero_dim,
        grad=grad,
        is_single_number=maybe_zero_dim,
    )


def _kept(origins: tuple[Origin, ...]) -> tuple[Origin, ...]:
    """Origins that a CPU result keeps: what went through weights is no longer an item of a batch."""
    return tuple(origin for origin in origins if origin.kind not in ("batch", "load"))


def _argument_texts(node: ast.Call, positional: int, keywords: dict[str, Value]) -> list[str]:
    texts = [text_of(argument) for argument in node.args][:positional]
    texts += ["…"] * (positional - len(texts))
    named = {keyword.arg: text_of(keyword.value) for keyword in node.keywords if keyword.arg}
    return texts + [named.get(name, name) for name in keywords]


def call_sequential(interp: Interpreter, pointer: Pointer, args: list[Value], node: ast.Call) -> Value:
    """Call the children of an ``nn.Sequential`` in order."""
    value = args[0] if args else UNKNOWN
    for _, part in list(children(interp, interp.heap_object(pointer))):
        value = interp.call(part, [value], {}, node)
    return value
