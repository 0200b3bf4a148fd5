"""Data sources: the loops, ``next`` calls and factories that CPU tensors originate from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import Device, Origin, Pointer
from devfix.analysis.observations import DataSource, Transfer
from devfix.syntax.tree import position

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["note_transfer", "source_key"]

_MOST_CREATION_POINTS = 8


def source_key(
    interp: Interpreter, kind: str, node: ast.AST, loader: Pointer | None = None, pinned: bool | None = None
) -> int:
    """Return the ``site_id`` of the values that ``node`` takes from a loader or creates: one per source position.

    ``pinned`` says whether the batches of ``loader`` are in pinned memory.
    """
    if kind == "made":
        assert interp.activation is not None
        position_key: tuple[object, ...] = (kind, interp.activation.module.path, *position(node))
    else:
        position_key = (kind, *_positions(interp, node))
    keys = interp.observations.source_keys
    if position_key not in keys:
        keys[position_key] = len(interp.observations.sources)
        obj = interp.heap_object(loader) if loader is not None else None
        interp.observations.sources.append(
            DataSource(
                kind,
                interp.point(node, with_state=kind == "made" or loader is not None),
                loader,
                pinned,
                obj.allocated_at if obj else None,
            )
        )
    if kind == "made":
        _note_creation(interp, keys[position_key], node)
    return keys[position_key]


def note_transfer(interp: Interpreter, origin: Origin, node: ast.Call, device: Device) -> None:
    """Record a move of a batch item or a created tensor to ``device``, once per call path."""
    if interp.observations.is_new(Transfer, origin, node, device, interp.point(node).call_path):
        interp.observations.transfers.append(Transfer(origin, interp.point(node, with_state=True), node, device.kind))


def _note_creation(interp: Interpreter, key: int, node: ast.AST) -> None:
    """Record the program point of a created value, once per call path: arguments differ between calls."""
    points = interp.observations.creation_points.setdefault(key, [])
    if not points:
        points.append(interp.observations.sources[key].point)
    elif len(points) < _MOST_CREATION_POINTS and points[-1].call_frame.activation is not interp.activation:
        call_path = interp.point(node).call_path
        if all(known.call_path != call_path for known in points):
            points.append(interp.point(node, with_state=True))


def _positions(interp: Interpreter, node: ast.AST) -> Iterator[object]:
    """Yield the position of the statement that gets the batch, and of its callers if it is in a generator or helper."""
    activation, helpers = interp.activation, 0
    while activation is not None:
        stmt = activation.stmt or node
        yield from (activation.module.path, *position(stmt))
        if not activation.yields and not activation.generator:
            if isinstance(stmt, (ast.For, ast.AsyncFor)) or helpers >= 1:
                return
            helpers += 1
        activation = activation.parent
