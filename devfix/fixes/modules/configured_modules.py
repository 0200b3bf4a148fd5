"""Moves of modules that a configuration file constructs: ``hparams["teacher"].to(brain.device)``.

Their construction has no code that could be edited.  The move stands after the statement that constructs the object
with the device, where the configuration is in a variable.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis.domain.location import CallFrame, ConfiguredCall
from devfix.analysis.domain.objects import Mapping
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import ACCELERATOR, DeviceValue, Pointer, Value, alternatives
from devfix.analysis.observations import DeviceMismatch
from devfix.analysis.overlays.framework import FrameworkInstance
from devfix.analysis.scopes import visible
from devfix.fixes.modules.module_roots import RootModule
from devfix.model import Fix, InsertStatement, Where
from devfix.syntax.tree import text_of

__all__ = ["configured_move", "configured_name", "is_configured"]

_DEEPEST = 3


def is_configured(root: RootModule) -> bool:
    """Return whether a configuration file constructs the module."""
    return isinstance(root.allocated_at.node, ConfiguredCall)


def configured_name(mismatch: DeviceMismatch, root: RootModule) -> str:
    """Return how the code that loads the file reads the module; the name of its class if no variable holds it."""
    for call_frame in mismatch.point.call_stack:
        name = next(_entries(mismatch, call_frame, root), None)
        if name is not None:
            return name
    assert isinstance(root.allocated_at.node, ast.Call)
    return text_of(root.allocated_at.node.func)


def configured_move(mismatch: DeviceMismatch, root: RootModule) -> Fix | None:
    """Return the move of the module, or ``None`` if no frame has both the configuration and a device."""
    state = mismatch.point.state
    assert state is not None
    for call_frame in mismatch.point.call_stack:
        entry = next(_entries(mismatch, call_frame, root), None)
        for name, stmt in _placed_objects(state, mismatch, call_frame) if entry is not None else ():
            code = f"{entry}.to({name}.device)"
            tree = call_frame.tree
            return Fix(f"move `{entry}`: `{code}`", (InsertStatement(tree.path, tree.span(stmt), Where.AFTER, code),))
    return None


def _entries(mismatch: DeviceMismatch, call_frame: CallFrame, root: RootModule) -> Iterator[str]:
    """Yield the entries of variables that are the module: ``hparams["teacher"]``."""
    state = mismatch.point.state
    assert state is not None
    for name, value in visible(mismatch.point, call_frame).items():
        yield from _paths(state, name, value, root.id, _DEEPEST)


def _paths(state: State, text: str, value: Value, module: int, depth: int) -> Iterator[str]:
    for option in alternatives(value):
        obj = state.heap_object(option) if isinstance(option, Pointer) and state.has(option.id) else None
        if isinstance(obj, Mapping) and depth:
            for key, inner in obj.fields.items():
                path = f'{text}["{key}"]'
                if any(isinstance(each, Pointer) and each.id == module for each in alternatives(inner)):
                    yield path
                else:
                    yield from _paths(state, path, inner, module, depth - 1)


def _placed_objects(state: State, mismatch: DeviceMismatch, call_frame: CallFrame) -> Iterator[tuple[str, ast.stmt]]:
    """Yield variables with framework objects on the accelerator, each with the statement that constructs it."""
    for name, value in visible(mismatch.point, call_frame).items():
        obj = state.heap_object(value) if isinstance(value, Pointer) and state.has(value.id) else None
        if not isinstance(obj, FrameworkInstance) or obj.allocated_at is None:
            continue
        device, stmt = obj.fields.get("device"), obj.allocated_at.stmt
        is_here = obj.allocated_at.call_frame.activation is call_frame.activation
        if is_here and isinstance(device, DeviceValue) and device.device == ACCELERATOR:
            yield name, stmt
