"""Frameworks that place things themselves: what goes through their hands, and what they call with it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain import classes
from devfix.analysis.domain.state import DeadPath
from devfix.analysis.domain.values import (
    ACCELERATOR,
    ANYWHERE,
    CPU,
    NONE,
    UNKNOWN,
    Bound,
    ClassValue,
    Const,
    DeviceValue,
    Function,
    Keywords,
    Number,
    Place,
    Record,
    Ref,
    Tensor,
    TupleValue,
    Unknown,
    Value,
    Yields,
    options,
)
from devfix.analysis.torch import modules
from devfix.analysis.torch.batch_objects import bundle, delivered
from devfix.analysis.transfer import iteration
from devfix.analysis.transfer.device_arguments import place_of
from devfix.models.index import behaviour

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["BEHAVIOURS", "encoding", "method", "trained"]
Behaviour = Callable[["Interpreter", str, list[Value], Keywords, ast.Call], Value]

_GIVES_BACK = frozenset("gather gather_for_metrics reduce pad_across_processes all_gather all_reduce broadcast".split())
_TAKES = frozenset("prepare prepare_model prepare_data_loader prepare_optimizer prepare_scheduler setup".split())
_SETS_UP = frozenset("setup_module setup_optimizers setup_dataloaders".split())
_STEPS = ("training_step", "validation_step", "test_step")
_LOADERS = ("train_dataloaders", "train_dataloader", "val_dataloaders", "dataloaders", "datamodule")


# --- objects with a device of their own -------------------------------------------------------------------------------
def _places(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    on_cpu = keywords.get("cpu") == Const(True) or keywords.get("accelerator") == Const("cpu")
    by_hand = keywords.get("device_placement", Const(True)) != Const(True)
    place = CPU if on_cpu else ACCELERATOR
    run.facts.accelerated |= not on_cpu
    info = (("brings-to", ANYWHERE if by_hand or "**" in keywords else place),)
    return run.new(Record("framework", name, fields={"device": DeviceValue(place)}, born=run.site(node), info=info))


def method(run: Interpreter, ref: Ref, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """A method of an ``Accelerator``, a ``Fabric``, a Lightning ``Trainer`` or an Ignite ``Engine``."""
    from devfix.analysis.transfer.calls import escape

    record = run.record(ref)
    if name in ("fit", "validate", "test") and behaviour(record.name) == "trainer":
        return _fit(run, record, args, keywords, node)
    if name == "run" and "step" in record.fields:
        loader = args[0] if args else keywords.get("data", UNKNOWN)
        return run.call(record.fields["step"], [ref, iteration.element(run, loader, node)], {}, node)
    if name == "run" and behaviour(record.name) == "launches" and args:
        return run.call(args[0], [Number("local_rank"), *args[1:]], keywords, node)
    if name == "launch" and args:
        return run.call(args[0], [ref, *args[1:]], keywords, node)
    place = record.get("brings-to", ANYWHERE)
    if name in _TAKES or name in _SETS_UP:
        if keywords.get("device_placement", NONE) != NONE or keywords.get("move_to_device", Const(True)) != Const(True):
            place = ANYWHERE
        given = [*args, *(value for key, value in keywords.items() if key in ("model", "module", "data_loader"))]
        brought = [_brought(run, value, place, node) for value in given]
        return brought[0] if len(brought) == 1 else TupleValue(tuple(brought))
    if name == "to_device" and args:
        return _brought(run, args[0], place, node)
    if name in _GIVES_BACK:
        return args[0] if args else UNKNOWN
    if name in ("unwrap_model", "unwrap"):
        return args[0] if args else UNKNOWN
    if name in ("backward", "print", "log", "wait_for_everyone", "save", "clip_grad_norm_", "clip_gradients"):
        return NONE
    escape(run, [*args, *keywords.values()])
    return UNKNOWN


def _brought(run: Interpreter, value: Value, place: Place, node: ast.AST) -> Value:
    """What has been prepared: modules in place, loaders that deliver, optimizers as they were."""
    if isinstance(value, Ref):
        record = run.record(value)
        if record.kind == "opaque" and record.get("constructed"):
            modules.promote(run, value)
            record = run.record(value)
        if record.kind == "module":
            put(run, value, place, node)
            return value
        if record.kind == "loader" or (record.kind == "instance" and record.cls is not None):
            return run.new(replace(record, info=(*record.info, ("delivers", place))))
        if record.kind in ("optimizer", "scheduler", "framework"):
            return value
    if isinstance(value, (Tensor, TupleValue)) or (isinstance(value, Ref) and run.record(value).kind == "bundle"):
        return delivered(run, value, place)
    return run.new(Record("opaque", "prepared", places=frozenset({ANYWHERE}), info=(("delivers", ANYWHERE),)))


def put(run: Interpreter, ref: Ref, place: Place, node: ast.AST) -> None:
    """A framework puts a module somewhere; it sees to the optimizers itself."""
    site = run.site(node)
    for _, part in list(modules.parts(run, ref)):
        record = run.record(part)
        fields = {name: modules.moved_field(value, place) for name, value in record.fields.items()}
        run.now.write(part.id, replace(record, fields=fields, places=frozenset({place}), moved=site, attached=None))


# --- functions --------------------------------------------------------------------------------------------------------
def _training_arguments(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    off = any(keywords.get(key, Const(False)) != Const(False) for key in ("no_cuda", "use_cpu"))
    device = DeviceValue(ANYWHERE if off else ACCELERATOR)
    return run.new(Record("framework", name, fields={"device": device}, born=run.site(node)))


def _brings(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    device = keywords.get("device", args[1] if len(args) > 1 else None)
    place = ACCELERATOR
    if device is not None:
        place = place_of(run, device) or ANYWHERE
    elif name.endswith("convert_tensor"):
        return args[0] if args else UNKNOWN
    return _brought(run, args[0], place, node) if args else UNKNOWN


def _engine(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``deepspeed.initialize``: the engine has the model on its device and takes batches that are there."""
    model = keywords.get("model", args[1] if len(args) > 1 else UNKNOWN)
    for option in options(model):
        if isinstance(option, Ref) and run.record(option).kind in ("module", "opaque"):
            modules.promote(run, option)
            put(run, option, ACCELERATOR, node)
    run.facts.accelerated = True
    engine = modules.make(run, "deepspeed.DeepSpeedEngine", node, weights=False)
    fields: dict[str, Value] = {"module": model, "device": DeviceValue(ACCELERATOR), "local_rank": Number("local_rank")}
    run.now.update(engine, fields=fields, info=(("wraps", True),))
    optimizer = keywords.get("optimizer", UNKNOWN)
    return TupleValue((engine, optimizer, UNKNOWN, keywords.get("lr_scheduler", UNKNOWN)))


