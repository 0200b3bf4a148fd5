"""Constructors of library modules: layers, losses, containers, parallel wrappers."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.classes import find_member
from devfix.analysis.domain.device_parsing import names_device
from devfix.analysis.domain.objects import Container, Mapping, Module, module_at
from devfix.analysis.domain.records import replace
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    NONE,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Const,
    Device,
    DeviceValue,
    IterableOf,
    Keywords,
    Origin,
    Pointer,
    Tensor,
    TupleValue,
    Unknown,
    Value,
    alternatives,
    join,
)
from devfix.analysis.observations.execution import ModuleWrapped
from devfix.analysis.torch import checkpoints, distributed, module_moves, module_objects, module_tree, modules
from devfix.analysis.transfer.bound_call import bind
from devfix.analysis.transfer.device_arguments import device_argument
from devfix.models.index import lookup

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction
    from devfix.models.index import Model

__all__ = ["MODULE_CONTAINERS", "OVERLAYS", "construct", "construct_loss", "fill_module", "opaque_module"]


def construct(interp: Interpreter, model: Model, args: list[Value], keywords: Keywords, node: ast.Call) -> Pointer:
    """Create a module of a library class."""
    named = _named_arguments(model, args, keywords, node)
    weights = model.option("weights", True) and not _without_weights(model.name, named)
    pointer = module_objects.make(interp, model.name, node, _device(interp, named, args), weights=weights)
    for index, value in enumerate(args):
        if module_at(interp, value) is not None:
            modules.attach(interp, pointer, str(index), value, node)
    return pointer


def _named_arguments(model: Model, args: list[Value], keywords: Keywords, node: ast.Call) -> Keywords:
    """Return the arguments of a constructor by name, as far as a stub names them."""
    constructor = model.method("__init__")
    call = bind(constructor.signatures, args, keywords, node, (UNKNOWN, node.func)) if constructor is not None else None
    given = {argument.parameter.name: argument.value for argument in call.arguments} if call is not None else {}
    return {**given, **keywords}


def _device(interp: Interpreter, named: Keywords, args: list[Value]) -> Device | None:
    """Return the device that a layer is made on: ``device=``, or an argument that cannot be anything else."""
    if "device" in named:
        return device_argument(interp, named)
    given = next((value for value in args if any(map(_is_device, alternatives(value)))), NONE)
    return device_argument(interp, named if given == NONE else {**named, "device": given})


def _is_device(value: Value) -> bool:
    is_name = isinstance(value, Const) and isinstance(value.value, str) and names_device(value.value)
    return is_name or isinstance(value, DeviceValue)


def _base_module(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return module_objects.make(interp, name, node, weights=False)


def _without_weights(name: str, keywords: Keywords) -> bool:
    """Return whether a normalization layer has neither parameters nor statistics."""
    last, off = name.split(".")[-1], Const(False)
    if last.startswith("InstanceNorm"):
        given = ("affine", "track_running_stats")
        return all(keywords.get(key, off) == off for key in given)
    if last.startswith("BatchNorm"):
        return keywords.get("affine") == off and keywords.get("track_running_stats") == off
    return keywords.get("affine") == off or keywords.get("elementwise_affine") == off


def opaque_module(interp: Interpreter, name: str, node: ast.Call, device: Device | None = None) -> Value:
    """Create a module whose code is not followed."""
    return module_objects.make(interp, name, node, device, opaque=True)


def construct_loss(interp: Interpreter, model: Model, args: list[Value], keywords: Keywords, node: ast.Call) -> Pointer:
    """Create a loss: its weights become buffers, and a mean loss returns a single number."""
    takes_mean = not {"reduction", "reduce", "**"} & set(keywords)
    pointer = module_objects.make(interp, model.name, node, weights=False, mean=takes_mean)
    _fill_loss(interp, pointer, model, args, keywords, node)
    return pointer


def _fill_loss(
    interp: Interpreter, pointer: Pointer, model: Model, args: list[Value], keywords: Keywords, node: ast.Call
) -> None:
    """Keep the weights that a loss gets as its buffers."""
    constructor = model.method("__init__")
    call = bind(constructor.signatures, args, keywords, node, (pointer, node.func)) if constructor is not None else None
    for argument in call.with_word("Buffer", "Scalar") if call is not None else ():
        value, key = argument.value, argument.parameter.name
        may_join = argument.parameter.word.name == "Scalar"
        for tensor in checkpoints.loaded_tensors(interp, value):
            checkpoints.note_use(interp, tensor, "buffer", node, False)
        if isinstance(value, Tensor) and not (value.maybe_zero_dim and may_join):
            is_shared = any(origin.kind == "parameter" for origin in value.origins)  # its module moves it in place
            device = UNKNOWN_DEVICE if is_shared else value.device
            interp.now.set_field(pointer, key, replace(value, device=device, origins=(Origin("buffer", pointer.id),)))
            interp.now.update(pointer, weights=True, devices=frozenset({device}))
        elif not isinstance(value, Tensor) and value != NONE:
            interp.now.update(pointer, weights=True, devices=frozenset({UNKNOWN_DEVICE}))


def fill_module(
    interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> None:
    """Run the constructor of a library base class on an instance of a project class."""
    model = lookup(name)
    if model is None:
        return
    if model.name in MODULE_CONTAINERS:
        _fill(interp, pointer, model.name, args, node)
        interp.now.update(pointer, weights=False)
    elif model.name in _PARALLEL:
        _fill_parallel(interp, pointer, model.name, args, keywords, node)
    elif model.root == "Loss":
        interp.now.update(pointer, weights=False)
        _fill_loss(interp, pointer, model, args, keywords, node)
    elif not model.option("weights", True):
        interp.now.update(pointer, weights=False)
    elif model.root == "Module":
        named = _named_arguments(model, args, keywords, node)
        device = _device(interp, named, args) or interp.default_device
        interp.now.update(pointer, weights=not _without_weights(model.name, named), devices=frozenset({device}))


def _container(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    pointer = module_objects.make(interp, name, node, weights=False)
    _fill(interp, pointer, name, args, node)
    return pointer


def _parameters(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``ParameterList`` and ``ParameterDict``: tensors become parameters."""
    pointer = module_objects.make(interp, name, node)
    _fill(interp, pointer, name, args, node)
    held = interp.heap_object(pointer).transformed(lambda _, value: modules.as_parameter(value))
    devices = frozenset(value.device for value in held.contents if isinstance(value, Tensor))
    interp.now.write(pointer.id, replace(held, devices=devices or held.devices))
    return pointer


