"""Moves inside a dataset or ``collate_fn``: removed there, and added to the loops over the loaders."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.objects import HeapObject
from devfix.analysis.domain.values import (
    ACCELERATOR,
    ClassValue,
    Function,
    Pointer,
    Tensor,
    TupleValue,
    Value,
)
from devfix.analysis.observations import DataSource, DeviceAssignment, HostAccess
from devfix.analysis.scopes import visible
from devfix.analysis.torch.data import LoaderObject
from devfix.fixes.value_scope import device_for_move
from devfix.model import Edit, InsertStatement, ReplaceExpression, Where
from devfix.syntax.tree import text_of

__all__ = ["move_batches_in_loops"]


def move_batches_in_loops(observations: Observations, use: HostAccess) -> tuple[Edit, ...]:
    """Return edits that keep the dataset on the CPU and move each batch; empty if a move or loop has another form."""
    if use.loader is None or use.sample is None:
        return ()
    assignments = list(_moves_in_loader(observations, use.loader))
    removed = [_remove_move(assignment) for assignment in assignments]
    loops = [
        source for source in observations.sources if source.kind == "batch" and _is_same_loader(use.loader, source)
    ]
    if not removed or not loops or None in removed:
        return ()
    added = [_move_in_loop(observations, assignments[0], source, use.sample) for source in loops]
    if None in added:
        return ()
    return tuple(edit for edit in dict.fromkeys([*removed, *added]) if edit is not None)


def _collate_function(loader: HeapObject) -> list[object]:
    """Return the ``collate_fn`` of a loader, as a list."""
    functions: list[object] = []
    collate = loader.fields.get("collate_fn")
    if isinstance(collate, Function):
        functions.append(collate.node)
    return functions


def _is_same_loader(loader: HeapObject, source: DataSource) -> bool:
    if source.loader is None or source.point.state is None or not source.point.state.has(source.loader.id):
        return False
    state, other = source.point.state, source.point.state.heap_object(source.loader)
    if not isinstance(other, LoaderObject):
        return False
    classes = [
        _class_of(state.heap_object(dataset).cls)
        for dataset in (_dataset(loader), _dataset(other))
        if dataset is not None
    ]
    return bool(set(_collate_function(loader)) & set(_collate_function(other))) or (
        len(classes) == 2 and classes[0] is classes[1]
    )


def _dataset(loader: HeapObject) -> Pointer | None:
    dataset = loader.fields.get("dataset")
    return dataset if isinstance(dataset, Pointer) else None


def _class_of(cls: ClassValue | None) -> ast.AST | None:
    return cls.node if cls is not None else None


def _moves_in_loader(observations: Observations, loader: HeapObject) -> Iterator[DeviceAssignment]:
    """Yield the moves to the accelerator in ``__getitem__`` or the ``collate_fn`` of the loader."""
    collates = _collate_function(loader)
    for devices in observations.device_assignments.values():
        assignment = devices.get(ACCELERATOR)
        if assignment is None or assignment.latent:
            continue
        functions = [call_frame.activation.node for call_frame in assignment.point.call_stack]
        if any(node in collates or getattr(node, "name", "") == "__getitem__" for node in functions):
            yield assignment


def _remove_move(assignment: DeviceAssignment) -> Edit | None:
    """Return the edit that replaces ``x.to(device)`` by ``x``."""
    call, tree = assignment.call, assignment.point.tree
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("to", "cuda"):
        return None
    if len(call.args) > 1 or any(keyword.arg not in ("device", "non_blocking") for keyword in call.keywords):
        return None
    return ReplaceExpression(tree.path, tree.span(call), tree.source(call.func.value))


def _move_in_loop(
    observations: Observations, assignment: DeviceAssignment, source: DataSource, sample: Value | HeapObject
) -> Edit | None:
    """Return ``x, y = x.to(device), y.to(device)`` at the start of a loop that unpacks its batches."""
    loop = source.point.stmt
    if not isinstance(loop, (ast.For, ast.AsyncFor)):
        return None
    target: ast.expr = loop.target
    if isinstance(loop.iter, ast.Call) and text_of(loop.iter.func) == "enumerate" and isinstance(target, ast.Tuple):
        target = target.elts[-1]
    trailer = _trailer(observations, assignment, source)
    code = (
        _move_entries(target, sample, trailer)
        if isinstance(sample, HeapObject)
        else _move_elements(target, sample, trailer)
    )
    if trailer is None or code is None:
        return None
    return InsertStatement(source.point.tree.path, source.point.tree.span(loop), Where.BODY_START, code)


def _trailer(observations: Observations, assignment: DeviceAssignment, source: DataSource) -> str | None:
    """Return the move in the loop's own terms: ``.to(device)`` or ``.cuda()``."""
    device_argument = assignment.call.args[0] if assignment.call.args else None
    like = ast.unparse(device_argument) if device_argument is not None else None
    device = device_for_move(observations, source.point, source.point.call_frame, like)
    if device is not None:
        return f".to({device})"
    return ".cuda()" if device_argument is None and "torch" in visible(source.point, source.point.call_frame) else None


def _move_elements(target: ast.expr, sample: Value, trailer: str | None) -> str | None:
    names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    parts = sample.items if isinstance(sample, TupleValue) else (sample,)
    if len(names) != len(parts) or not all(isinstance(name, ast.Name) for name in names):
        return None
    on_accelerator = [text_of(name) for name, part in zip(names, parts, strict=True) if _is_on_accelerator(part)]
    return (
        f"{', '.join(on_accelerator)} = {', '.join(f'{name}{trailer}' for name in on_accelerator)}"
        if on_accelerator
        else None
    )


def _move_entries(target: ast.expr, sample: HeapObject, trailer: str | None) -> str | None:
    """Return a comprehension over the batch's entries, or one line per entry if some are not on the accelerator."""
    on_accelerator = [key for key, value in sample.fields.items() if _is_on_accelerator(value)]
    if not isinstance(target, ast.Name) or not on_accelerator:
        return None
    name = target.id
    if len(on_accelerator) == len(sample.fields) and len(on_accelerator) > 1:
        return f"{name} = {{key: value{trailer} for key, value in {name}.items()}}"
    return "\n".join(f'{name}["{key}"] = {name}["{key}"]{trailer}' for key in on_accelerator)


def _is_on_accelerator(value: Value) -> bool:
    return isinstance(value, Tensor) and value.device == ACCELERATOR
