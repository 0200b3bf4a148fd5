"""Modules that are called with other parameters than their own: ``torch.func.functional_call``.

https://docs.pytorch.org/docs/stable/generated/torch.func.functional_call.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import Container, module_at, object_at
from devfix.analysis.domain.values import (
    NONE,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Device,
    Keywords,
    Pointer,
    Tensor,
    TupleValue,
    Value,
    alternatives,
)
from devfix.analysis.stdlib.containers import DictObject
from devfix.analysis.torch.module_moves import moved_field
from devfix.analysis.torch.module_tree import named_modules, weights_device
from devfix.analysis.transfer.device_check import tensors_in

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS"]

_PARAMETERS = ("module", "parameters_and_buffers", "args", "kwargs")


def _functional_call(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Call a module with tensors in place of its parameters and buffers, which it has again afterwards."""
    given = dict(zip(_PARAMETERS, args, strict=False)) | keywords
    given.setdefault("parameters_and_buffers", given.get("parameter_and_buffer_dicts", UNKNOWN))
    module, passed = given.get("module", UNKNOWN), _passed(given.get("args", NONE))
    if not isinstance(module, Pointer) or module_at(interp, module) is None or passed is None:
        return UNKNOWN
    named = object_at(interp, given.get("kwargs", NONE), Container)
    if len(passed) == len(node.args) or (named is None and given.get("kwargs", NONE) != NONE):
        return UNKNOWN  # the arguments of the module would be taken for those of this call
    with _weights_on(interp, module, _device_of(interp, module, given["parameters_and_buffers"])):
        return interp.call(module, passed, dict(named.fields) if named is not None else {}, node)


def _passed(value: Value) -> list[Value] | None:
    """Return the positional arguments of the module: the items of a tuple, or one value."""
    if isinstance(value, TupleValue):
        return list(value.items)
    return [] if value == NONE else [value] if isinstance(value, Tensor) else None


def _device_of(interp: Interpreter, module: Pointer, replacements: Value) -> Device:
    """Return the device of a module's weights while they are replaced; unknown if only some of them may be."""
    devices = {device for operand in tensors_in(interp, replacements, "…") for device in operand.devices}
    device = devices.pop() if len(devices) == 1 else UNKNOWN_DEVICE
    dictionaries = list(replacements.items) if isinstance(replacements, TupleValue) else [replacements]
    found = [object_at(interp, each, Container) for each in dictionaries]
    are_all = any(each is not None and each.default_item is not None for each in found)
    return device if are_all or device == weights_device(interp, module) else UNKNOWN_DEVICE


@contextmanager
def _weights_on(interp: Interpreter, module: Pointer, device: Device) -> Iterator[None]:
    """Place the weights of a module for the duration of a call, without a move."""
    own = []
    for _, part in list(named_modules(interp, module)):
        obj = interp.heap_object(part)
        fields = {key: moved_field(value, device) for key, value in obj.fields.items()}
        own.append((part, obj.devices, obj.fields, fields))
        interp.now.update(part, devices=frozenset({device}), fields=fields)
    try:
        yield
    finally:
        for part, devices, before, during in own if interp.alive else ():
            present = interp.heap_object(part).fields
            unchanged = {key: before[key] for key, value in present.items() if during.get(key) == value}
            interp.now.update(part, devices=devices, fields={**present, **unchanged})


def _stack(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``stack_module_state(models)``: dictionaries of stacked parameters and buffers, on the device of the models."""
    model = interp.element(args[0], node) if args else UNKNOWN
    devices = {
        weights_device(interp, option) if module_at(interp, option) is not None else UNKNOWN_DEVICE
        for option in alternatives(model)
        if isinstance(option, Pointer)
    }
    stacked = Tensor(devices.pop() if len(devices) == 1 else UNKNOWN_DEVICE)
    return TupleValue(tuple(interp.new(DictObject(default_item=stacked)) for _ in ("parameters", "buffers")))


OVERLAYS: dict[str, TransferFunction] = {
    "torch.func.functional_call": _functional_call,
    "torch.func.stack_module_state": _stack,
    "torch.nn.utils.stateless.functional_call": _functional_call,
}
