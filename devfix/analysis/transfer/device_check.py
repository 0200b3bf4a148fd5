"""Operations in which values must live together: where two known places meet, and where the result lives."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    NONE,
    OTHER_ACCELERATOR,
    UNKNOWN_DEVICE,
    Device,
    IterableOf,
    Origin,
    Pointer,
    Tensor,
    TupleValue,
    Union,
    Value,
    alternatives,
)
from devfix.analysis.observations import DeviceMismatch, Operand

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["OperandSet", "check_same_device", "tensors_in", "weight_operands"]


class OperandSet:
    """One operand: its alternatives, each with its place and what a rule needs to know of it."""

    def __init__(
        self,
        alternatives: Sequence[tuple[Device, Operand]],
        maybe_zero_dim: bool = False,
        grad: bool = False,
        is_single_number: bool = False,
    ) -> None:
        self.alternatives = tuple(alternatives)
        self.devices = frozenset(device for device, _ in self.alternatives)
        self.maybe_zero_dim = maybe_zero_dim
        self.grad = grad
        self.is_single_number = is_single_number

    def is_never_on(self, device: Device) -> bool:
        """Whether every alternative is known to lie elsewhere; never so for one of its own places."""
        return bool(self.devices) and all(device.differs(mine) for mine in self.devices)


def tensor_operands(value: Tensor | Union, text: str) -> OperandSet:
    """A tensor operand; where it is none (``None``), nothing meets."""
    tensors = [option for option in alternatives(value) if option != NONE]
    pairs = [
        (option.device, Operand(text, option.origins, is_certain=option.is_certain))
        if isinstance(option, Tensor)
        else (UNKNOWN_DEVICE, Operand(text))
        for option in tensors
    ]
    known = [option for option in tensors if isinstance(option, Tensor)]
    maybe_zero_dim = len(known) == len(tensors) and all(option.maybe_zero_dim for option in known)
    is_single_number = len(known) == len(tensors) and all(option.is_single_number for option in known)
    return OperandSet(
        pairs, maybe_zero_dim, grad=any(option.grad for option in known), is_single_number=is_single_number
    )


def weight_operands(interp: Interpreter, pointer: Pointer, text: str) -> OperandSet:
    """A module's own weights as an operand."""
    obj = interp.heap_object(pointer)
    pairs = [(device, Operand(text, module=pointer)) for device in sorted(obj.devices, key=lambda p: p.kind)]
    return OperandSet(pairs, grad=interp.grad_enabled and not obj.get("frozen"))


def tensors_in(interp: Interpreter, value: Value, text: str, depth: int = 0) -> list[OperandSet]:
    """Every tensor in a value: the value itself, or what tuples, lists and dictionaries hold."""
    if isinstance(value, Tensor):
        return [tensor_operands(value, text)]
    if isinstance(value, Union):
        if any(isinstance(option, Tensor) for option in value.alternatives):
            return [tensor_operands(value, text)]
        return []
    if depth > 3:
        return []
    if isinstance(value, TupleValue):
        return [side for item in value.items for side in tensors_in(interp, item, text, depth + 1)]
    if isinstance(value, IterableOf):
        return tensors_in(interp, value.element, text, depth + 1)
    if isinstance(value, Pointer):
        obj = interp.heap_object(value)
        if obj.kind in ("list", "dict", "set", "batch", "bundle"):
            held = [*obj.fields.values(), *([obj.default_item] if obj.default_item is not None else [])]
            return [side for item in held for side in tensors_in(interp, item, text, depth + 1)]
    return []


