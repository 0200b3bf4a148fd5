"""Factories of tensors, ``torch.device``, and the default device."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis import parameter_copies, scenarios
from devfix.analysis.domain.objects import Container, Mapping, Opaque, object_at
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
    Text,
    TupleValue,
    Unknown,
    Value,
    alternatives,
    join,
)
from devfix.analysis.stdlib import numpy_
from devfix.analysis.torch import checkpoints, data_sources, rng
from devfix.analysis.transfer.device_arguments import device_argument, named_device
from devfix.analysis.transfer.device_check import check_same_device, tensor_operands
from devfix.models.names import RANDOM_FACTORIES
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS", "fresh", "like", "on_accelerator"]


def fresh(
    interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call, default: Device, zero_dim: bool = False
) -> Value:
    """Create a tensor with ``device=``, or on the device ``default``.

    Legacy tensor types ignore the default device: https://docs.pytorch.org/docs/stable/tensors.html.
    """
    named = device_argument(interp, keywords)
    device = named or (UNKNOWN_DEVICE if _is_placeholder(interp, args, node) else default)
    rng.draw(interp, keywords.get("generator"), device, "factory", node)
    scenarios.record_placement(interp, node, named)
    source = _device_source(interp, node, device)
    origins = () if source is None else tuple(one for one in source.origins if one.kind in ("made", "batch", "moved"))
    if device == CPU:
        origins = origins or (_creation(interp, node),)
    elif source is None:
        origins = scenarios.origins_after_move(interp, node, device)
    return Tensor(device, origins, maybe_zero_dim=zero_dim or _has_no_dimensions(interp, args, keywords))


def _device_source(interp: Interpreter, node: ast.Call, device: Device) -> Tensor | None:
    """Return ``x`` for a call with ``device=x.device``: it determines the device; ``None`` for another argument."""
    expression = next((keyword.value for keyword in node.keywords if keyword.arg == "device"), None)
    if not (isinstance(expression, ast.Attribute) and expression.attr == "device"):
        return None
    if any(isinstance(part, ast.Call) for part in ast.walk(expression)):
        return None
    source = interp.evaluate(expression.value)
    return source if isinstance(source, Tensor) and source.device == device else None


def _has_no_dimensions(interp: Interpreter, args: list[Value], keywords: Keywords) -> bool:
    """Return whether a factory call has an empty shape: ``torch.zeros(())``."""
    shape = args[0] if args else keywords.get("size")
    container = object_at(interp, shape, Container)
    return shape == TupleValue(()) if container is None else not container.contents


def _is_placeholder(interp: Interpreter, args: list[Value], node: ast.Call) -> bool:
    """Return whether a default of a parameter stands for nothing, ``torch.zeros((0, 0, 0))``: code tests its size.

    A vector or matrix without elements is none: programs add to it.  Random numbers, which are the same in each call,
    only show the shape: callers pass the values.
    """
    tree = interp.activation.module.tree if interp.activation is not None else None
    if tree is None or not any(isinstance(outer, ast.arguments) for outer in tree.ancestors(node)):
        return False
    if text_of(node.func).rpartition(".")[2] in RANDOM_FACTORIES:
        return True
    sizes = args[0].items if len(args) == 1 and isinstance(args[0], TupleValue) else tuple(args)
    return len(sizes) > 2 and all(size == Const(0) for size in sizes)


def _creation(interp: Interpreter, node: ast.Call) -> Origin:
    key = data_sources.source_key(interp, "made", node)
    parameter_copies.note_shape(interp, key, node)
    return Origin("made", key)


def _from_data(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    device = named = device_argument(interp, keywords)
    source = args[0] if args else keywords.get("data", UNKNOWN)
    if device is None:
        tensors = [option for option in alternatives(source) if isinstance(option, Tensor)]
        device = tensors[0].device if tensors and not name.endswith("torch.tensor") else interp.default_device
        if isinstance(source, Tensor):
            is_output = source.maybe_container and source.device == ACCELERATOR  # an array, or a part of one, too
            device = UNKNOWN_DEVICE if is_output else source.device
        elif not tensors and not name.endswith("torch.tensor") and _may_be_tensor(interp, source):
            device = UNKNOWN_DEVICE  # ``torch.as_tensor(x)`` leaves a tensor where it is
    maybe_zero_dim = not any(_has_dimensions(interp, option) for option in alternatives(source))
    scenarios.record_placement(interp, node, named)
    origins = (_creation(interp, node),) if device == CPU else scenarios.origins_after_move(interp, node, device)
    return Tensor(device, origins, maybe_zero_dim=maybe_zero_dim)


def _may_be_tensor(interp: Interpreter, value: Value) -> bool:
    """Return whether an unknown value may be a tensor: in a program, what nothing is known of comes from the host.

    What the program has moved does not.
    """
    for option in alternatives(value):
        unknown = object_at(interp, option, Opaque)
        if unknown is not None and (interp.observations.is_library or unknown.last_moved_at is not None):
            return True
        if isinstance(option, Unknown) and not numpy_.is_array(option) and interp.observations.is_library:
            return True
    return False


def _coo(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Create a sparse COO tensor: its indices and values are on one device, unless ``device=`` is given."""
    parts = {**dict(zip(("indices", "values"), args, strict=False)), **keywords}
    if "device" not in keywords:
        given = ((key, parts.get(key)) for key in ("indices", "values"))
        operands = [tensor_operands(value, key) for key, value in given if isinstance(value, Tensor)]
        check_same_device(interp, node, name, operands)
    return _from_data(interp, name, [parts.get("values", UNKNOWN)], keywords, node)


