"""Objects of unknown classes: results of code that cannot be read."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from devfix.analysis import scenarios
from devfix.analysis.domain.objects import HeapObject, Module, Opaque, module_at
from devfix.analysis.domain.records import dataclass
from devfix.analysis.domain.values import (
    ACCELERATOR,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Device,
    Keywords,
    Pointer,
    Tensor,
    Unknown,
    Value,
    alternatives,
)
from devfix.analysis.stdlib import numpy_
from devfix.analysis.torch.module_objects import ModuleObject
from devfix.analysis.transfer import external_calls
from devfix.analysis.transfer.device_arguments import MOVE_METHODS, move_method_target, to_targets
from devfix.models.index import lookup
from devfix.models.names import READ_ONLY_METHODS, names_loss

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["OpaqueObject", "new"]

_MODULE_ONLY_METHODS = frozenset(
    "parameters named_parameters train eval requires_grad_ children modules named_modules forward buffers".split()
)

_MOST_PARTS = 12  # of a name, which ``text = text.replace(a, b)`` makes longer in each round of a loop
_SWITCHES = frozenset({"train", "eval"})  # methods of estimators, too, which get data


@dataclass(frozen=True)
class OpaqueObject(Opaque):
    """An object of an unknown class: it becomes a module when the program treats it as one."""

    def call(
        self, interp: Interpreter, pointer: Pointer, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call the object: it is a module if it was moved to the accelerator."""
        if ACCELERATOR in self.devices:
            return self._become_module(interp, pointer).call(interp, pointer, args, keywords, node)
        model = external_calls.reader(f"{self.name}.__call__") if "." in self.name else None
        if model is not None:
            return external_calls.call_reader(interp, pointer, model, args, keywords, node)
        interp.escape([*args, *keywords.values()])
        return external_calls.unknown_result(interp, self.name, args, node)

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method: a move, one that only modules have, or any other."""
        if name in ("to", *MOVE_METHODS):
            kept = (option for value in self.fields.values() for option in alternatives(value))
            if any(module_at(interp, option) is not None for option in kept):
                module = self._become_module(interp, pointer)  # it moves what it got
                return module.method(interp, pointer, name, args, keywords, node)
            return _move(interp, pointer, name, args, keywords, node)
        if name in _MODULE_ONLY_METHODS and not (name in _SWITCHES and _passes_data(args)):
            return self._become_module(interp, pointer).method(interp, pointer, name, args, keywords, node)
        if name in READ_ONLY_METHODS:
            return Unknown()
        full = f"{self.name}.{name}" if self.name.count(".") < _MOST_PARTS else self.name
        model = external_calls.reader(full)
        if model is not None:
            return external_calls.call_reader(interp, pointer, model, args, keywords, node)
        interp.escape([*args, *keywords.values()])
        return external_calls.unknown_result(interp, full, args, node, keywords)

    def tensors(self) -> list[Value]:
        """Return a tensor on the accelerator if the program has moved the object there: an item of unknown data."""
        is_moved = self.last_moved_at is not None and not self.constructed and self.devices == {ACCELERATOR}
        return [Tensor(ACCELERATOR, is_certain=False)] if is_moved else []

    def sample(self, interp: Interpreter, pointer: Pointer, node: ast.AST) -> Value:
        """Return an item of a dataset that was moved to a device."""
        if self.last_moved_at is not None and any(device.kind != "cpu" for device in self.devices):
            return Tensor(UNKNOWN_DEVICE, is_certain=False, maybe_container=True)
        return UNKNOWN

    def element(self, interp: Interpreter, pointer: Pointer, node: ast.AST, moved: frozenset[str]) -> Value | None:
        """Return the object itself if it stands for an array of its like: axes of a figure."""
        return pointer if self._holds_its_like("__iter__") else super().element(interp, pointer, node, moved)

    def unpack(self, interp: Interpreter, pointer: Pointer, count: int) -> list[Value]:
        """Return the elements."""
        return [pointer] * count if self._holds_its_like("__iter__") else super().unpack(interp, pointer, count)

    def other_item(self, interp: Interpreter, pointer: Pointer, name: str | None) -> Value:
        """Return an element."""
        return pointer if self._holds_its_like("__getitem__") else super().other_item(interp, pointer, name)

    def _holds_its_like(self, method: str) -> bool:
        model = external_calls.reader(f"{self.name}.{method}") if "." in self.name else None
        return model is not None and model.result == "Same"

    def is_a(self, cls: Value, name: str) -> bool | None:
        """Return whether it is an instance of a class; what a function or a method returns may be of any."""
        return super().is_a(cls, name) if self.constructed else None

    def as_module(self, interp: Interpreter) -> Module | None:
        """Return the object as a module; without a device argument, its weights are on the default device."""
        model = lookup(self.name)
        if model is not None and model.kind == "class" and model.root == "Object":
            return None  # a class of a library that is no module: a transform, a scheduler
        is_default = self.constructed and self.last_moved_at is None
        return self._as_module(frozenset({interp.default_device}) if is_default else self.devices)

    def seen_as(self, other: HeapObject) -> HeapObject:
        """Return the object as a module if the program treats it as one on another path."""
        return self._as_module(self.devices) if isinstance(other, Module) else self

    def _become_module(self, interp: Interpreter, pointer: Pointer) -> Module:
        module = self.as_module(interp) or self._as_module(self.devices)
        interp.now.write(pointer.id, module)
        return module

    def _as_module(self, devices: frozenset[Device]) -> ModuleObject:
        return ModuleObject(
            self.name,
            self.cls,
            self.fields,
            self.default_item,
            devices,
            self.allocated_at,
            self.last_moved_at,
            weights=True,
            opaque=True,
        )


def new(interp: Interpreter, name: str, node: ast.AST | None = None, **facts: Any) -> Pointer:
    """Create an object of an unknown class on an unknown device."""
    point = interp.point(node) if node is not None else None
    return interp.new(OpaqueObject(name, devices=frozenset({UNKNOWN_DEVICE}), allocated_at=point, **facts))


def _passes_data(args: list[Value]) -> bool:
    return any(isinstance(value, (Tensor, Pointer)) or numpy_.is_array(value) for value in args)


def _move(
    interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value:
    devices = (
        [move_method_target(interp, name, args, keywords)]
        if name in MOVE_METHODS
        else to_targets(interp, args, keywords)
    )
    targets = frozenset(device for device in devices if device is not None)
    for device in devices:
        scenarios.record_placement(interp, node, device, moves_nothing=_is_loss(interp, node))
    if targets:
        point = interp.point(node, with_state=True)
        if ACCELERATOR in targets:
            interp.observations.moves.append(point)
        interp.now.update(pointer, devices=targets, last_moved_at=point)
    return pointer


def _is_loss(interp: Interpreter, move: ast.Call) -> bool:
    """Return whether what is moved is named as a loss, most of which have no weights: nothing is moved."""
    named = [move.func.value] if isinstance(move.func, ast.Attribute) else []
    statement = interp.activation.stmt if interp.activation is not None else None
    if isinstance(statement, ast.Assign) and statement.value is move:
        named += statement.targets
    names = (getattr(each, "attr", getattr(each, "id", "")) for each in named)
    return any(names_loss(name) for name in names)
