"""Method calls, dispatched by the kind of the receiver: tensors, heap objects, classes, devices."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain import classes
from devfix.analysis.domain.objects import Module
from devfix.analysis.domain.values import (
    CPU,
    NONE,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Bound,
    Builtin,
    ClassValue,
    Const,
    DeviceValue,
    Function,
    IterableOf,
    Keywords,
    Number,
    Partial,
    Pointer,
    Super,
    Tensor,
    Text,
    TupleValue,
    Value,
)
from devfix.analysis.overlays.framework import FrameworkInstance
from devfix.analysis.restored_modules import call_restored
from devfix.analysis.stdlib import containers, introspection, numpy_
from devfix.analysis.stdlib.instances import InstanceObject
from devfix.analysis.torch import autograd_functions, data, library_modules, module_objects, modules
from devfix.analysis.torch.tensor_methods import tensor_method
from devfix.analysis.transfer import instantiation
from devfix.analysis.transfer.device_arguments import device_map_target

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["call_method"]


def call_method(
    interp: Interpreter, receiver: Value, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value:
    """Call ``receiver.name(...)``."""
    match receiver:
        case Tensor():
            restored = call_restored(interp, receiver, name, args, keywords, node)
            return tensor_method(interp, receiver, name, args, keywords, node) if restored is None else restored
        case Pointer() if name == "__setattr__" and len(args) == 2:
            return introspection.set_named_attribute(interp, receiver, args, node)
        case Super(_, Pointer() as owner) if name == "__setattr__" and len(args) == 2:
            return introspection.set_named_attribute(interp, owner, args, node)
        case Pointer():
            return interp.heap_object(receiver).method(interp, receiver, name, args, keywords, node)
        case Super():
            return _super_method(interp, receiver, name, args, keywords, node)
        case DeviceValue():
            return _device_method(receiver, name, args)
        case Const() | Text() if receiver != NONE:
            return containers.text_method(receiver, name, args, keywords, node)
        case TupleValue():
            return Number() if name in ("index", "count") else UNKNOWN
        case IterableOf(inner):
            return receiver if name == "__iter__" else inner
        case ClassValue():
            return _class_method(interp, receiver, name, args, keywords, node)
        case Function() if name == "__get__":
            return Partial(receiver, tuple(args[:1]), ())
        case Builtin(Pointer() as owner, "__dict__") if name == "update":
            return introspection.update_attributes(interp, owner, args, keywords, node)
    interp.escape([*args, *keywords.values()])
    return numpy_.result_of("", args, keywords, node) or UNKNOWN


# --- classes, super(), devices ------------------------------------------------------------------------------------
def _super_method(
    interp: Interpreter, value: Super, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value:
    receiver = value.receiver
    if name == "__new__" and args and isinstance(args[0], ClassValue):
        return instantiation.new_instance(interp, args[0], node)
    if not isinstance(receiver, Pointer):
        return UNKNOWN
    obj = interp.heap_object(receiver)
    if name == "__init__":
        names = classes.external_bases(value.owner)
        if isinstance(obj, Module) and names and names[0] not in ("torch.nn.Module", "?"):
            library_modules.fill_module(interp, receiver, names[0], args, keywords, node)
        elif isinstance(obj, InstanceObject) and data.is_loader_class(value.owner):
            data.make_loader(interp, args, keywords, node, into=receiver)
        elif isinstance(obj, FrameworkInstance):
            obj.construct(interp, receiver, args, keywords, node)
        return NONE
    if isinstance(obj, Module) and name in ("forward", "__call__"):
        if obj.name == "torch.nn.Sequential":
            return modules.call_sequential(interp, receiver, args, node)
        return modules.call_leaf(interp, receiver, args, keywords, node)
    return obj.method(interp, receiver, name, args, keywords, node)


def _class_method(
    interp: Interpreter, cls: ClassValue, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value:
    """Call a class method inherited from a library base: ``Net.from_pretrained(...)``."""
    if name == "_make" and args and "typing.NamedTuple" in classes.external_bases(cls):
        return interp.call(cls, interp.elements(args[0], node) or [UNKNOWN], {}, node)
    if name == "apply" and autograd_functions.is_autograd_function(cls):
        return autograd_functions.apply(interp, cls, args, keywords, node)
    if name == "__init__" and args and isinstance(args[0], Pointer):
        found = classes.find_member(interp, cls, "__init__")
        return interp.call(Bound(found, args[0]), args[1:], keywords, node) if isinstance(found, Function) else NONE
    if classes.is_module_class(interp, cls) and name.startswith(("from_", "load_from_")):
        names = classes.external_bases(cls)
        is_managed = any(classes.is_managed(base) for base in names)
        placed = UNKNOWN_DEVICE if is_managed else device_map_target(interp, keywords)
        if placed is not None:
            pointer = module_objects.make(interp, names[0] if names else "", node, placed)
            interp.now.update(pointer, cls=cls)
            return pointer
        return instantiation.instantiate_with_options(interp, cls, keywords, node)
    return UNKNOWN


def _device_method(device: DeviceValue, name: str, args: list[Value]) -> Value:
    if name == "startswith" and args and isinstance(args[0], Const):
        if device.device.known and isinstance(args[0].value, str):
            return Const((device.device == CPU) == args[0].value.startswith("cpu"))
        return UNKNOWN
    if name in ("lower", "strip", "format", "__str__", "replace"):
        return device
    return UNKNOWN
