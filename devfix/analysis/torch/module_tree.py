"""The tree of ``nn.Module`` objects: submodules, and the device of their weights."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import Memory, Module, Opaque, module_at, object_at
from devfix.analysis.domain.values import UNKNOWN_DEVICE, Device, Pointer, Tensor, Union, Unknown, Value, alternatives
from devfix.models.index import lookup

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = [
    "COMPUTED",
    "assume_module",
    "computed_parts",
    "is_loss",
    "may_hold_state",
    "named_children",
    "named_modules",
    "opaque_child",
    "weighted_modules",
    "weights_device",
]

COMPUTED = "*computed"  # the field for all parameters and buffers with computed names


def assume_module(interp: Interpreter, pointer: Pointer) -> Module | None:
    """Return an object as a module; one of an unknown class becomes a module, because the program treats it as one."""
    obj = interp.heap_object(pointer)
    module = obj.as_module(interp)
    if module is not None and module is not obj:
        interp.now.write(pointer.id, module)
    return module


def named_children(memory: Memory, obj: Module) -> Iterator[tuple[str, Pointer]]:
    """Yield the registered submodules of a module with their names."""
    named = chain(obj.fields.items(), () if obj.default_item is None else (("*", obj.default_item),))
    for name, value in named:
        if isinstance(value, (Pointer, Union)):  # most fields are neither, and there are many
            for option in alternatives(value):
                if isinstance(option, Pointer) and module_at(memory, option) is not None:
                    yield name, option


def named_modules(memory: Memory, pointer: Pointer, path: str = "") -> Iterator[tuple[str, Pointer]]:
    """Yield a module and all modules below it with their dotted paths, as ``Module.named_modules()`` does."""
    if module_at(memory, pointer) is None:
        return
    seen = set[int]()
    pending: list[tuple[str, Iterator[tuple[str, Pointer]]]] = [("", iter([(path, pointer)]))]
    while pending:
        prefix, parts = pending[-1]
        for name, part in parts:
            if part.id not in seen:
                seen.add(part.id)
                full = prefix + name
                yield full, part
                module = module_at(memory, part)  # as it is now: the caller may have moved it
                if module is not None:
                    pending.append((f"{full}." if full else "", named_children(memory, module)))
                break
        else:
            pending.pop()


def weighted_modules(memory: Memory, pointer: Pointer) -> Iterator[tuple[str, Pointer, Module]]:
    """Yield the modules of a tree that have weights of their own, with their paths."""
    for path, part in named_modules(memory, pointer):
        module = module_at(memory, part)
        if module is not None and module.weights:
            yield path, part, module


def may_hold_state(interp: Interpreter, pointer: Pointer) -> bool:
    """Return whether a module may have parameters or buffers: without any, a move does nothing, and cannot fail."""
    for _, part in named_modules(interp, pointer):
        module = module_at(interp, part)
        if module is None or module.weights or module.is_opaque:
            return True
        held = [*module.fields.values(), *([module.default_item] if module.default_item is not None else [])]
        if any(isinstance(option, (Tensor, Unknown)) for value in held for option in alternatives(value)):
            return True
        objects = [option for value in held for option in alternatives(value) if isinstance(option, Pointer)]
        if any(object_at(interp, option, Opaque) is not None for option in objects):
            return True
    return False


def computed_parts(module: Module) -> Iterator[Value]:
    """Yield the submodules that are registered under computed names: ``add_module(f"layer{i}", …)``."""
    return (value for name, value in module.fields.items() if name.startswith("*("))


def opaque_child(interp: Interpreter, pointer: Pointer, name: str) -> Pointer:
    """Return a submodule of an opaque module, created on first use on the module's device."""
    obj = module_at(interp, pointer)
    assert obj is not None
    found = obj.fields.get(name)
    if isinstance(found, Pointer):
        return found
    child = type(obj)(
        f"{obj.name}.{name}",
        devices=obj.devices,
        weights=True,
        allocated_at=obj.allocated_at,
        last_moved_at=obj.last_moved_at,
        opaque=True,
        parents=frozenset({pointer}),
    )
    part = interp.new(child)
    interp.now.set_field(pointer, name, part)
    return part


def is_loss(module: Module) -> bool:
    """Return whether a module is a loss of a library: its class weights are a buffer, and no parameters."""
    model = lookup(module.name) if module.cls is None else None
    return model is not None and model.kind == "class" and model.root == "Loss"


def weights_device(interp: Interpreter, pointer: Pointer) -> Device:
    """Return the device of ``next(module.parameters())``; unknown if no weights are known, or on several devices.

    Weights that may be anywhere say nothing against those that are known.
    """
    found = {device for _, _, module in weighted_modules(interp, pointer) for device in module.devices}
    found |= {
        value.device
        for _, part in named_modules(interp, pointer)
        for value in interp.heap_object(part).fields.values()
        if isinstance(value, Tensor) and any(origin.kind == "parameter" for origin in value.origins)
    }
    known = found - {UNKNOWN_DEVICE}
    return next(iter(known)) if len(known) == 1 else UNKNOWN_DEVICE
