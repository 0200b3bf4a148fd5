"""Calls of functions and classes outside the project.

First match wins: an overlay (code, by full name), then the stubs and the generated table (:mod:`devfix.models`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from devfix.analysis import overlays
from devfix.analysis.accelerator_counts import has_none
from devfix.analysis.domain import classes
from devfix.analysis.domain.objects import Mapping, Opaque, module_at, object_at
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    NONE,
    UNKNOWN,
    Const,
    DeviceValue,
    IterableOf,
    Keywords,
    Number,
    Pointer,
    TupleValue,
    Union,
    Unknown,
    Value,
    alternatives,
)
from devfix.analysis.overlays.transformers_ import TokenizerObject
from devfix.analysis.stdlib import (
    builtins,
    collections_,
    environment,
    functional,
    introspection,
    itertools_,
    numpy_,
    random_,
)
from devfix.analysis.stdlib.argparse_ import ParserObject
from devfix.analysis.stdlib.instances import InstanceObject
from devfix.analysis.torch import (
    checkpoints,
    data,
    distributed,
    distributions,
    factories,
    library_modules,
    module_moves,
    module_tree,
    optimizers,
    parametrizations,
    tensor_functions,
)
from devfix.analysis.torch.data import LoaderObject
from devfix.analysis.torch.schedulers import ScalerObject, SchedulerObject
from devfix.analysis.transfer import iteration, modelled_calls
from devfix.analysis.transfer.device_arguments import device_map_target
from devfix.analysis.transfer.device_check import check_same_device, weight_operands
from devfix.models.flags import asks_for_accelerator
from devfix.models.index import lookup

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction
    from devfix.models.index import Model

__all__ = ["call", "call_reader", "reader", "unknown_result"]

_MODEL_WORDS = ("Model", "For", "AutoencoderKL", "UNet", "Transformer2D")
_READER_WORDS = ("Tokenizer", "Processor", "Extractor")  # of texts, images and sounds
_OTHER_WORDS = (*_READER_WORDS, "Config", "Pipeline", "Scheduler", "Trainer", "Dataset")


def call(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Call a function or class outside the project by its full name."""
    if name.startswith("builtins."):
        return builtins.call(interp, name[len("builtins.") :], args, keywords, node)
    match args:
        case [Pointer() as instance, *others] if name.endswith(".__init__") and _is_own_module(interp, instance):
            if name != "torch.nn.Module.__init__":
                library_modules.fill_module(interp, instance, name.rpartition(".")[0], others, keywords, node)
            return NONE
        case [Pointer() as loader] if name == f"{data.LOADER}.__iter__":
            return interp.heap_object(loader).method(interp, loader, "__iter__", [], {}, node)
    model = lookup(name)
    if classes.is_managed(name) and (model is None or overlay_of(model) is None):
        _escape(interp, args, keywords)
        return Unknown(f"{name}()")
    if name.endswith((".from_pretrained", ".from_config")) and model is None:
        owner = name.split(".")[-2]
        if any(word in owner for word in _MODEL_WORDS) and not any(word in owner for word in _OTHER_WORDS):
            device = device_map_target(interp, keywords)
            return library_modules.opaque_module(interp, name, node, device)
        if name.startswith("transformers."):
            return interp.new(TokenizerObject(name, allocated_at=interp.point(node)))
        return unknown_result(interp, name, args, node)
    if model is not None:
        result, given = _call_model(interp, model, args, keywords, node), keywords.get("out", NONE)
        return result if given == NONE or not name.startswith("torch.") else given  # ``out=`` is the result
    if name.split(".")[-1][:1].islower():
        _check_opaque_training_call(interp, name, args, keywords, node)
    if may_move_arguments(name):
        _escape(interp, args, keywords)
    for option in (option for value in (*args, *keywords.values()) for option in alternatives(value)):
        if isinstance(option, Pointer) and module_at(interp, option) is not None:
            module_moves.forget_mode(interp, option)
    return unknown_result(interp, name, args, node, keywords)


def _is_own_module(interp: Interpreter, pointer: Pointer) -> bool:
    """Return whether an object is a module of a project class."""
    module = module_at(interp, pointer)
    return module is not None and module.cls is not None


def overlay_of(model: Model) -> TransferFunction | None:
    """Return the code for a function, a class or its nearest base; ``None`` if signatures say it all."""
    if model.root not in ("", "Overlay") and model.kind == "class":
        return None
    return next((OVERLAYS[name] for name in (model.key, *model.bases) if name in OVERLAYS), None)