def _steps(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    step = args[0] if args else keywords.get("process_function", UNKNOWN)
    return run.new(Record("framework", name, fields={"step": step}, born=run.site(node)))


def _launches(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return run.new(Record("framework", name, born=run.site(node)))


def _trains(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``LightningCLI(Model, Data)``: the command line makes the module and trains it."""
    cls = args[0] if args else keywords.get("model_class", UNKNOWN)
    if isinstance(cls, ClassValue) and keywords.get("run", Const(True)) == Const(True):
        trainer = run.record(run.new(Record("framework", name, info=(("brings-to", ACCELERATOR),))))
        _fit(run, trainer, [run.call(cls, [], {}, node)], {}, node)
    return Unknown(f"{name}()")


def _trainer(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    chosen = keywords.get("accelerator", Const("auto"))
    place = CPU if chosen == Const("cpu") else ACCELERATOR
    return run.new(Record("framework", name, born=run.site(node), info=(("brings-to", place),)))


# --- what trainers call -----------------------------------------------------------------------------------------------
def _fit(run: Interpreter, record: Record, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Lightning moves the module, gives its steps batches on the device, and brings it back when it is done.

    https://lightning.ai/docs/pytorch/stable/common/lightning_module.html,
    ``lightning/pytorch/strategies/strategy.py`` (``teardown``).
    """
    from devfix.analysis.transfer.calls import escape

    model = args[0] if args else keywords.get("model", UNKNOWN)
    loaders = [*args[1:], *(keywords[name] for name in _LOADERS if name in keywords)]
    place = record.get("brings-to", ANYWHERE)
    run.facts.accelerated |= place == ACCELERATOR
    for option in options(model):
        if isinstance(option, Ref) and run.record(option).kind == "module" and run.record(option).cls is not None:
            put(run, option, place, node)
            _run_steps(run, option, _batch_for(run, loaders, place, node), node)
            put(run, option, ANYWHERE, node)
        else:
            escape(run, [option])
    return NONE


def _batch_for(run: Interpreter, loaders: list[Value], place: Place, node: ast.AST) -> Value:
    for value in loaders:
        if isinstance(value, Ref) and run.record(value).kind == "loader":
            return delivered(run, iteration.element(run, value, node), place)
    return Tensor(place, loose=True, sure=False)


def _run_steps(run: Interpreter, model: Ref, batch: Value, node: ast.Call) -> None:
    cls = run.record(model).cls
    assert cls is not None
    for name in ("configure_optimizers", *_STEPS):
        found = classes.member(run, cls, name)
        if isinstance(found, Function):
            given = [] if name == "configure_optimizers" else [batch, Number("batch_idx")]
            wanted = len(found.node.args.args) - 1
            _try(run, Bound(found, model), given[: max(wanted, 0)], node)


def _try(run: Interpreter, function: Value, args: list[Value], node: ast.Call) -> None:
    """Call what a framework would call; where it never returns, the framework goes on."""
    before = run.now.fork()
    try:
        run.call(function, args, {}, node)
    except DeadPath:
        run.state = before


def trained(run: Interpreter, ref: Ref, node: ast.Call) -> Value:
    """``trainer.train()``: the project's ``compute_loss`` gets model and inputs on the device.

    https://huggingface.co/docs/transformers/main_classes/trainer
    """
    record = run.record(ref)
    assert record.cls is not None
    run.facts.accelerated = True
    arguments = run.new(
        Record("framework", "transformers.TrainingArguments", fields={"device": DeviceValue(ACCELERATOR)})
    )
    run.now.update(ref, fields={"args": arguments, **record.fields})
    found = classes.member(run, record.cls, "compute_loss")
    if isinstance(found, Function):
        model = modules.make(run, "transformers.Trainer.model", node, ACCELERATOR)
        run.now.update(model, info=(("opaque", True),))
        inputs = run.new(Record("dict", rest=Tensor(ACCELERATOR, loose=True)))
        _try(run, Bound(found, ref), [model, inputs], node)
    return UNKNOWN


# --- data -------------------------------------------------------------------------------------------------------------
def _graph(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """A graph from tensors; where they live in several places, or nowhere that is known, so does it."""
    if "device" in keywords or "**" in keywords:
        return run.new(Record("bundle", name, rest=Tensor(ANYWHERE, loose=True), born=run.site(node)))
    if name.endswith("add_self_loop") and args:
        return args[0]
    made = bundle(run, name, node)
    given = [option for value in (*args, *keywords.values()) for option in _tensors(value)]
    places = {value.place for value in given}
    if places != {CPU}:
        place = places.pop() if len(places) == 1 else ANYWHERE
        run.now.update(made, rest=Tensor(place, loose=True), info=())
    return made


def _samples(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """A loader that samples one graph: its batches lie where the graph's own tensors do, if that is the CPU."""
    given = args[0] if args else keywords.get("data", UNKNOWN)
    known = isinstance(given, Ref) and run.record(given).kind == "bundle"
    held = run.record(given).rest if isinstance(given, Ref) and known else None
    if not isinstance(held, Tensor) or held.place != CPU or "transform" in keywords:
        return Yields(Tensor(ANYWHERE, loose=True, sure=False))
    return run.new(Record("loader", name, fields={"dataset": given}, born=run.site(node), info=(("pinned", True),)))


def _tensors(value: Value) -> list[Tensor]:
    if isinstance(value, TupleValue):
        return [tensor for item in value.items for tensor in _tensors(item)]
    return [option for option in options(value) if isinstance(option, Tensor)]


def _graphs(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """A dataset of graphs; a transform may send them to a device (``ToDevice``, or one of the project)."""
    assert run.frame is not None
    moved = "ToDevice" in run.frame.module.tree.text or any(_may_move(run, value) for value in keywords.values())
    held = Tensor(ANYWHERE if moved else CPU, loose=True)
    sample: Value = run.new(Record("bundle", name, rest=held, born=run.site(node)))
    if behaviour(name) == "labelled-graphs":
        sample = TupleValue((sample, Tensor(CPU)))
    return run.new(Record("dataset", name, fields={"sample": sample}, born=run.site(node)))


def _may_move(run: Interpreter, value: Value) -> bool:
    return isinstance(value, (Function, Bound)) or (isinstance(value, Ref) and run.record(value).cls is not None)


def encoding(run: Interpreter, name: str, keywords: Keywords, node: ast.Call) -> Value:
    """What a tokenizer or processor gives: an encoding on the CPU where it is asked for PyTorch's tensors."""
    if keywords.get("return_tensors") != Const("pt") or {"device", "**"} & set(keywords):
        return Unknown(f"{name}()")
    if isinstance(node.func, ast.Attribute) and node.func.attr == "encode":
        held = run.record(bundle(run, name, node, "encoding")).rest
        return replace(held, loose=False) if isinstance(held, Tensor) else UNKNOWN
    return bundle(run, name, node, "encoding")


BEHAVIOURS: dict[str, Behaviour] = {
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
