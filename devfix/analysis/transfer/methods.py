"""Method calls, dispatched by the kind of the receiver: tensors, modules, containers, optimizers, devices."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis import overlays, scenarios
from devfix.analysis.domain import classes
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    NONE,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Bound,
    ClassValue,
    Const,
    DeviceValue,
    Function,
    HeapObject,
    IterableOf,
    Keywords,
    Number,
    Partial,
    Pointer,
    Super,
    Tensor,
    Text,
    TupleValue,
    Unknown,
    Value,
    alternatives,
)
from devfix.analysis.overlays import transformers_
from devfix.analysis.stdlib import argparse_, containers, numpy_
from devfix.analysis.torch import (
    batch_objects,
    checkpoints,
    data,
    distributions,
    library_modules,
    modules,
    optimizers,
    rng,
)
from devfix.analysis.torch.module_methods import module_method
from devfix.analysis.torch.tensor_methods import tensor_method
from devfix.analysis.transfer import external_calls
from devfix.analysis.transfer.device_arguments import MOVE_METHODS, move_method_target, to_targets
from devfix.models.names import READ_ONLY_METHODS

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["call_method", "move_unknown"]

_MODULE_ONLY_METHODS = frozenset(
    "parameters named_parameters train eval state_dict load_state_dict zero_grad requires_grad_ children modules "
    "named_modules forward buffers".split()
)


def call_method(
    interp: Interpreter, receiver: Value, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value:
    """Call ``receiver.name(...)``."""
    match receiver:
        case Tensor():
            return tensor_method(interp, receiver, name, args, keywords, node)
        case Pointer():
            return _call_object_method(interp, receiver, name, args, keywords, node)
        case Super(_, inner):
            return _super_method(interp, receiver, name, args, keywords, node)
        case DeviceValue():
            return _device_method(receiver, name, args)
        case Const() | Text():
            return containers.text_method(receiver, name, args)
        case TupleValue():
            return Number() if name in ("index", "count") else UNKNOWN
        case IterableOf(inner):
            return receiver if name == "__iter__" else inner
        case ClassValue():
            return _class_method(interp, receiver, name, args, keywords, node)
        case Function() if name == "__get__":
            return Partial(receiver, tuple(args[:1]), ())
    interp.escape([*args, *keywords.values()])
    return numpy_.result_of("", args, keywords, node) or UNKNOWN


# --- objects ----------------------------------------------------------------------------------------------------
def _call_object_method(
    interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value:
    obj = interp.heap_object(pointer)
    if obj.kind == "opaque":
        if name in ("to", *MOVE_METHODS):
            return _move_opaque(interp, pointer, name, args, keywords, node)
        if name in _MODULE_ONLY_METHODS:
            modules.assume_module(interp, pointer)
            obj = interp.heap_object(pointer)
        elif name in READ_ONLY_METHODS:
            return Unknown()
        elif (model := external_calls.reader(f"{obj.name}.{name}")) is not None:
            return external_calls.call_reader(interp, pointer, model, args, keywords, node)
        else:
            interp.escape([*args, *keywords.values()])
            return external_calls.unknown_result(interp, f"{obj.name}.{name}", args, node, keywords)
    if obj.kind == "module":
        return module_method(interp, pointer, name, args, keywords, node)
    if obj.kind == "batch-object":
        return batch_objects.method(interp, pointer, name, args, keywords, node)
    if obj.kind == "framework":
        return overlays.framework_method(interp, pointer, name, args, keywords, node)
    if obj.kind == "tokenizer":
        return transformers_.call_tokenizer(interp, obj.name, keywords, node)
    if name == "train" and classes.is_device_placing_trainer(obj):
        return transformers_.train(interp, pointer, node)
    if obj.kind == "optimizer":
        for value in args:
            _record_load_uses(interp, value, "optimizer", node, optimizer=pointer)
        if name == "step" and args:
            interp.call(args[0], [], {}, node)  # a closure that computes the loss
        return optimizers.method(interp, pointer, name, args, node) or UNKNOWN
    if obj.kind == "scaler":
        return _scaler_method(interp, name, args, node)
    if obj.kind == "scheduler":
        for value in args:
            _record_load_uses(interp, value, "state", node)
        return UNKNOWN
    if obj.kind == "parser":
        return _parser_method(interp, pointer, name, args, keywords)
    if obj.kind == "distribution":
        return distributions.method(interp, pointer, name, args, keywords, node)
    if obj.kind == "generator":
        return rng.method(interp, pointer, name)
    if obj.kind == "tensor-file":
        return checkpoints.file_method(interp, pointer, name, args)
    if obj.kind == "loader":
        return pointer if name == "__iter__" else UNKNOWN
    return containers.container_method(interp, pointer, name, args, keywords, node)


def move_unknown(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Move an unknown value; return an opaque object on the target device."""
    return _move_opaque(
        interp, interp.new(HeapObject("opaque", devices=frozenset({UNKNOWN_DEVICE}))), name, args, keywords, node
    )


