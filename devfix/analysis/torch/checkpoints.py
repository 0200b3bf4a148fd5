"""``torch.save`` and ``torch.load``: where a checkpoint is mapped, and where it goes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis import scenarios
from devfix.analysis.domain.values import (
    CPU,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Const,
    Device,
    Function,
    HeapObject,
    IterableOf,
    Origin,
    Pointer,
    Tensor,
    Text,
    Unknown,
    Value,
    alternatives,
)
from devfix.analysis.observations import Loading, LoadUse
from devfix.analysis.transfer.device_arguments import named_device

if TYPE_CHECKING:
    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.protocol import Interpreter

__all__ = [
    "joined_path",
    "load",
    "load_file",
    "loaded_in",
    "note_birth",
    "note_use",
    "of_file",
    "open_file",
    "save",
]


def _key(value: Value) -> str:
    """What identifies a file or buffer: equal keys name the same one in one run."""
    match value:
        case Const(constant):
            return repr(constant)
        case Text(symbol) | Unknown(symbol):
            return symbol
        case Pointer(number):
            return f"#{number}"
    return ""


def joined_path(parts: list[Value]) -> Value:
    """``os.path.join(...)``: known by its parts."""
    keys = [_key(part) for part in parts]
    return Text(f"join({', '.join(keys)})" if all(keys) else "")


def save(interp: Interpreter, name: str, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
    """``torch.save``."""
    target = args[1] if len(args) > 1 else keywords.get("f", UNKNOWN)
    if interp.backend is None:  # of several processes, one may have saved it from its own device for all
        interp.now.saved |= {_key(option) for option in alternatives(target)} - {""}
    for option in alternatives(args[0] if args else keywords.get("obj", UNKNOWN)):
        if isinstance(option, Pointer) and interp.heap_object(option).kind == "dict":
            for key, value in interp.heap_object(option).fields.items():
                interp.observations.saved_entries[key] = interp.observations.saved_entries.get(key, True) and _has_dimensions(value)
    return Const(None)


def _has_dimensions(value: Value) -> bool:
    """Whether an entry is a tensor with dimensions, but for what an earlier run has saved there."""
    made = [option for option in alternatives(value) if not (isinstance(option, Tensor) and _is_loaded(option))]
    return bool(made) and all(
        isinstance(o, Tensor) and o.is_certain and not (o.maybe_container or o.maybe_zero_dim) for o in made
    )


def _is_loaded(value: Tensor) -> bool:
    return any(origin.kind == "load" for origin in value.origins)


def load(interp: Interpreter, name: str, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
    """``torch.load``."""
    mapping = args[1] if len(args) > 1 else keywords.get("map_location")
    mapped = "**" in keywords or keywords.get("map_location", Const(None)) != Const(None) or _is_given(node)
    point = interp.point(node, with_state=True)
    loading = interp.observations.loadings.setdefault(point.key, Loading(point, node, mapped, True, interp.latent))
    loading.is_mapped &= mapped
    source = args[0] if args else keywords.get("f", UNKNOWN)
    loading.round_trip &= all(_key(option) in interp.now.saved for option in alternatives(source))
    if not mapped:
        return Tensor(
            UNKNOWN_DEVICE, (Origin("load", _number(interp, point.key)),), is_certain=False, maybe_container=True
        )
    return _placed_at(interp, UNKNOWN_DEVICE if mapping is None else _mapped_to(interp, mapping), point, node)


def load_file(interp: Interpreter, name: str, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
    """``safetensors.torch.load_file(filename, device="cpu")``: a dictionary of tensors, on the CPU unless told."""
    device = args[1] if len(args) > 1 else keywords.get("device", Const("cpu"))
    point = interp.point(node, with_state=True)
    interp.observations.loadings.setdefault(point.key, Loading(point, node, True, latent=interp.latent))
    return replace(
        _placed_at(interp, named_device(interp, device) or UNKNOWN_DEVICE, point, node), is_certain=True
    )  # it holds tensors only


def open_file(interp: Interpreter, name: str, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
    """``safetensors.safe_open(filename, framework, device="cpu")``: a file that gives tensors by their keys."""
    device_value = args[2] if len(args) > 2 else keywords.get("device", Const("cpu"))
    point = interp.point(node, with_state=True)
    interp.observations.loadings.setdefault(point.key, Loading(point, node, True, latent=interp.latent))
    device = UNKNOWN_DEVICE if "**" in keywords else named_device(interp, device_value) or UNKNOWN_DEVICE
    held = replace(_placed_at(interp, device, point, node), is_certain=True)
    return interp.new(HeapObject("tensor-file", name, default_item=held, allocated_at=point))


def of_file(interp: Interpreter, pointer: Pointer, name: str, args: list[Value]) -> Value:
    """A method of an open file of tensors."""
    held = interp.heap_object(pointer).default_item
    if name in ("get_tensor", "get_slice") and isinstance(held, Tensor):
        key = args[0].value if args and isinstance(args[0], Const) else "*"
        origins = tuple(replace(origin, path=(str(key),)) for origin in held.origins)
        return replace(held, origins=origins, maybe_container=name == "get_slice")
    return IterableOf(Text()) if name in ("keys", "offset_keys") else UNKNOWN


def _placed_at(interp: Interpreter, device: Device, point: ProgramPoint, node: ast.Call) -> Tensor:
    scenarios.record_placement(interp, node, device)
    origins = (Origin("load", _number(interp, point.key)),) if device == CPU else ()
    return Tensor(device, origins, is_certain=False, maybe_container=True)


def _mapped_to(interp: Interpreter, mapping: Value) -> Device:
    """Where ``map_location`` sends what is loaded; ``lambda storage, location: storage`` leaves it on the CPU."""
    if not isinstance(mapping, Function):
        return named_device(interp, mapping) or UNKNOWN_DEVICE
    if isinstance(mapping.node, ast.Lambda) and mapping.node.args.args:
        body, storage = mapping.node.body, mapping.node.args.args[0].arg
        if isinstance(body, ast.Name) and body.id == storage:
            return CPU
    return UNKNOWN_DEVICE


def _is_given(node: ast.Call) -> bool:
    """Whether the call says where to: anything but a literal ``None`` (a parameter that may be ``None`` is the
    caller's word).
    """
    if any(isinstance(value, ast.Starred) for value in node.args):
        return True  # what is passed on may hold it
    if any(keyword.arg == "map_location" for keyword in node.keywords):
        return True  # also an explicit ``None``: the author has thought of it
    given = node.args[1:2]
    return any(not (isinstance(value, ast.Constant) and value.value is None) for value in given)


def _number(interp: Interpreter, key: tuple[str, int, int]) -> int:
    return list(interp.observations.loadings).index(key)


def loaded_in(interp: Interpreter, value: Value, depth: int = 0) -> Iterator[Tensor]:
    """What came from ``torch.load`` in a value: itself, or what a dictionary or list of it holds."""
    for option in alternatives(value):
        if isinstance(option, Tensor) and any(origin.kind == "load" for origin in option.origins):
            yield option
        elif isinstance(option, Pointer) and depth < 3 and interp.heap_object(option).kind in ("dict", "list"):
            obj = interp.heap_object(option)
            for inner in obj.contents:
                yield from loaded_in(interp, inner, depth + 1)


def note_use(interp: Interpreter, value: Tensor, kind: str, node: ast.AST, on_accelerator: bool) -> None:
    """Something loaded without ``map_location`` is used."""
    for option in alternatives(value):
        assert isinstance(option, Tensor)
        for origin in option.origins:
            note_birth(interp, origin, kind, node, on_accelerator)


def note_birth(interp: Interpreter, origin: Origin, kind: str, node: ast.AST, on_accelerator: bool) -> None:
    """The same, for one origin."""
    if origin.kind == "load":
        loading = list(interp.observations.loadings.values())[origin.site_id]
        loading.uses.append(LoadUse(kind, interp.point(node, with_state=True), on_accelerator))
