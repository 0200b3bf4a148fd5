"""Whole modules in checkpoints: the class of what ``torch.load`` returns, by a method that only one class has.

A checkpoint may hold a module instead of a state dict.  The file is not there, but what the program calls tells the
class: ``torch.load(path)["model"].fuse()``.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.classes import find_member, is_module_class, mro
from devfix.analysis.domain.objects import Container, module_at, object_at
from devfix.analysis.domain.records import replace
from devfix.analysis.domain.values import (
    Bound,
    ClassValue,
    Device,
    Function,
    Keywords,
    Pointer,
    Tensor,
    TupleValue,
    Union,
    Value,
    join,
)
from devfix.analysis.torch import checkpoints, module_tree
from devfix.analysis.transfer.instantiation import instantiate_with_options
from devfix.models.index import lookup
from devfix.models.names import MODULE_METHODS

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["call_restored", "moved_with_owner"]

_MOST_DEPTH = 3


def call_restored(
    interp: Interpreter, receiver: Tensor, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value | None:
    """Call a method of a value from a checkpoint as that of a project class; ``None`` if none is meant for certain."""
    is_loaded = bool(receiver.origins) and all(origin.kind == "load" for origin in receiver.origins)
    if not is_loaded or not receiver.maybe_container or receiver.is_certain:
        return None
    model = lookup(f"torch.Tensor.{name}")
    if name in MODULE_METHODS or (model is not None and model.key == model.name):
        return None
    moved = moved_with_owner(interp, receiver, node)
    if moved is not None:
        return Tensor(moved, maybe_container=True)
    cls = _only_class_with(interp, name)
    if cls is None:
        return None
    restored = _restored(interp, cls, receiver.device, node)
    method = find_member(interp, cls, name)
    if not isinstance(method, Function) or restored is None:
        return None
    return interp.call(Bound(method, restored), args, keywords, node)


def moved_with_owner(interp: Interpreter, loaded: Tensor, node: ast.Call) -> Device | None:
    """Return where a loaded module is that is part of a module; ``None`` if that has not moved since.

    ``node`` calls it or a part of it: ``self.encoder(x)``, ``self.encoder.blocks(x)``.
    """
    holder: ast.expr = node.func
    owner = None
    while owner is None and isinstance(holder, ast.Attribute):
        holder = holder.value
        if isinstance(holder, (ast.Name, ast.Attribute)):
            owner = module_at(interp, interp.evaluate(holder))
    if owner is None or owner.last_moved_at is None:
        return None
    return owner.device if owner.last_moved_at.time > checkpoints.loaded_at(interp, loaded).time else None


def _only_class_with(interp: Interpreter, name: str) -> ClassValue | None:
    """Return the one module class of the imported files that has a method; ``None`` if several have it, or none."""
    defined = [
        (module, stmt)
        for module in interp.program.imported()
        for stmt in module.tree.tree.body
        if isinstance(stmt, ast.ClassDef)
    ]
    if not any(_defines(stmt, name) for _, stmt in defined):
        return None  # no class is evaluated in vain
    found = []
    for module, stmt in defined:
        cls = interp.global_name(module, stmt.name)
        if isinstance(cls, ClassValue) and _has(cls, name) and is_module_class(interp, cls):
            found.append(cls)
    return found[0] if len(found) == 1 else None


def _has(cls: ClassValue, name: str) -> bool:
    return any(isinstance(base, ClassValue) and _defines(base.node, name) for base in mro(cls))


def _defines(node: ast.ClassDef, name: str) -> bool:
    return any(isinstance(stmt, ast.FunctionDef) and stmt.name == name for stmt in node.body)


def _restored(interp: Interpreter, cls: ClassValue, device: Device, node: ast.Call) -> Pointer | None:
    """Return an instance with all its tensors on the device of the checkpoint, those in plain attributes included."""
    instance = instantiate_with_options(interp, cls, {}, node)
    if not isinstance(instance, Pointer) or module_at(interp, instance) is None:
        return None
    for _, part in module_tree.named_modules(interp, instance):
        module = interp.heap_object(part)
        placed = module.transformed(lambda _, value: _placed(interp, value, device))
        interp.now.write(part.id, replace(placed, devices=frozenset({device})))
    return instance


def _placed(interp: Interpreter, value: Value, device: Device, depth: int = 0) -> Value:
    """Return a value with its tensors on a device; containers are changed in place."""
    match value:
        case Tensor():
            return replace(value, device=device, origins=())
        case TupleValue(items):
            return TupleValue(tuple(_placed(interp, item, device, depth) for item in items))
        case Union(options):
            return join(_placed(interp, option, device, depth) for option in options)
        case Pointer() if depth < _MOST_DEPTH:
            container = object_at(interp, value, Container)
            if container is not None:
                placed = container.transformed(lambda _, item: _placed(interp, item, device, depth + 1))
                interp.now.write(value.id, placed)
    return value
