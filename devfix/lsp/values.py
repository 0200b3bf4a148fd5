"""The device of the value under the cursor, as the analysis sees it on every visit.

A device is shown only if every visit knows it.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from typing import NamedTuple

from devfix import analysis
from devfix.analysis.domain.objects import module_at
from devfix.analysis.domain.values import ACCELERATOR, CPU, Device, DeviceValue, Pointer, Tensor, Value, alternatives
from devfix.analysis.torch import module_tree
from devfix.engine.workspace import Workspace
from devfix.models.index import using
from devfix.syntax.tree import SourceTree, text_of

__all__ = ["Sighting", "Sightings"]

_Where = tuple[int, int, int, int]


class Sighting(NamedTuple):
    """A value at one visit.

    ``kind``: ``tensor``, ``batch`` (an item of a loader), ``module`` or ``device``; ``devices`` are its alternatives,
    ``moved`` is the last move of a module: file, line, and device expression.
    """

    kind: str
    devices: frozenset[Device]
    moved: tuple[str, int, str] | None = None


class Sightings:
    """The values of names and attributes of one file in the programs that read it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._seen: dict[_Where, list[Sighting | None]] = {}
        self._alone: dict[_Where, list[Sighting | None]] = {}  # code that no program reaches: any caller
        self._tree: SourceTree | None = None
        self.complete = True

    def look(self, space: Workspace, entry: str, still_wanted: Callable[[], None]) -> None:
        """Analyse the program that starts at ``entry``, and in that file also unreached functions."""

        def watch(interp: analysis.Interpreter, node: ast.expr, value: Value) -> None:
            if isinstance(node, (ast.Name, ast.Attribute)) and interp.activation is not None:
                tree = interp.activation.module.tree
                if tree.path == self.path and not (interp.scenario.no_accelerator or interp.scenario.multi_accelerator):
                    self._tree = tree
                    self._note(interp, node, value)
                    return
            if not interp.steps % 64:
                still_wanted()

        common = space.settings.device, space.parse, watch
        with using(space.models):
            observations = analysis.analyse(entry, space.text, space.root(entry), *common)
            if entry == self.path and observations is not None:
                analysis.analyse_library(entry, space.text, space.root(entry), observations.reached, *common)
        self.complete &= observations is not None and observations.is_complete

    def _note(self, interp: analysis.Interpreter, node: ast.expr, value: Value) -> None:
        known = (self._alone if interp.observations.is_library else self._seen).setdefault(_where(node), [])
        sighting = _sighting(interp, value)
        if sighting not in known:
            known.append(sighting)

    def at(self, line: int, column: int) -> tuple[str, str] | None:
        """Return the name at a position (line from 1, code points from 0) and a sentence on it; ``None`` if unknown."""
        if self._tree is None or not self.complete:
            return None
        for node in ast.walk(self._tree.tree):
            if isinstance(node, (ast.Name, ast.Attribute)) and self._covers(node, line, column):
                where = _where(node)
                told = self._told(self._seen.get(where) or self._alone.get(where, []))
                return (text_of(node), told) if told else None
        return None

    def _covers(self, node: ast.Name | ast.Attribute, line: int, column: int) -> bool:
        """Return whether a position is on the name itself: for ``model.head``, on the last part."""
        assert self._tree is not None
        span = self._tree.span(node)
        name = node.id if isinstance(node, ast.Name) else node.attr
        return span.end_line == line and span.end_column - len(name) <= column <= span.end_column

    def _told(self, sightings: list[Sighting | None]) -> str:
        known = [each for each in sightings if each is not None]
        if not known or len(known) < len(sightings) or len({each.kind for each in known}) > 1:
            return ""
        devices = frozenset[Device]().union(*(each.devices for each in known))
        if not devices <= {CPU, ACCELERATOR}:
            return ""
        if len(devices) == 2:
            where = "cpu or accelerator, depending on the path"
        else:
            where = "accelerator" if ACCELERATOR in devices else "cpu"
        kind = known[0].kind
        if kind == "module" and len(devices) == 1:
            return f"module on {where}{self._history(known)}"
        if kind == "device":
            return f"device: {where}"
        return f"tensors on {where} (what the loader yields)" if kind == "batch" else f"{kind} on {where}"

    def _history(self, known: list[Sighting]) -> str:
        """Return the device expression of a module and the line of its move, if all visits agree."""
        moved = known[0].moved
        if moved is None or len({each.moved for each in known}) != 1:
            return ""
        path, line, device = moved
        at = f"line {line}" if path == self.path else f"{os.path.basename(path)}:{line}"
        return (f" (`{device}`)" if device else "") + f", moved at {at}"


def _where(node: ast.expr) -> _Where:
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


def _sighting(interp: analysis.Interpreter, value: Value) -> Sighting | None:
    """Return the abstract value as a sighting; ``None`` if it has no device or is ambiguous."""
    found = [_of_one(interp, option) for option in alternatives(value)]
    known = [each for each in found if each is not None]
    if len(known) < len(found) or len({each.kind for each in known}) != 1:
        return None
    devices = frozenset[Device]().union(*(each.devices for each in known))
    return known[0]._replace(devices=devices) if all(device.known for device in devices) else None


def _of_one(interp: analysis.Interpreter, value: Value) -> Sighting | None:
    if isinstance(value, Tensor):
        if not value.is_certain or value.maybe_container:
            from_loader = any(origin.kind == "batch" for origin in value.origins)
            return Sighting("batch", frozenset({value.device})) if from_loader else None
        return Sighting("tensor", frozenset({value.device}))
    if isinstance(value, DeviceValue):
        return Sighting("device", frozenset({value.device}))
    if isinstance(value, Pointer) and module_at(interp, value) is not None:
        return _of_module(interp, value)
    return None


def _of_module(interp: analysis.Interpreter, ref: Pointer) -> Sighting | None:
    found = [module_at(interp, part) for _, part in module_tree.named_modules(interp, ref)]
    parts = [part for part in found if part is not None]
    if any(part.is_opaque and not part.devices for part in parts):
        return None
    record_placement = [part.devices for part in parts if part.weights]
    devices = frozenset[Device]().union(*record_placement)
    point = interp.heap_object(ref).last_moved_at
    moved = (point.tree.path, point.span.line, _device_of(point.node)) if point is not None else None
    return Sighting("module", devices, moved) if devices else None


def _device_of(node: ast.AST) -> str:
    """Return the device expression of ``model.to(device)``."""
    if isinstance(node, ast.Call):
        given = [*(keyword.value for keyword in node.keywords if keyword.arg == "device"), *node.args[:1]]
        return text_of(given[0]) if given else ""
    return ""
