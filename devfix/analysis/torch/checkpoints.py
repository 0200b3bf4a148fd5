"""Checkpoints: ``torch.save``, ``torch.load`` and safetensors, their ``map_location``, and the uses of the result."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from devfix.analysis import scenarios
from devfix.analysis.domain.objects import Container, HeapObject, object_at
from devfix.analysis.domain.records import dataclass, replace
from devfix.analysis.domain.values import (
    CPU,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Const,
    Device,
    Function,
    IterableOf,
    Keywords,
    Origin,
    Pointer,
    Tensor,
    Text,
    Value,
    alternatives,
)
from devfix.analysis.observations import Loading, LoadUse
from devfix.analysis.observations.execution import CheckpointSaved
from devfix.analysis.stdlib.texts import composed, text_key
from devfix.analysis.transfer.device_arguments import named_device

if TYPE_CHECKING:
    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.protocol import Interpreter

__all__ = [
    "TensorFileObject",
    "copied_file",
    "joined_path",
    "load",
    "load_file",
    "loaded_at",
    "loaded_tensors",
    "note_kept",
    "note_origin_use",
    "note_use",
    "open_file",
    "save",
]


@dataclass(frozen=True)
class TensorFileObject(HeapObject):
    """An open file of tensors; the default item is one of them."""

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method: read a tensor, or list the keys."""
        tensor = self.default_item
        if name in ("get_tensor", "get_slice") and isinstance(tensor, Tensor):
            key = args[0].value if args and isinstance(args[0], Const) else "*"
            origins = tuple(replace(origin, path=(str(key),)) for origin in tensor.origins)
            return replace(tensor, origins=origins, maybe_container=name == "get_slice")
        return IterableOf(Text()) if name in ("keys", "offset_keys") else UNKNOWN


def _key(value: Value) -> str:
    """Return the key of a file or buffer; equal keys identify the same file."""
    return f"#{value.id}" if isinstance(value, Pointer) else text_key(value)


def joined_path(parts: list[Value], node: ast.Call) -> Value:
    """Return the result of ``os.path.join(...)``, identified by its parts."""
    return composed(parts, node)