def _move_opaque(
    interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value:
    devices = (
        [move_method_target(interp, name, args, keywords)]
        if name in MOVE_METHODS
        else to_targets(interp, args, keywords)
    )
    targets = frozenset(device for device in devices if device is not None)
    for device in devices:
        scenarios.record_placement(interp, node, device)
    if targets:
        point = interp.point(node, with_state=True)
        if ACCELERATOR in targets:
            interp.observations.moves.append(point)
        interp.now.update(pointer, devices=targets, last_moved_at=point)
    return pointer


def _parser_method(interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords) -> Value:
    if name == "add_argument":
        argparse_.add_argument(interp, pointer, args, keywords)
        return UNKNOWN
    if name == "set_defaults":
        argparse_.set_defaults(interp, pointer, keywords)
        return NONE
    if name in ("parse_args", "parse_intermixed_args"):
        return argparse_.parse(interp, pointer)
    if name == "parse_known_args":
        return TupleValue((argparse_.parse(interp, pointer), UNKNOWN))
    if name in ("add_argument_group", "add_mutually_exclusive_group", "add_subparsers", "add_parser"):
        return pointer
    return UNKNOWN


def _scaler_method(interp: Interpreter, name: str, args: list[Value], node: ast.Call) -> Value:
    if name == "step" and args:
        for option in alternatives(args[0]):
            if isinstance(option, Pointer):
                call_method(interp, option, "step", [], {}, node)
    if name == "load_state_dict" and args:
        _record_load_uses(interp, args[0], "state", node)
    return args[0] if name == "scale" and args else NONE


def _record_load_uses(
    interp: Interpreter, value: Value, kind: str, node: ast.AST, optimizer: Pointer | None = None
) -> None:
    for tensor in checkpoints.loaded_tensors(interp, value):
        on_accelerator = False
        if optimizer is not None:
            module_ids = interp.heap_object(optimizer).get("module_ids", frozenset())
            on_accelerator = any(ACCELERATOR in interp.now.at(key).devices for key in module_ids if interp.now.has(key))
        checkpoints.note_use(interp, tensor, kind, node, on_accelerator)


# --- classes, super(), devices ------------------------------------------------------------------------------------
def _super_method(
    interp: Interpreter, value: Super, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value:
    receiver = value.receiver
    if not isinstance(receiver, Pointer):
        return UNKNOWN
    obj = interp.heap_object(receiver)
    if name == "__init__":
        names = classes.external_bases(value.owner)
        if obj.kind == "module" and names and names[0] not in ("torch.nn.Module", "?"):
            library_modules.fill_module(interp, receiver, names[0], args, keywords, node)
        elif obj.kind == "instance" and "torch.utils.data.DataLoader" in names:
            data.make_loader(interp, args, keywords, node, into=receiver)
        return NONE
    if obj.kind == "module":
        if name in ("forward", "__call__"):
            if obj.name == "torch.nn.Sequential":
                return modules.call_sequential(interp, receiver, args, node)
            return modules.call_leaf(interp, receiver, args, keywords, node)
        return module_method(interp, receiver, name, args, keywords, node)
    return _call_object_method(interp, receiver, name, args, keywords, node)


def _class_method(
    interp: Interpreter, cls: ClassValue, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value:
    """Call a class method inherited from a library base: ``Net.from_pretrained(...)``."""
    if name == "__init__" and args and isinstance(args[0], Pointer):
        found = classes.find_member(interp, cls, "__init__")
        return interp.call(Bound(found, args[0]), args[1:], keywords, node) if isinstance(found, Function) else NONE
    if classes.is_module_class(interp, cls) and name.startswith(("from_", "load_from_")):
        names = classes.external_bases(cls)
        managed = "device_map" in keywords or any(classes.is_managed(base) for base in names)
        device = UNKNOWN_DEVICE if managed else interp.default_device
        return interp.new(
            HeapObject(
                "module",
                names[0] if names else "",
                cls,
                devices=frozenset({device}),
                weights=True,
                allocated_at=interp.point(node),
            )
        )
    return UNKNOWN


def _device_method(device: DeviceValue, name: str, args: list[Value]) -> Value:
    if name == "startswith" and args and isinstance(args[0], Const):
        if device.device.known and isinstance(args[0].value, str):
            return Const((device.device == CPU) == args[0].value.startswith("cpu"))
        return UNKNOWN
    if name in ("lower", "strip", "format", "__str__", "replace"):
        return device
    return UNKNOWN
