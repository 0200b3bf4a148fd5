"""Data sources: the loops, ``next`` calls and factories that CPU tensors come from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import Pointer
from devfix.analysis.observations import DataSource
from devfix.syntax.tree import position

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["source_key"]

MOST_VISITS = 8


def source_key(interp: Interpreter, kind: str, node: ast.AST, loader: Pointer | None = None) -> int:
    """The key of the batch that ``node`` takes from a loader: one per place in the source."""
    if kind == "made":
        assert interp.activation is not None
        device: tuple[object, ...] = (kind, interp.activation.module.path, *position(node))
    else:
        device = (kind, *_consumer(interp, node))
    keys = interp.observations.source_keys
    if device not in keys:
        keys[device] = len(interp.observations.sources)
        obj = interp.heap_object(loader) if loader is not None else None
        interp.observations.sources.append(
            DataSource(
                kind,
                interp.point(node, with_state=kind == "made" or loader is not None),
                loader,
                obj.get("pinned") if obj else None,
                obj.allocated_at if obj else None,
            )
        )
    if kind == "made":
        _note_visit(interp, keys[device], node)
    return keys[device]


def _note_visit(interp: Interpreter, key: int, node: ast.AST) -> None:
    """Remember the moment at which a value was made: another call may have other arguments."""
    visits = interp.observations.creation_points.setdefault(key, [])
    if not visits:
        visits.append(interp.observations.sources[key].point)
    elif len(visits) < MOST_VISITS and visits[-1].call_frame.activation is not interp.activation:
        way = interp.point(node).call_path
        if all(known.call_path != way for known in visits):
            visits.append(interp.point(node, with_state=True))


def _consumer(interp: Interpreter, node: ast.AST) -> Iterator[object]:
    """The statement that takes the batch; through generators and small helpers, the one that they serve, too."""
    activation, helpers = interp.activation, 0
    while activation is not None:
        stmt = activation.stmt or node
        yield from (activation.module.path, *position(stmt))
        if not activation.yields and not activation.generator:
            if isinstance(stmt, (ast.For, ast.AsyncFor)) or helpers >= 1:
                return
            helpers += 1
        activation = activation.parent