def copied_file(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``shutil.copy``, ``os.replace``: the copy of a file that the program has saved is such a file, too."""
    if len(args) > 1 and any(_key(option) in interp.now.saved for option in alternatives(args[0])):
        interp.now.saved |= {_key(option) for option in alternatives(args[1])} - {""}
    return UNKNOWN


def save(interp: Interpreter, name: str, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
    """``torch.save``: record the file."""
    target = args[1] if len(args) > 1 else keywords.get("f", UNKNOWN)
    if interp.now.runtime.backends == {None}:  # one of several processes may save its device's tensors for all
        interp.now.saved |= {_key(option) for option in alternatives(target)} - {""}
    interp.observe(CheckpointSaved(args[0] if args else keywords.get("obj", UNKNOWN), node))
    return Const(None)


def load(interp: Interpreter, name: str, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
    """``torch.load``: record the call and its ``map_location``."""
    mapping = args[1] if len(args) > 1 else keywords.get("map_location")
    point = interp.point(node, with_state=True)
    is_mapped = "**" in keywords or keywords.get("map_location", Const(None)) != Const(None)
    is_mapped = is_mapped or _has_map_location(node) or _may_unpack_map_location(point, node)
    loading = interp.observations.loadings.setdefault(
        point.key, Loading(point, node, is_mapped, True, _is_latent(interp))
    )
    loading.is_mapped &= is_mapped
    source = args[0] if args else keywords.get("f", UNKNOWN)
    loading.round_trip &= all(_key(option) in interp.now.saved for option in alternatives(source))
    if not is_mapped:
        return Tensor(
            UNKNOWN_DEVICE, (Origin("load", _number(interp, point.key)),), is_certain=False, maybe_container=True
        )
    return _loaded_tensor(interp, UNKNOWN_DEVICE if mapping is None else _map_device(interp, mapping), point, node)


def _is_latent(interp: Interpreter) -> bool:
    """Return whether a load is none that a program makes: what any caller loads, and from where, is a guess."""
    return interp.latent or interp.observations.is_library


def load_file(interp: Interpreter, name: str, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
    """``safetensors.torch.load_file(filename, device="cpu")``: return a dictionary of tensors."""
    device = args[1] if len(args) > 1 else keywords.get("device", Const("cpu"))
    point = interp.point(node, with_state=True)
    interp.observations.loadings.setdefault(point.key, Loading(point, node, True, latent=_is_latent(interp)))
    return replace(
        _loaded_tensor(interp, named_device(interp, device) or UNKNOWN_DEVICE, point, node), is_certain=True
    )  # it contains tensors only


def open_file(interp: Interpreter, name: str, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
    """``safetensors.safe_open(filename, framework, device="cpu")``: return an open file of tensors."""
    device_value = args[2] if len(args) > 2 else keywords.get("device", Const("cpu"))
    point = interp.point(node, with_state=True)
    interp.observations.loadings.setdefault(point.key, Loading(point, node, True, latent=_is_latent(interp)))
    device = UNKNOWN_DEVICE if "**" in keywords else named_device(interp, device_value) or UNKNOWN_DEVICE
    tensor = replace(_loaded_tensor(interp, device, point, node), is_certain=True)
    return interp.new(TensorFileObject(name, default_item=tensor, allocated_at=point))


def _loaded_tensor(interp: Interpreter, device: Device, point: ProgramPoint, node: ast.Call) -> Tensor:
    scenarios.record_placement(interp, node, device)
    origins = (Origin("load", _number(interp, point.key)),)
    return Tensor(device, origins, is_certain=False, maybe_container=True)


def _map_device(interp: Interpreter, mapping: Value) -> Device:
    """Return the device of ``map_location``; ``lambda storage, location: storage`` maps to the CPU."""
    if not isinstance(mapping, Function):
        named = {named_device(interp, option) or UNKNOWN_DEVICE for option in alternatives(mapping)}
        return named.pop() if len(named) == 1 else UNKNOWN_DEVICE
    if isinstance(mapping.node, ast.Lambda) and mapping.node.args.args:
        body, storage = mapping.node.body, mapping.node.args.args[0].arg
        if isinstance(body, ast.Name) and body.id == storage:
            return CPU
    return UNKNOWN_DEVICE


def _has_map_location(node: ast.Call) -> bool:
    """Return whether a call has a ``map_location``, positional or by keyword.

    A positional literal ``None`` does not count.  A variable that may be ``None`` does: its caller chooses the device.
    """
    if any(isinstance(value, ast.Starred) for value in node.args):
        return True  # the starred argument may contain it
    if any(keyword.arg == "map_location" for keyword in node.keywords):
        return True  # an explicit ``None`` is the author's choice
    positional = node.args[1:2]
    return any(not (isinstance(value, ast.Constant) and value.value is None) for value in positional)


def _may_unpack_map_location(point: ProgramPoint, node: ast.Call) -> bool:
    """Return whether ``**kwargs`` may have a ``map_location``: the function names the key, perhaps on another path."""
    if all(keyword.arg is not None for keyword in node.keywords):
        return False
    return any(
        (isinstance(inner, ast.Constant) and inner.value == "map_location")
        or (isinstance(inner, ast.keyword) and inner.arg == "map_location")
        for inner in ast.walk(point.tree.function(node))
    )


def _number(interp: Interpreter, key: tuple[str, int, int]) -> int:
    return list(interp.observations.loadings).index(key)


def loaded_tensors(interp: Interpreter, value: Value, depth: int = 0) -> Iterator[Tensor]:
    """Yield the results of ``torch.load`` in a value: itself, or the contents of dictionaries and lists."""
    for option in alternatives(value):
        if isinstance(option, Tensor) and any(origin.kind == "load" for origin in option.origins):
            yield option
        elif depth < 3 and (container := object_at(interp, option, Container)) is not None:
            for inner in container.contents:
                yield from loaded_tensors(interp, inner, depth + 1)


def loaded_at(interp: Interpreter, value: Tensor) -> ProgramPoint:
    """Return the ``torch.load`` that a loaded value comes from."""
    number = next(origin.site_id for origin in value.origins if origin.kind == "load")
    return list(interp.observations.loadings.values())[number].point


def note_use(interp: Interpreter, value: Tensor, kind: str, node: ast.AST, on_accelerator: bool) -> None:
    """Record a use of loaded values."""
    for option in alternatives(value):
        assert isinstance(option, Tensor)
        for origin in option.origins:
            note_origin_use(interp, origin, kind, node, on_accelerator, option.device)


def note_kept(interp: Interpreter, values: Iterable[Value], node: ast.AST) -> None:
    """Record that an object takes loaded values for its attributes as they are."""
    for value in values:
        for tensor in loaded_tensors(interp, value):
            note_use(interp, tensor, "kept", node, False)


def note_origin_use(
    interp: Interpreter,
    origin: Origin,
    kind: str,
    node: ast.AST,
    on_accelerator: bool,
    device: Device = UNKNOWN_DEVICE,
) -> None:
    """Record a use of a loaded value, given its origin, and its device if that is known."""
    if origin.kind == "load":
        loading = list(interp.observations.loadings.values())[origin.site_id]
        loading.uses.append(LoadUse(kind, interp.point(node, with_state=True), on_accelerator, device))
