"""The tree of ``nn.Module`` objects: submodules, and the device of their weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import UNKNOWN_DEVICE, Device, HeapObject, Pointer, Tensor, alternatives

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = [
    "COMPUTED",
    "common_device",
    "is_opaque",
    "named_children",
    "named_modules",
    "opaque_child",
    "weights_device",
]

COMPUTED = "*computed"  # the field for all parameters and buffers with computed names


def is_opaque(obj: HeapObject) -> bool:
    """Return whether a module's submodules are unknown."""
    return obj.cls is None and obj.get("opaque", False)


def named_children(interp: Interpreter, obj: HeapObject) -> Iterator[tuple[str, Pointer]]:
    """Yield the registered submodules of a module with their names."""
    named = [*obj.fields.items(), *([("*", obj.default_item)] if obj.default_item is not None else [])]
    for name, value in named:
        for option in alternatives(value):
            if isinstance(option, Pointer) and interp.heap_object(option).kind == "module":
                yield name, option


def named_modules(
    interp: Interpreter, pointer: Pointer, path: str = "", seen: set[int] | None = None
) -> Iterator[tuple[str, Pointer]]:
    """Yield a module and all modules below it with their dotted paths, as ``Module.named_modules()`` does."""
    seen = set() if seen is None else seen
    if pointer.id in seen:
        return
    seen.add(pointer.id)
    yield path, pointer
    for name, inner in named_children(interp, interp.heap_object(pointer)):
        yield from named_modules(interp, inner, f"{path}.{name}" if path else name, seen)


def opaque_child(interp: Interpreter, pointer: Pointer, name: str) -> Pointer:
    """Return a submodule of an opaque module, created on first use on the module's device."""
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
    """Return the device of a module's own weights; unknown if it differs between paths."""
    return next(iter(obj.devices)) if len(obj.devices) == 1 else UNKNOWN_DEVICE


def weights_device(interp: Interpreter, pointer: Pointer) -> Device:
    """Return the device of ``next(module.parameters())``; unknown if the weights are on several devices."""
    found = {
        device
        for _, part in named_modules(interp, pointer)
        if interp.heap_object(part).weights
        for device in interp.heap_object(part).devices
    }
    found |= {
        value.device
        for _, part in named_modules(interp, pointer)
        for value in interp.heap_object(part).fields.values()
        if isinstance(value, Tensor) and any(origin.kind == "parameter" for origin in value.origins)
    }
    if not found:
        return common_device(interp.heap_object(pointer))
    return next(iter(found)) if len(found) == 1 else UNKNOWN_DEVICE
