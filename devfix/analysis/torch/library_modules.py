"""Constructors of library modules: layers, losses, containers, parallel wrappers, parametrizations."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    NONE,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Const,
    Device,
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
from devfix.analysis.stdlib import builtins
from devfix.analysis.torch import distributed, module_tree, modules
from devfix.analysis.transfer.device_arguments import device_argument
from devfix.analysis.transfer.device_check import check_same_device, weight_operands
from devfix.models.index import model_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["TRANSFER_FUNCTIONS", "fill_module", "opaque_module"]


def _module(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if name in ("torch.nn.Module", "torch.nn.functional"):
        return modules.make(interp, name, node, weights=False)
    pointer = modules.make(
        interp, name, node, device_argument(interp, keywords), weights=not _without_weights(name, keywords)
    )
    for index, value in enumerate(args):
        if isinstance(value, Pointer) and interp.heap_object(value).kind == "module":
            modules.attach(interp, pointer, str(index), value, node)
    return pointer


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
    pointer = modules.make(interp, name, node, device)
    interp.now.update(pointer, info=(("opaque", True),))
    return pointer


def _weightless(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return modules.make(interp, name, node, weights=False)


#: Losses of elementwise operations: a 0-dim weight may be on the CPU.
_ACCEPT_SCALAR_WEIGHT = frozenset({"BCELoss", "BCEWithLogitsLoss"})


def _loss(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    pointer = modules.make(interp, name, node, weights=False)
    if not {"reduction", "reduce", "**"} & set(keywords):
        interp.now.update(pointer, info=(("mean", True),))
    for key in ("weight", "pos_weight"):
        value = keywords.get(key) or (args[0] if key == "weight" and args else None)
        if isinstance(value, Tensor) and not (value.maybe_zero_dim and name.split(".")[-1] in _ACCEPT_SCALAR_WEIGHT):
            interp.now.set_field(pointer, key, replace(value, origins=(Origin("buffer", pointer.id),)))
            interp.now.update(pointer, weights=True, devices=frozenset({value.device}))
        elif value is not None and value != NONE:
            interp.now.update(pointer, weights=True, devices=frozenset({UNKNOWN_DEVICE}))
    return pointer


def fill_module(
    interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> None:
    """Run the constructor of a library base class on an instance of a project class."""
    kind = model_of(name)
    if kind in ("sequential", "module-list", "module-dict"):
        _fill(interp, pointer, kind, args, node)
        interp.now.update(pointer, weights=False)
    elif kind in ("weightless", "loss"):
        interp.now.update(pointer, weights=False)


def _container(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    pointer = modules.make(interp, name, node, weights=False)
    _fill(interp, pointer, model_of(name), args, node)
    return pointer


def _fill(interp: Interpreter, pointer: Pointer, kind: str, args: list[Value], node: ast.Call) -> None:
    source = args[0] if args else None
    if kind == "sequential" and not (
        len(args) == 1 and isinstance(source, Pointer) and interp.heap_object(source).kind == "dict"
    ):
        items = {str(index): value for index, value in enumerate(args)}
        starred = any(isinstance(argument, ast.Starred) for argument in node.args)
        if starred and len(args) == len(node.args):
            interp.now.update(pointer, default_item=join(args))
            return
        interp.now.update(pointer, fields={**interp.heap_object(pointer).fields, **items})
    elif isinstance(source, Pointer) and interp.heap_object(source).kind in ("list", "dict", "module"):
        given = interp.heap_object(source)
        fields = (
            {str(i): value for i, value in enumerate(given.fields.values())} if kind == "module-list" else given.fields
        )
        interp.now.update(pointer, fields=dict(fields), default_item=given.default_item)
    elif isinstance(source, IterableOf):
        interp.now.update(pointer, default_item=source.element)
    elif isinstance(source, TupleValue):
        interp.now.update(pointer, fields={str(i): value for i, value in enumerate(source.items)})


def _parallel(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    inner = args[0] if args else keywords.get("module", UNKNOWN)
    is_distributed = name.endswith("DistributedDataParallel")
    if len(args) > 1:
        keywords = {"device_ids": args[1], **keywords}
    for option in alternatives(inner):
        if isinstance(option, Pointer) and interp.heap_object(option).kind == "module":
            distributed.note_wrap(interp, option, node)
        if isinstance(option, Pointer) and not is_distributed:
            modules.assume_module(interp, option)
            if module_tree.weights_device(interp, option) not in (CPU, ACCELERATOR):
                modules.move(interp, option, ACCELERATOR, node)
        elif isinstance(option, Pointer) and interp.heap_object(option).kind == "module" and node.args:
            distributed.check_wrap(interp, option, keywords, node)
    input_device = distributed.input_device(interp, keywords) if is_distributed else ACCELERATOR
    pointer = modules.make(interp, name, node, weights=False)
    interp.now.update(pointer, info=(("data-parallel", True), ("input-device", input_device)))
    interp.now.set_field(pointer, "module", inner)
    return pointer


def _parameter(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    value = args[0] if args else keywords.get("data", UNKNOWN)
    device = value.device if isinstance(value, Tensor) else CPU if isinstance(value, Unknown) else UNKNOWN_DEVICE
    return Tensor(device, (Origin("parameter"),))


def _same(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return args[0] if args else keywords.get("model", UNKNOWN)


def _parametrization(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``register_parametrization``: the parametrization becomes a submodule, and is called once with the parameter."""
    given = dict(zip(("module", "tensor_name", "parametrization"), args, strict=False)) | keywords
    owner, part = given.get("module", UNKNOWN), given.get("parametrization", UNKNOWN)
    tensor = given.get("tensor_name")
    slot = f"parametrizations.{tensor.value}" if isinstance(tensor, Const) else None
    for option in alternatives(owner):
        if isinstance(option, Pointer) and interp.heap_object(option).kind == "module" and isinstance(part, Pointer):
            device = module_tree.weights_device(interp, option)
            for path, inner in module_tree.named_modules(interp, part):
                if interp.heap_object(inner).weights and module_tree.common_device(interp.heap_object(inner)).differs(
                    device
                ):
                    check_same_device(
                        interp, node, name, [weight_operands(interp, option, "…"), weight_operands(interp, inner, path)]
                    )
                    interp.now.update(inner, devices=frozenset({device}))  # report the mismatch once
            modules.attach(interp, option, slot, part, node, weak=slot is None)
    return owner


def _averaged(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    source = args[0] if args else UNKNOWN
    return builtins.deep_copy(interp, source, node)


TRANSFER_FUNCTIONS: dict[str, TransferFunction] = {
    "attention": _module,
    "averaged": _averaged,
    "ctc": _weightless,
    "data-parallel": _parallel,
    "loss": _loss,
    "metric": _module,
    "module": _module,
    "module-dict": _container,
    "module-list": _container,
    "opaque-module": lambda interp, name, args, keywords, node: opaque_module(interp, name, node),
    "parameter": _parameter,
    "parametrization": _parametrization,
    "recurrent": _module,
    "same": _same,
    "sequential": _container,
    "weightless": _weightless,
}
