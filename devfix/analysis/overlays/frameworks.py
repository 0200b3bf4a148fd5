"""Frameworks that place things themselves: what goes through their hands, and what they call with it."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain import classes
from devfix.analysis.domain.state import Unreachable
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    NONE,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Bound,
    ClassValue,
    Const,
    Device,
    DeviceValue,
    Function,
    HeapObject,
    IterableOf,
    Keywords,
    Number,
    Pointer,
    Tensor,
    TupleValue,
    Unknown,
    Value,
    alternatives,
)
from devfix.analysis.torch import module_tree, modules
from devfix.analysis.torch.batch_objects import bundle, delivered
from devfix.analysis.transfer.device_arguments import named_device
from devfix.models.index import model_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["TRANSFER_FUNCTIONS", "encoding", "method", "trained"]

_GIVES_BACK = frozenset("gather gather_for_metrics reduce pad_across_processes all_gather all_reduce broadcast".split())
_TAKES = frozenset("prepare prepare_model prepare_data_loader prepare_optimizer prepare_scheduler setup".split())
_SETS_UP = frozenset("setup_module setup_optimizers setup_dataloaders".split())
_STEPS = ("training_step", "validation_step", "test_step")
_LOADERS = ("train_dataloaders", "train_dataloader", "val_dataloaders", "dataloaders", "datamodule")


# --- objects with a device of their own -------------------------------------------------------------------------------
def _places(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    on_cpu = keywords.get("cpu") == Const(True) or keywords.get("accelerator") == Const("cpu")
    by_hand = keywords.get("device_placement", Const(True)) != Const(True)
    device = CPU if on_cpu else ACCELERATOR
    info = (("brings-to", UNKNOWN_DEVICE if by_hand or "**" in keywords else device),)
    return interp.new(
        HeapObject(
            "framework", name, fields={"device": DeviceValue(device)}, allocated_at=interp.point(node), info=info
        )
    )


def method(
    interp: Interpreter, ref: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value:
    """A method of an ``Accelerator``, a ``Fabric``, a Lightning ``Trainer`` or an Ignite ``Engine``."""
    obj = interp.heap_object(ref)
    if name in ("fit", "validate", "test") and model_of(obj.name) == "trainer":
        return _fit(interp, obj, args, keywords, node)
    if name == "run" and "step" in obj.fields:
        loader = args[0] if args else keywords.get("data", UNKNOWN)
        return interp.call(obj.fields["step"], [ref, interp.element(loader, node)], {}, node)
    if name == "run" and model_of(obj.name) == "launches" and args:
        return interp.call(args[0], [Number("local_rank"), *args[1:]], keywords, node)
    if name == "launch" and args:
        return interp.call(args[0], [ref, *args[1:]], keywords, node)
    device = obj.get("brings-to", UNKNOWN_DEVICE)
    if name in _TAKES or name in _SETS_UP:
        if keywords.get("device_placement", NONE) != NONE or keywords.get("move_to_device", Const(True)) != Const(True):
            device = UNKNOWN_DEVICE
        given = [*args, *(value for key, value in keywords.items() if key in ("model", "module", "data_loader"))]
        brought = [_brought(interp, value, device, node) for value in given]
        return brought[0] if len(brought) == 1 else TupleValue(tuple(brought))
    if name == "to_device" and args:
        return _brought(interp, args[0], device, node)
    if name in _GIVES_BACK:
        return args[0] if args else UNKNOWN
    if name in ("unwrap_model", "unwrap"):
        return args[0] if args else UNKNOWN
    if name in ("backward", "print", "log", "wait_for_everyone", "save", "clip_grad_norm_", "clip_gradients"):
        return NONE
    interp.escape([*args, *keywords.values()])
    return UNKNOWN


def _brought(interp: Interpreter, value: Value, device: Device, node: ast.AST) -> Value:
    """What has been prepared: modules in place, loaders that deliver, optimizers as they were."""
    if isinstance(value, Pointer):
        obj = interp.heap_object(value)
        if obj.kind == "opaque" and obj.get("constructed"):
            modules.promote(interp, value)
            obj = interp.heap_object(value)
        if obj.kind == "module":
            put(interp, value, device, node)
            return value
        if obj.kind == "loader" or (obj.kind == "instance" and obj.cls is not None):
            return interp.new(replace(obj, info=(*obj.info, ("delivers", device))))
        if obj.kind in ("optimizer", "scheduler", "framework"):
            return value
    if isinstance(value, (Tensor, TupleValue)) or (
        isinstance(value, Pointer) and interp.heap_object(value).kind == "bundle"
    ):
        return delivered(interp, value, device)
    return interp.new(
        HeapObject("opaque", "prepared", devices=frozenset({UNKNOWN_DEVICE}), info=(("delivers", UNKNOWN_DEVICE),))
    )


def put(interp: Interpreter, ref: Pointer, device: Device, node: ast.AST) -> None:
    """A framework puts a module somewhere; it sees to the optimizers itself."""
    point = interp.point(node)
    for _, part in list(module_tree.parts(interp, ref)):
        obj = interp.heap_object(part)
        fields = {name: modules.moved_field(value, device) for name, value in obj.fields.items()}
        interp.now.write(
            part.id, replace(obj, fields=fields, devices=frozenset({device}), last_moved_at=point, attached_at=None)
        )


# --- functions --------------------------------------------------------------------------------------------------------
def _training_arguments(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    off = any(keywords.get(key, Const(False)) != Const(False) for key in ("no_cuda", "use_cpu"))
    device = DeviceValue(UNKNOWN_DEVICE if off else ACCELERATOR)
    return interp.new(HeapObject("framework", name, fields={"device": device}, allocated_at=interp.point(node)))


def _brings(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    device_value = keywords.get("device", args[1] if len(args) > 1 else None)
    device = ACCELERATOR
    if device_value is not None:
        device = named_device(interp, device_value) or UNKNOWN_DEVICE
    elif name.endswith("convert_tensor"):
        return args[0] if args else UNKNOWN
    return _brought(interp, args[0], device, node) if args else UNKNOWN


def _engine(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``deepspeed.initialize``: the engine has the model on its device and takes batches that are there."""
    model = keywords.get("model", args[1] if len(args) > 1 else UNKNOWN)
    for option in alternatives(model):
        if isinstance(option, Pointer) and interp.heap_object(option).kind in ("module", "opaque"):
            modules.promote(interp, option)
            put(interp, option, ACCELERATOR, node)
    engine = modules.make(interp, "deepspeed.DeepSpeedEngine", node, weights=False)
    fields: dict[str, Value] = {"module": model, "device": DeviceValue(ACCELERATOR), "local_rank": Number("local_rank")}
    interp.now.update(engine, fields=fields, info=(("wraps", True),))
    optimizer = keywords.get("optimizer", UNKNOWN)
    return TupleValue((engine, optimizer, UNKNOWN, keywords.get("lr_scheduler", UNKNOWN)))


