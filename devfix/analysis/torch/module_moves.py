"""Moves of modules, and what is unknown of them once other code has had them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.classes import find_member
from devfix.analysis.domain.objects import Container, HeapObject, Module, Opaque, module_at, object_at
from devfix.analysis.domain.records import replace
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    UNKNOWN_DEVICE,
    Device,
    Function,
    Pointer,
    Union,
    Value,
    alternatives,
    anywhere,
    join,
)
from devfix.analysis.torch import optimizers
from devfix.analysis.torch.module_tree import named_modules
from devfix.analysis.torch.modules import is_registered
from devfix.syntax.tree import text_of, walk

if TYPE_CHECKING:
    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.protocol import Interpreter

__all__ = [
    "forget_device",
    "forget_mode",
    "forget_wrappers",
    "move",
    "moved_field",
    "place",
    "replace_weights",
]


def move(interp: Interpreter, pointer: Pointer, device: Device, node: ast.AST) -> None:
    """Move a module, with its parameters, buffers and submodules, in place."""
    point = interp.point(node, with_state=True)
    if device == ACCELERATOR:
        interp.observations.moves.append(point)
    moved = [part for _, part in named_modules(interp, pointer)]
    optimizers.note_move(interp, moved, device, point)
    for part in moved:
        custom = _has_own_move(interp, interp.heap_object(part))
        interp.now.write(part.id, _moved(interp, part, device, custom, point))


def place(interp: Interpreter, pointer: Pointer, device: Device, node: ast.AST) -> None:
    """Move a module as a framework does, which updates optimizers itself, and may choose the mode."""
    point = interp.point(node)
    forget_mode(interp, pointer)
    for _, part in list(named_modules(interp, pointer)):
        interp.now.write(part.id, replace(_moved(interp, part, device, False, point), attached_at=None))


def _moved(interp: Interpreter, part: Pointer, device: Device, custom: bool, point: ProgramPoint) -> Module:
    """Return a module on a device, without what is below it."""
    obj = module_at(interp, part)
    assert obj is not None
    fields = {name: moved_field(value, device, custom) for name, value in obj.fields.items()}
    for value in fields.values():
        for option in alternatives(value):
            _move_held(interp, option, device, custom, point)
    rest = None if obj.default_item is None else moved_field(obj.default_item, device, custom)
    return replace(obj, fields=fields, default_item=rest, devices=frozenset({device}), last_moved_at=point)


def _move_held(interp: Interpreter, value: Value, device: Device, custom: bool, point: ProgramPoint) -> None:
    """Move what a module holds besides modules: an object of an unknown class, and parameters in a plain container."""
    made = object_at(interp, value, Opaque)
    if made is not None and made.constructed and isinstance(value, Pointer):
        interp.now.update(value, devices=frozenset({device}), last_moved_at=point)  # if it is a module, too
    items = object_at(interp, value, Container)
    if items is not None and isinstance(value, Pointer):
        moved = items.transformed(lambda _, item: moved_field(item, device, custom))
        if moved != items:
            interp.now.write(value.id, moved)


def forget_wrappers(interp: Interpreter, pointer: Pointer) -> None:
    """Make the device of opaque modules unknown of which the program moves a part: ``vocoder.decoder.to(device)``.

    What they have besides is not known, and the part may be all of it.
    """
    part = module_at(interp, pointer)
    assert part is not None
    for parent in part.parents:
        module = module_at(interp, parent)
        if module is not None and module.is_opaque and module.cls is None and CPU in module.devices:
            interp.now.update(parent, devices=frozenset({UNKNOWN_DEVICE}))
            forget_wrappers(interp, parent)


def moved_field(value: Value, device: Device, custom: bool = False) -> Value:
    """Return the value of an attribute after its module is moved: parameters and buffers are moved.

    With ``custom``, the class moves more than these, so the device of other tensors is unknown.
    """
    if isinstance(value, Union):
        return join(moved_field(option, device, custom) for option in value.alternatives)
    if is_registered(value):
        return replace(value, device=device)
    if custom:
        return anywhere(value)
    return value


def _has_own_move(interp: Interpreter, obj: HeapObject) -> bool:
    """Return whether a class overrides ``_apply``, which every move calls, or a move that writes what it cannot name.

    ``for x in (self.a, self.b): x.data = x.data.cuda()``.
    """
    if obj.cls is None:
        return False
    found = {name: find_member(interp, obj.cls, name) for name in ("_apply", "to", "cuda")}
    moves = (found[name] for name in ("to", "cuda"))
    return found["_apply"] is not None or any(
        _writes_data(node) for move in moves if isinstance(move, Function) for node in walk(move.node)
    )


def _writes_data(node: ast.AST) -> bool:
    """Return whether a node writes the memory of a tensor of any name, or an attribute by its name."""
    match node:
        case ast.For(target=ast.Name(id=name), iter=ast.List() | ast.Tuple()):
            stored = (each for each in walk(node) if isinstance(each, ast.Attribute) and each.attr == "data")
            return any(isinstance(each.ctx, ast.Store) and text_of(each.value) == name for each in stored)
        case ast.Call(func=ast.Name(id="setattr"), args=[_, name, *_]):
            return not isinstance(name, ast.Constant)
    return False


def forget_device(interp: Interpreter, pointer: Pointer) -> None:
    """Make the device of weights on the CPU, and the mode, unknown, after code that cannot be read gets the module."""
    for _, part in named_modules(interp, pointer):
        interp.now.set_mode(part, None)
        obj = interp.heap_object(part)
        if CPU in obj.devices:
            interp.now.update(part, devices=frozenset({UNKNOWN_DEVICE}))


def forget_mode(interp: Interpreter, pointer: Pointer) -> None:
    """Make it unknown whether a module, and those below it, are in training mode."""
    for _, part in named_modules(interp, pointer):
        interp.now.set_mode(part, None)


def replace_weights(interp: Interpreter, pointer: Pointer) -> None:
    """Make the device of all parameters and buffers unknown, after others have taken their place."""
    for _, part in named_modules(interp, pointer):
        obj = interp.heap_object(part)
        fields = {name: moved_field(value, UNKNOWN_DEVICE) for name, value in obj.fields.items()}
        interp.now.update(part, fields=fields, devices=frozenset({UNKNOWN_DEVICE}))