def _compressed(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Create a sparse tensor in a compressed layout: on the device of its values, unless ``device=`` is given."""
    values = keywords.get("values", args[2] if len(args) > 2 else UNKNOWN)
    return _from_data(interp, name, [values], keywords, node)


def _has_dimensions(interp: Interpreter, value: Value) -> bool:
    """Return whether data certainly has dimensions; an unknown value may be a number."""
    if isinstance(value, Tensor):
        return not value.maybe_zero_dim
    if isinstance(value, Pointer):
        obj = interp.heap_object(value)
        return isinstance(obj, Container) and not isinstance(obj, Mapping)
    return isinstance(value, (TupleValue, IterableOf)) or numpy_.is_array(value)


def _from_cpu(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if args and isinstance(args[0], Tensor):
        checkpoints.note_use(interp, args[0], "array", node, False)
    return Tensor(CPU, (_creation(interp, node),))


def like(interp: Interpreter, source: Value, keywords: Keywords, node: ast.Call) -> Value:
    """Create a tensor on the device of ``source``, or with ``device=`` on another one."""
    device = device_argument(interp, keywords)
    if device is not None:
        scenarios.record_placement(interp, node, device)
        return Tensor(device, scenarios.origins_after_move(interp, node, device) if device == ACCELERATOR else ())
    return join(
        Tensor(option.device, _origins_of_source(interp, option, node))
        if isinstance(option, Tensor)
        else Tensor(UNKNOWN_DEVICE)
        for option in alternatives(source)
    )


def _origins_of_source(interp: Interpreter, source: Tensor, node: ast.Call) -> tuple[Origin, ...]:
    """Return the origins of a tensor that is created like another: a CPU tensor is created here."""
    copied = parameter_copies.note_copy(interp, source, node)
    if copied or source.device != CPU or any(origin.kind != "made" for origin in source.origins):
        return copied
    return (_creation(interp, node),)


def on_accelerator(interp: Interpreter, node: ast.Call) -> Value:
    """Create a tensor on the accelerator: ``torch.cuda.FloatTensor(3)``."""
    scenarios.record_placement(interp, node, ACCELERATOR)
    return Tensor(ACCELERATOR, scenarios.origins_after_move(interp, node, ACCELERATOR))


def _device(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    value = args[0] if args else keywords.get("type", UNKNOWN)
    found = []
    for option in alternatives(value):
        named = not isinstance(option, (Unknown, Text, Pointer))
        device = named_device(interp, option) if named else _configured_device(interp)
        if device == ACCELERATOR and len(args) > 1:
            device = scenarios.index_device(interp, args[1])
        found.append(
            DeviceValue(device if device is not None else UNKNOWN_DEVICE, symbol=getattr(option, "symbol", ""))
        )
    return join(found)


def _configured_device(interp: Interpreter) -> Device:
    interp.observations.has_configured_device = True
    return scenarios.configured_device(interp)


def _default_device(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    device = named_device(interp, args[0]) if args else None
    interp.now.set_runtime(default_device=device or CPU)
    return NONE


def _default_type(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    text = str(getattr(args[0], "value", getattr(args[0], "name", ""))) if args else ""
    if "cuda" in text:
        scenarios.require_accelerator(interp, node)
    interp.now.set_runtime(default_device=ACCELERATOR if "cuda" in text else CPU)
    return NONE


OVERLAYS: dict[str, TransferFunction] = {
    "torch.Generator": rng.make,
    "torch.as_tensor": _from_data,
    "torch.asarray": _from_data,
    "torch.device": _device,
    "torch.from_dlpack": _from_data,
    "torch.from_file": _from_cpu,
    "torch.from_numpy": _from_cpu,
    "torch.frombuffer": _from_cpu,
    "torch.manual_seed": rng.default,
    "torch.scalar_tensor": _from_data,
    "torch.set_default_device": _default_device,
    "torch.set_default_tensor_type": _default_type,
    "torch.sparse_bsc_tensor": _compressed,
    "torch.sparse_bsr_tensor": _compressed,
    "torch.sparse_compressed_tensor": _compressed,
    "torch.sparse_coo_tensor": _coo,
    "torch.sparse_csc_tensor": _compressed,
    "torch.sparse_csr_tensor": _compressed,
    "torch.tensor": _from_data,
}