def _call_model(interp: Interpreter, model: Model, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    overlay = overlay_of(model)
    if overlay is not None:
        return overlay(interp, model.name, args, keywords, node)
    if model.kind == "class":
        return _CONSTRUCTORS[model.root](interp, model, args, keywords, node)
    result = modelled_calls.call_modelled(interp, model, args, keywords, node)
    return UNKNOWN if result is None else result


def reader(name: str) -> Model | None:
    """Return the model of a method of an object, by its full name; ``None`` if the method may move its arguments.

    A wildcard describes a method only if it reads its arguments.
    """
    model = lookup(name)
    if model is None or model.kind != "function":
        return None
    return model if model.key == model.name or model.result in ("Any", "Array") else None


def call_reader(
    interp: Interpreter, receiver: Pointer, model: Model, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value:
    """Call a method of an object by its signatures."""
    is_method = any(parameter.name == "self" for parameter in model.signatures[0].parameters)
    result = modelled_calls.call_modelled(interp, model, args, keywords, node, receiver if is_method else None)
    return UNKNOWN if result is None else result


def may_move_arguments(name: str) -> bool:
    """Return whether the name suggests that the callable moves its arguments: it wraps, prepares or trains."""
    last = name.split(".")[-1]
    return last[:1].isupper() or any(word in last.lower() for word in _MOVING_WORDS)


_MOVING_WORDS = (
    "accelerat batch_to convert cuda deploy device dispatch distribut engine fit gpu init launch load main move "
    "offload parallel place prepare run set_up setup shard to_ train wrap"
).split()


def _check_opaque_training_call(
    interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> None:
    """Check a module passed with a loader and a device to an unknown function: its weights must be on one device."""
    values = [*args, *keywords.values()]
    has_loader = any(object_at(interp, value, LoaderObject) is not None for value in values)
    has_device = any(isinstance(value, DeviceValue) for value in values)
    for value in values:
        if has_loader and has_device and isinstance(value, Pointer):
            weighted = module_tree.weighted_modules(interp, value)
            operands = [weight_operands(interp, part, path) for path, part, _ in weighted]
            check_same_device(interp, node, name.split(".")[-1], operands, opaque=True)


def _escape(interp: Interpreter, args: list[Value], keywords: Keywords) -> None:
    interp.escape([*args, *keywords.values()])


def unknown_result(
    interp: Interpreter, name: str, args: list[Value], node: ast.Call, keywords: Keywords | None = None
) -> Value:
    """Return the result of unknown code: an opaque object, or the wrapped argument (a loader in a progress bar)."""
    array = numpy_.result_of(name, args, keywords or {}, node)
    if array is not None:
        return array
    if args and "tqdm" in name.split(".")[-1].lower():  # a library's own progress bar
        return args[0]
    if name.endswith(".from_pretrained") and any(word in name for word in _READER_WORDS):
        return interp.new(TokenizerObject(name, allocated_at=interp.point(node)))
    loaders = [value for value in args if object_at(interp, value, LoaderObject) is not None]
    if len(loaders) == 1 and len(args) <= 3 and not name.split(".")[-1][:1].isupper():
        return IterableOf(iteration.element(interp, loaders[0], node))
    keyword_names = {keyword.arg for keyword in node.keywords}
    is_class = name.split(".")[-1][:1].isupper()
    given = [*args, *(keywords or {}).values()]
    chooses = (
        keyword_names & {"device", "device_map", None}
        or any(name is not None and asks_for_accelerator(name) is not None for name in keyword_names)
        or any(_gives_device(interp, each) for each in given)
    )
    return interp.new_opaque(name, node, constructed=is_class and not chooses and not _is_missing(interp, name))


def _is_missing(interp: Interpreter, name: str) -> bool:
    """Return whether a class belongs to a package of the project that lacks its file: it may place what it builds."""
    return "." in name and interp.program.has_module(name)


def _gives_device(interp: Interpreter, argument: Value) -> bool:
    """Return whether a constructor is given a device, or a module elsewhere than on the CPU, which it may wrap."""
    if isinstance(argument, Union):
        return any(_gives_device(interp, option) for option in argument.alternatives)
    if isinstance(argument, Const):
        return isinstance(argument.value, str) and any(name in argument.value for name in ("cuda", "gpu"))
    module, other = module_at(interp, argument), object_at(interp, argument, Opaque)
    is_moved = other is not None and ACCELERATOR in other.devices
    return isinstance(argument, DeviceValue) or (module is not None and module.devices != {CPU}) or is_moved


# --- classes ------------------------------------------------------------------------------------------------------
def _optimizer(interp: Interpreter, model: Model, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return optimizers.build(interp, model.name, model.option("eager", False), args, keywords, node)


def _scheduler(interp: Interpreter, model: Model, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    fields = {"optimizer": args[0]} if args else {}
    return interp.new(SchedulerObject(model.name, fields=fields, allocated_at=interp.point(node)))


def _distribution(interp: Interpreter, model: Model, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    made = distributions.make(interp, model.name, args, keywords, node)
    return made if made is not None else unknown_result(interp, model.name, args, node, keywords)


def _object(interp: Interpreter, model: Model, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Create an object; a class whose stub has ``__new__`` returns what that says."""
    constructor = model.method("__new__")
    if constructor is not None:
        return modelled_calls.call_modelled(interp, constructor, args, keywords, node, UNKNOWN) or UNKNOWN
    return unknown_result(interp, model.name, args, node, keywords)


_CONSTRUCTORS: dict[str, Callable[[Interpreter, Model, list[Value], Keywords, ast.Call], Value]] = {
    "Distribution": _distribution,
    "Loss": library_modules.construct_loss,
    "Metric": library_modules.construct,
    "Module": library_modules.construct,
    "Object": _object,
    "Optimizer": _optimizer,
    "Overlay": _object,
    "Placed": _object,
    "Scheduler": _scheduler,
}


# --- code for what no signature describes -------------------------------------------------------------------------
def _scaler(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return interp.new(ScalerObject(name, allocated_at=interp.point(node)))


def _divergence(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    found = distributions.kl_divergence(interp, name, args, keywords, node)
    return found if found is not None else unknown_result(interp, name, args, node, keywords)


def _namespace(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    fields = dict(keywords)
    given = object_at(interp, args[0], Mapping) if args else None
    if given is not None:
        fields = {**given.fields, **fields}
    return interp.new(InstanceObject("namespace", fields=fields))


def _parser(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return interp.new(ParserObject(name))


def _joins_paths(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return checkpoints.joined_path(args, node)


def _calls(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    function = args[0] if args else keywords.get("target", keywords.get("fn", UNKNOWN))
    arguments: list[Value] = []
    if "target" in keywords:
        values = keywords.get("args", UNKNOWN)
        arguments = list(values.items) if isinstance(values, TupleValue) else []
        interp.call(function, arguments, {}, node)
        return Unknown(f"{name}()")
    if name.startswith(("torch.multiprocessing", "torch_xla", "accelerate")):
        values = keywords.get("args", args[1] if len(args) > 1 else UNKNOWN)
        rank = [] if name.startswith("accelerate") else [Number("rank")]
        arguments = [*rank, *(values.items if isinstance(values, TupleValue) else ())]
        interp.now.assume("rank >= 0", True)  # the processes are counted from 0
    return interp.call(function, arguments, {}, node)


def _is_available(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    interp.observations.checks_availability = True
    return Const(not has_none(interp))


_COLLECTIVES = (
    "all_reduce reduce broadcast all_gather all_gather_into_tensor gather scatter reduce_scatter reduce_scatter_tensor "
    "all_to_all all_to_all_single send recv isend irecv"
).split()

#: Code by full name; a stub declares each of these names.
OVERLAYS: dict[str, TransferFunction] = {
    **collections_.OVERLAYS,
    **data.OVERLAYS,
    **environment.OVERLAYS,
    **factories.OVERLAYS,
    **functional.OVERLAYS,
    **introspection.OVERLAYS,
    **itertools_.OVERLAYS,
    **library_modules.OVERLAYS,
    **overlays.OVERLAYS,
    **parametrizations.OVERLAYS,
    **random_.OVERLAYS,
    **tensor_functions.OVERLAYS,
    **{f"torch.distributed.{name}": distributed.collective for name in _COLLECTIVES},
    "accelerate.notebook_launcher": _calls,
    "argparse.ArgumentParser": _parser,
    "os.path.abspath": _joins_paths,
    "os.path.expanduser": _joins_paths,
    "os.path.join": _joins_paths,
    "os.rename": checkpoints.copied_file,
    "os.replace": checkpoints.copied_file,
    "pathlib.Path": _joins_paths,
    "safetensors.safe_open": checkpoints.open_file,
    "safetensors.torch.load_file": checkpoints.load_file,
    "shutil.copy": checkpoints.copied_file,
    "shutil.copy2": checkpoints.copied_file,
    "shutil.copyfile": checkpoints.copied_file,
    "shutil.move": checkpoints.copied_file,
    "torch.cuda.amp.GradScaler": _scaler,
    "torch.cuda.device": distributed.selected,
    "torch.cuda.is_available": _is_available,
    "torch.cuda.set_device": distributed.set_device,
    "torch.distributed.init_process_group": distributed.init,
    "torch.distributed.is_initialized": distributed.initialized,
    "torch.distributions.kl_divergence": _divergence,
    "torch.load": checkpoints.load,
    "torch.multiprocessing.Process": _calls,
    "torch.multiprocessing.set_start_method": data.start_method,
    "torch.multiprocessing.spawn": _calls,
    "torch.multiprocessing.start_processes": _calls,
    "torch.save": checkpoints.save,
    "torch_xla.launch": _calls,
    "types.SimpleNamespace": _namespace,
}
