"""The tree of ``nn.Module`` objects: submodules, and the device of their weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import UNKNOWN_DEVICE, Device, HeapObject, Pointer, Tensor, alternatives

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["COMPUTED", "child", "children", "common_device", "is_opaque", "parts", "weights_device"]

COMPUTED = "*computed"  # the field that stands for all buffers whose names are computed


def is_opaque(obj: HeapObject) -> bool:
    """Whether a module has parts that devfix cannot see."""
    return obj.cls is None and obj.get("opaque", False)


def children(interp: Interpreter, obj: HeapObject) -> Iterator[tuple[str, Pointer]]:
    """Registered submodules by name."""
    named = [*obj.fields.items(), *([("*", obj.default_item)] if obj.default_item is not None else [])]
    for name, value in named:
        for option in alternatives(value):
            if isinstance(option, Pointer) and interp.heap_object(option).kind == "module":
                yield name, option


def parts(
    interp: Interpreter, pointer: Pointer, path: str = "", seen: set[int] | None = None
) -> Iterator[tuple[str, Pointer]]:
    """A module and all modules below it, with their dotted paths."""
    seen = set() if seen is None else seen
    if pointer.id in seen:
        return
    seen.add(pointer.id)
    yield path, pointer
    for name, inner in children(interp, interp.heap_object(pointer)):
        yield from parts(interp, inner, f"{path}.{name}" if path else name, seen)


def child(interp: Interpreter, pointer: Pointer, name: str) -> Pointer:
    """A part of an opaque module, made when it is first asked for; it lives where the whole lives."""
    obj = interp.heap_object(pointer)
    found = obj.fields.get(name)
    if isinstance(found, Pointer):
        return found
    part = interp.new(
        HeapObject(
            "module",
            f"{obj.name}.{name}",
            devices=obj.devices,
            weights=True,
            allocated_at=obj.allocated_at,
            last_moved_at=obj.last_moved_at,
            info=(("opaque", True), ("parent", pointer), ("slot", name)),
        )
    )
    interp.now.set_field(pointer, name, part)
    return part


def common_device(obj: HeapObject) -> Device:
    """The module's place, unknown where paths differ."""
    return next(iter(obj.devices)) if len(obj.devices) == 1 else UNKNOWN_DEVICE


def weights_device(interp: Interpreter, pointer: Pointer) -> Device:
    """Where a module's weights live: ``next(module.parameters()).device``."""
    found = {
        device
        for _, part in parts(interp, pointer)
        if interp.heap_object(part).weights
        for device in interp.heap_object(part).devices
    }
    found |= {
        value.device
        for _, part in parts(interp, pointer)
        for value in interp.heap_object(part).fields.values()
        if isinstance(value, Tensor) and any(origin.kind == "parameter" for origin in value.origins)
    }
    if not found:
        return common_device(interp.heap_object(pointer))
    return next(iter(found)) if len(found) == 1 else UNKNOWN_DEVICE