def check_same_device(
    interp: Interpreter,
    node: ast.AST,
    consumer: str,
    sides: Sequence[OperandSet],
    opaque: bool = False,
    allow_cpu_scalars: bool = False,
    written: OperandSet | None = None,
) -> tuple[Device, tuple[Origin, ...]]:
    """Bring operands together: note a meeting of two places, and give the result's place and origins.

    A CPU scalar may join tensors of another device where ``allow_cpu_scalars``, but not if it is ``written`` in place.
    A meeting is established when some alternative of one operand differs from *every* alternative of another: then a
    path exists on which they differ, whatever decides the alternatives.
    """
    cpu: list[Operand] = []
    accelerator: list[Operand] = []
    _note_kept(interp, sides)
    against: dict[Device, list[OperandSet]] = {}  # a large model has thousands of sides, in two places
    for one in sides:
        for device, operand in one.alternatives:
            if not device.known or (interp.scenario.multi_accelerator and device == CPU):
                if operand.origins and operand.origins[0].kind == "load":
                    _note_load(interp, node, operand, sides)
                continue
            if device not in against:
                against[device] = [side for side in sides if side.is_never_on(device)]
            for other in against[device]:
                if allow_cpu_scalars and (
                    (one.maybe_zero_dim and device == CPU and one is not written)
                    or (other.maybe_zero_dim and CPU in other.devices and other is not written)
                ):
                    continue
                if interp.scenario.multi_accelerator and CPU in other.devices:
                    continue
                (accelerator if device == ACCELERATOR else cpu).append(operand)
                for theirs, partner in other.alternatives:
                    (accelerator if theirs == ACCELERATOR else cpu).append(partner)
    if cpu and accelerator:
        point = interp.point(node, with_state=True)
        numbers = allow_cpu_scalars and (written is None or CPU not in written.devices)
        interp.observations.mismatches.append(
            DeviceMismatch(point, consumer, _distinct(cpu), _distinct(accelerator), opaque, interp.latent, numbers)
        )
        if (
            interp.scenario.multi_accelerator
        ):  # as if the others had been brought to the first, which are a module's weights
            return next(iter(sides[0].devices)) if len(sides[0].devices) == 1 else UNKNOWN_DEVICE, ()
    return _result(sides)


def _note_kept(interp: Interpreter, sides: Sequence[OperandSet]) -> None:
    for side in sides:
        for _, operand in side.alternatives:
            for origin in operand.origins:
                if origin.kind == "kept":
                    interp.observations.kept_uses.setdefault(origin.site_id, set()).add("operand")


def _note_load(interp: Interpreter, node: ast.AST, operand: Operand, sides: Sequence[OperandSet]) -> None:
    from devfix.analysis.torch.checkpoints import note_birth

    note_birth(interp, operand.origins[0], "tensor", node, any(ACCELERATOR in side.devices for side in sides))


def _distinct(operands: list[Operand]) -> tuple[Operand, ...]:
    seen: dict[tuple[object, ...], Operand] = {}
    for operand in operands:
        seen.setdefault((operand.text, operand.origins, operand.module), operand)
    return tuple(seen.values())


def _result(sides: Sequence[OperandSet]) -> tuple[Device, tuple[Origin, ...]]:
    dimensioned = [side for side in sides if not side.maybe_zero_dim and not _may_be_loaded_number(side)] or list(sides)
    devices = {device for side in dimensioned for device in side.devices}
    if ACCELERATOR in devices and (len(devices) == 1 or any(side.devices == {ACCELERATOR} for side in dimensioned)):
        return ACCELERATOR, tuple(origin for origin in _origins(dimensioned, ACCELERATOR) if origin.kind == "moved")
    if devices == {CPU}:
        return CPU, _origins(dimensioned, CPU)
    if any(side.devices == {OTHER_ACCELERATOR} for side in dimensioned):
        return OTHER_ACCELERATOR, tuple(
            origin for origin in _origins(dimensioned, OTHER_ACCELERATOR) if origin.kind == "moved"
        )
    loads = (origin for side in dimensioned for _, operand in side.alternatives for origin in operand.origins)
    return UNKNOWN_DEVICE, tuple(dict.fromkeys(origin for origin in loads if origin.kind == "load"))[:4]


def _may_be_loaded_number(side: OperandSet) -> bool:
    """Whether it is an entry of a checkpoint of which nothing says that it is a tensor."""
    operands = [operand for _, operand in side.alternatives]
    return all(
        not operand.is_certain and any(origin.kind == "load" for origin in operand.origins) for operand in operands
    )


def _origins(sides: Sequence[OperandSet], device: Device) -> tuple[Origin, ...]:
    origins = (
        origin
        for side in sides
        for theirs, operand in side.alternatives
        for origin in operand.origins
        if theirs == device
    )
    return tuple(dict.fromkeys(origins))[:4]