def _fill(interp: Interpreter, pointer: Pointer, name: str, args: list[Value], node: ast.Call) -> None:
    source = args[0] if args else None
    given = interp.heap_object(source) if isinstance(source, Pointer) else None
    if name == "torch.nn.Sequential" and not (len(args) == 1 and isinstance(given, Mapping)):
        items = {str(index): value for index, value in enumerate(args)}
        starred = any(isinstance(argument, ast.Starred) for argument in node.args)
        if starred and len(args) == len(node.args):
            interp.now.update(pointer, default_item=join(args))
        else:
            interp.now.update(pointer, fields={**interp.heap_object(pointer).fields, **items})
    elif isinstance(given, (Container, Module)):
        fields = (
            {str(i): value for i, value in enumerate(given.fields.values())}
            if name in ("torch.nn.ModuleList", "torch.nn.ParameterList")
            else given.fields
        )
        interp.now.update(pointer, fields=dict(fields), default_item=given.default_item)
    elif isinstance(source, IterableOf):
        interp.now.update(pointer, default_item=source.element)
    elif isinstance(source, TupleValue):
        interp.now.update(pointer, fields={str(i): value for i, value in enumerate(source.items)})
    if name in MODULE_CONTAINERS:
        for option in (option for value in interp.heap_object(pointer).contents for option in alternatives(value)):
            if isinstance(option, Pointer):
                module_tree.assume_module(interp, option)  # it moves with the container


def _parallel(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    inner = args[0] if args else keywords.get("module", UNKNOWN)
    is_distributed = name.endswith("DistributedDataParallel")
    if len(args) > 1:
        keywords = {"device_ids": args[1], **keywords}
    given = distributed.input_device(interp, keywords, is_distributed=is_distributed)
    input_device = ACCELERATOR if given is None and not is_distributed else given
    if interp.scenario.no_accelerator and not is_distributed:
        input_device = None  # it only calls its module then: torch/nn/parallel/data_parallel.py
    for option in alternatives(inner):
        if not isinstance(option, Pointer):
            continue
        is_module = module_at(interp, option) is not None
        if is_module:
            interp.observe(ModuleWrapped(option, node))
        if not is_distributed and input_device is not None:
            module_tree.assume_module(interp, option)
            if module_tree.weights_device(interp, option) not in (CPU, input_device):
                module_moves.move(interp, option, input_device, node)
        elif is_module and node.args:
            distributed.check_wrap(interp, option, keywords, node)
    pointer = module_objects.make(interp, name, node, weights=False, fields={"module": inner}, data_parallel=True)
    interp.now.update(pointer, input_device=input_device)
    return pointer


def _fill_parallel(
    interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> None:
    """Wrap a module in an instance of a project class; one that scatters inputs itself places them anywhere."""
    instance = interp.heap_object(pointer)
    wrapper = module_at(interp, _parallel(interp, name, args, keywords, node))
    if wrapper is None:
        return
    scatters = instance.cls is not None and any(
        find_member(interp, instance.cls, member) is not None for member in ("forward", "scatter")
    )
    interp.now.update(
        pointer,
        fields={**instance.fields, **wrapper.fields},
        weights=False,
        data_parallel=True,
        input_device=UNKNOWN_DEVICE if scatters else wrapper.input_device,
    )


def _parameter(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    value = args[0] if args else keywords.get("data", UNKNOWN)
    device = value.device if isinstance(value, Tensor) else CPU if isinstance(value, Unknown) else UNKNOWN_DEVICE
    is_scalar = isinstance(value, Tensor) and value.maybe_zero_dim
    is_fixed = Const(False) in (*args[1:2], keywords.get("requires_grad"))
    return Tensor(device, (Origin("parameter"),), maybe_zero_dim=is_scalar, grad=not is_fixed)


OVERLAYS: dict[str, TransferFunction] = {
    "torch.nn.DataParallel": _parallel,
    "torch.nn.Module": _base_module,
    "torch.nn.ModuleDict": _container,
    "torch.nn.ModuleList": _container,
    "torch.nn.Parameter": _parameter,
    "torch.nn.ParameterDict": _parameters,
    "torch.nn.ParameterList": _parameters,
    "torch.nn.Sequential": _container,
    "torch.nn.parallel.DistributedDataParallel": _parallel,
}

_PARALLEL = ("torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel")
MODULE_CONTAINERS = ("torch.nn.ModuleDict", "torch.nn.ModuleList", "torch.nn.Sequential")
