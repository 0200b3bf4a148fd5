"""Moves inside a dataset or a ``collate_fn``: taken out of there, and made in the loops over its loaders."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.values import (
    ACCELERATOR,
    ClassValue,
    Function,
    HeapObject,
    Pointer,
    Tensor,
    TupleValue,
    Value,
)
from devfix.analysis.move_observations import DeviceAssignment
from devfix.analysis.observations import DataSource, HostAccess
from devfix.analysis.scopes import visible
from devfix.fixes.value_scope import device_for_move
from devfix.model import Edit, InsertStatement, ReplaceExpression, Where
from devfix.syntax.tree import text_of

__all__ = ["moved_in_the_loops"]


def moved_in_the_loops(observations: Observations, use: HostAccess) -> tuple[Edit, ...]:
    """Edits that leave the dataset on the CPU and move each batch; none where some move or loop is of another form."""
    if use.loader is None or use.sample is None:
        return ()
    device_assignments = list(_inside(observations, use.loader))
    taken = [_without(placing) for placing in device_assignments]
    loops = [source for source in observations.sources if source.kind == "batch" and _same_origin(use.loader, source)]
    if not taken or not loops or None in taken:
        return ()
    moved = [_moved(observations, device_assignments[0], source, use.sample) for source in loops]
    if None in moved:
        return ()
    return tuple(edit for edit in dict.fromkeys([*taken, *moved]) if edit is not None)


def _origin(loader: HeapObject) -> list[object]:
    """What makes a loader's batches: the class of its dataset, its ``collate_fn``."""
    made: list[object] = []
    collate = loader.fields.get("collate_fn")
    if isinstance(collate, Function):
        made.append(collate.node)
    return made


def _same_origin(loader: HeapObject, source: DataSource) -> bool:
    if source.loader is None or source.point.state is None or not source.point.state.has(source.loader.id):
        return False
    memory, other = source.point.state, source.point.state.heap_object(source.loader)
    if other.kind != "loader":
        return False
    classes = [
        _class_of(memory.heap_object(held).cls) for held in (_dataset(loader), _dataset(other)) if held is not None
    ]
    return bool(set(_origin(loader)) & set(_origin(other))) or (len(classes) == 2 and classes[0] is classes[1])


def _dataset(loader: HeapObject) -> Pointer | None:
    held = loader.fields.get("dataset")
    return held if isinstance(held, Pointer) else None


def _class_of(cls: ClassValue | None) -> ast.AST | None:
    return cls.node if cls is not None else None


def _inside(observations: Observations, loader: HeapObject) -> Iterator[DeviceAssignment]:
    """Moves to the accelerator that a step over the loader makes, in ``__getitem__`` or the ``collate_fn``."""
    collates = _origin(loader)
    for devices in observations.device_assignments.values():
        placing = devices.get(ACCELERATOR)
        if placing is None or placing.latent:
            continue
        functions = [call_frame.activation.node for call_frame in placing.point.call_stack]
        if any(node in collates or getattr(node, "name", "") == "__getitem__" for node in functions):
            yield placing


def _without(placing: DeviceAssignment) -> Edit | None:
    """``x.to(device)`` becomes ``x``."""
    call, tree = placing.call, placing.point.tree
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("to", "cuda"):
        return None
    if len(call.args) > 1 or any(keyword.arg not in ("device", "non_blocking") for keyword in call.keywords):
        return None
    return ReplaceExpression(tree.path, tree.span(call), tree.source(call.func.value))


def _moved(
    observations: Observations, placing: DeviceAssignment, source: DataSource, sample: Value | HeapObject
) -> Edit | None:
    """``x, y = x.to(device), y.to(device)`` first thing in a loop that names the parts of its batches."""
    loop = source.point.stmt
    if not isinstance(loop, (ast.For, ast.AsyncFor)):
        return None
    target: ast.expr = loop.target
    if isinstance(loop.iter, ast.Call) and text_of(loop.iter.func) == "enumerate" and isinstance(target, ast.Tuple):
        target = target.elts[-1]
    trailer = _trailer(observations, placing, source)
    code = _entries(target, sample, trailer) if isinstance(sample, HeapObject) else _parts(target, sample, trailer)
    if trailer is None or code is None:
        return None
    return InsertStatement(source.point.tree.path, source.point.tree.span(loop), Where.BODY_START, code)


def _trailer(observations: Observations, placing: DeviceAssignment, source: DataSource) -> str | None:
    """``.to(device)`` as the loop would say it."""
    said = placing.call.args[0] if placing.call.args else None
    like = ast.unparse(said) if said is not None else None
    device = device_for_move(observations, source.point, source.point.call_frame, like)
    if device is not None:
        return f".to({device})"
    return ".cuda()" if said is None and "torch" in visible(source.point, source.point.call_frame) else None


def _parts(target: ast.expr, sample: Value, trailer: str | None) -> str | None:
    names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    parts = sample.items if isinstance(sample, TupleValue) else (sample,)
    if len(names) != len(parts) or not all(isinstance(name, ast.Name) for name in names):
        return None
    there = [text_of(name) for name, part in zip(names, parts, strict=True) if _is_there(part)]
    return f"{', '.join(there)} = {', '.join(f'{name}{trailer}' for name in there)}" if there else None


def _entries(target: ast.expr, sample: HeapObject, trailer: str | None) -> str | None:
    """``batch = {key: value.to(device) ...}``, or one line for each entry where not all are tensors of the device."""
    there = [key for key, value in sample.fields.items() if _is_there(value)]
    if not isinstance(target, ast.Name) or not there:
        return None
    name = target.id
    if len(there) == len(sample.fields) and len(there) > 1:
        return f"{name} = {{key: value{trailer} for key, value in {name}.items()}}"
    return "\n".join(f'{name}["{key}"] = {name}["{key}"]{trailer}' for key in there)


def _is_there(value: Value) -> bool:
    return isinstance(value, Tensor) and value.device == ACCELERATOR