def _steps(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    step = args[0] if args else keywords.get("process_function", UNKNOWN)
    return interp.new(HeapObject("framework", name, fields={"step": step}, allocated_at=interp.point(node)))


def _launches(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return interp.new(HeapObject("framework", name, allocated_at=interp.point(node)))


def _trains(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``LightningCLI(Model, Data)``: the command line makes the module and trains it."""
    cls = args[0] if args else keywords.get("model_class", UNKNOWN)
    if isinstance(cls, ClassValue) and keywords.get("run", Const(True)) == Const(True):
        trainer = interp.heap_object(interp.new(HeapObject("framework", name, info=(("brings-to", ACCELERATOR),))))
        _fit(interp, trainer, [interp.call(cls, [], {}, node)], {}, node)
    return Unknown(f"{name}()")


def _trainer(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    chosen = keywords.get("accelerator", Const("auto"))
    device = CPU if chosen == Const("cpu") else ACCELERATOR
    return interp.new(HeapObject("framework", name, allocated_at=interp.point(node), info=(("brings-to", device),)))


# --- what trainers call -----------------------------------------------------------------------------------------------
def _fit(interp: Interpreter, obj: HeapObject, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Lightning moves the module, gives its steps batches on the device, and brings it back when it is done.

    https://lightning.ai/docs/pytorch/stable/common/lightning_module.html,
    ``lightning/pytorch/strategies/strategy.py`` (``teardown``).
    """
    model = args[0] if args else keywords.get("model", UNKNOWN)
    loaders = [*args[1:], *(keywords[name] for name in _LOADERS if name in keywords)]
    device = obj.get("brings-to", UNKNOWN_DEVICE)
    for option in alternatives(model):
        if (
            isinstance(option, Pointer)
            and interp.heap_object(option).kind == "module"
            and interp.heap_object(option).cls is not None
        ):
            put(interp, option, device, node)
            _run_steps(interp, option, _batch_for(interp, loaders, device, node), node)
            put(interp, option, UNKNOWN_DEVICE, node)
        else:
            interp.escape([option])
    return NONE


def _batch_for(interp: Interpreter, loaders: list[Value], device: Device, node: ast.AST) -> Value:
    for value in loaders:
        if isinstance(value, Pointer) and interp.heap_object(value).kind == "loader":
            return delivered(interp, interp.element(value, node), device)
    return Tensor(device, maybe_container=True, is_certain=False)


def _run_steps(interp: Interpreter, model: Pointer, batch: Value, node: ast.Call) -> None:
    cls = interp.heap_object(model).cls
    assert cls is not None
    for name in ("configure_optimizers", *_STEPS):
        found = classes.find_member(interp, cls, name)
        if isinstance(found, Function):
            given = [] if name == "configure_optimizers" else [batch, Number("batch_idx")]
            wanted = len(found.node.args.args) - 1
            _try(interp, Bound(found, model), given[: max(wanted, 0)], node)


def _try(interp: Interpreter, function: Value, args: list[Value], node: ast.Call) -> None:
    """Call what a framework would call; where it never returns, the framework goes on."""
    before = interp.now.fork()
    try:
        interp.call(function, args, {}, node)
    except Unreachable:
        interp.state = before


def trained(interp: Interpreter, ref: Pointer, node: ast.Call) -> Value:
    """``trainer.train()``: the project's ``compute_loss`` gets model and inputs on the device.

    https://huggingface.co/docs/transformers/main_classes/trainer
    """
    obj = interp.heap_object(ref)
    assert obj.cls is not None
    arguments = interp.new(
        HeapObject("framework", "transformers.TrainingArguments", fields={"device": DeviceValue(ACCELERATOR)})
    )
    interp.now.update(ref, fields={"args": arguments, **obj.fields})
    found = classes.find_member(interp, obj.cls, "compute_loss")
    if isinstance(found, Function):
        model = modules.make(interp, "transformers.Trainer.model", node, ACCELERATOR)
        interp.now.update(model, info=(("opaque", True),))
        inputs = interp.new(HeapObject("dict", default_item=Tensor(ACCELERATOR, maybe_container=True)))
        _try(interp, Bound(found, ref), [model, inputs], node)
    return UNKNOWN


# --- data -------------------------------------------------------------------------------------------------------------
def _graph(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """A graph from tensors; where they live in several places, or nowhere that is known, so does it."""
    if "device" in keywords or "**" in keywords:
        return interp.new(
            HeapObject(
                "bundle",
                name,
                default_item=Tensor(UNKNOWN_DEVICE, maybe_container=True),
                allocated_at=interp.point(node),
            )
        )
    if name.endswith("add_self_loop") and args:
        return args[0]
    made = bundle(interp, name, node)
    given = [option for value in (*args, *keywords.values()) for option in _tensors(value)]
    devices = {value.device for value in given}
    if devices != {CPU}:
        device = devices.pop() if len(devices) == 1 else UNKNOWN_DEVICE
        interp.now.update(made, default_item=Tensor(device, maybe_container=True), info=())
    return made


def _samples(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """A loader that samples one graph: its batches lie where the graph's own tensors do, if that is the CPU."""
    given = args[0] if args else keywords.get("data", UNKNOWN)
    known = isinstance(given, Pointer) and interp.heap_object(given).kind == "bundle"
    held = interp.heap_object(given).default_item if isinstance(given, Pointer) and known else None
    if not isinstance(held, Tensor) or held.device != CPU or "transform" in keywords:
        return IterableOf(Tensor(UNKNOWN_DEVICE, maybe_container=True, is_certain=False))
    return interp.new(
        HeapObject("loader", name, fields={"dataset": given}, allocated_at=interp.point(node), info=(("pinned", True),))
    )


def _tensors(value: Value) -> list[Tensor]:
    if isinstance(value, TupleValue):
        return [tensor for item in value.items for tensor in _tensors(item)]
    return [option for option in alternatives(value) if isinstance(option, Tensor)]


def _graphs(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """A dataset of graphs; a transform may send them to a device (``ToDevice``, or one of the project)."""
    assert interp.activation is not None
    moved = "ToDevice" in interp.activation.module.tree.text or any(
        _may_move(interp, value) for value in keywords.values()
    )
    held = Tensor(UNKNOWN_DEVICE if moved else CPU, maybe_container=True)
    sample: Value = interp.new(HeapObject("bundle", name, default_item=held, allocated_at=interp.point(node)))
    if model_of(name) == "labelled-graphs":
        sample = TupleValue((sample, Tensor(CPU)))
    return interp.new(HeapObject("dataset", name, fields={"sample": sample}, allocated_at=interp.point(node)))


def _may_move(interp: Interpreter, value: Value) -> bool:
    return isinstance(value, (Function, Bound)) or (
        isinstance(value, Pointer) and interp.heap_object(value).cls is not None
    )


def encoding(interp: Interpreter, name: str, keywords: Keywords, node: ast.Call) -> Value:
    """What a tokenizer or processor gives: an encoding on the CPU where it is asked for PyTorch's tensors."""
    if keywords.get("return_tensors") != Const("pt") or {"device", "**"} & set(keywords):
        return Unknown(f"{name}()")
    if isinstance(node.func, ast.Attribute) and node.func.attr == "encode":
        held = interp.heap_object(bundle(interp, name, node, "encoding")).default_item
        return replace(held, maybe_container=False) if isinstance(held, Tensor) else UNKNOWN
    return bundle(interp, name, node, "encoding")


TRANSFER_FUNCTIONS: dict[str, TransferFunction] = {
    "brings": _brings,
    "engine": _engine,
    "graph": _graph,
    "graphs": _graphs,
    "labelled-graphs": _graphs,
    "launches": _launches,
    "places": _places,
    "samples": _samples,
    "steps": _steps,
    "trainer": _trainer,
    "training-arguments": _training_arguments,
    "trains": _trains,
}
