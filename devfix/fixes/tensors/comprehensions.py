"""Dictionaries and lists of which everything must move: one comprehension where they have a name."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from devfix.analysis import Observations
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import (
    Const,
    External,
    IterableOf,
    Number,
    Pointer,
    Tensor,
    Text,
    TupleValue,
    Value,
    alternatives,
)
from devfix.analysis.move_observations import Transfer
from devfix.analysis.observations import Binding
from devfix.analysis.scopes import value_of
from devfix.fixes.insertion_point import same_function
from devfix.fixes.move_style import Move, style_at
from devfix.fixes.tensors.misplaced_items import MisplacedItem, Placed, bindings_of
from devfix.model import InsertStatement, Where

__all__ = ["containers", "held_value"]


def containers(
    observations: Observations, misplaced: MisplacedItem, siblings: Sequence[Transfer]
) -> list[Placed] | None:
    """A name that holds a dictionary or list of which everything must move: one comprehension."""
    for cut in range(len(misplaced.item) - 1, -1, -1):
        above = replace(misplaced, item=misplaced.item[:cut])
        if any(transfer.origin.path[:cut] == above.item and len(transfer.origin.path) > cut for transfer in siblings):
            return None
        for binding in bindings_of(observations, above):
            code = _comprehension(observations, misplaced, binding, siblings)
            if code is not None:
                where = Where.BODY_START if binding.kind == "target" else Where.AFTER
                tree, anchor = binding.point.tree, binding.point.stmt
                beside = [t for t in siblings if same_function(t.point.call_frame, binding.point.call_frame)]
                if beside and isinstance(beside[-1].point.stmt, ast.Assign):
                    where, anchor = Where.AFTER, beside[-1].point.stmt
                return [Placed(InsertStatement(tree.path, tree.span(anchor), where, code), f"`{binding.name}`")]
    return None


def _comprehension(
    observations: Observations, misplaced: MisplacedItem, binding: Binding, siblings: Sequence[Transfer]
) -> str | None:
    point, name = binding.point, binding.name
    loop = isinstance(point.stmt, (ast.For, ast.AsyncFor))
    if binding.kind not in ("target", "unpack", "assign") or (binding.kind == "target") is not loop:
        return None
    beside = [transfer for transfer in siblings if same_function(transfer.point.call_frame, point.call_frame)]
    style = (Move(beside[-1].point).trailer(), None) if beside else style_at(observations, point, misplaced)
    found = held_value(observations, binding)
    if style is None or style[1] is not None or found is None or not name.isidentifier():
        return None
    value, memory = found
    if isinstance(value, TupleValue):
        held: list[Value] = list(value.items)
        shape = "tuple"
    elif isinstance(value, Pointer) and memory.heap_object(value).kind in ("dict", "list"):
        obj = memory.heap_object(value)
        held = [*obj.fields.values(), *([obj.default_item] if obj.default_item is not None else [])]
        shape = obj.kind
    elif isinstance(value, IterableOf):
        held, shape = [value.element], "list"
    elif isinstance(value, Tensor) and value.maybe_container and _star(misplaced, name):
        held, shape = [], "dict" if _star(misplaced, name) == 2 else "list"
    else:
        return None
    each = [option for item in held for option in alternatives(item)]
    if shape == "list" and each and all(_has_tensors(memory, option) for option in each):
        moved = f"v{style[0]}"
        if not all(_all_tensors(memory, option) for option in each):
            if not _names_torch(observations, point):
                return None
            moved += " if isinstance(v, torch.Tensor) else v"
        item = name[:-1] if name.endswith("s") and len(name) > 2 else "item"
        return f"{name} = [{{k: {moved} for k, v in {item}.items()}} for {item} in {name}]"
    if not all(isinstance(item, Tensor) and item.is_certain for item in held):
        return None
    if shape == "dict":
        return f"{name} = {{k: v{style[0]} for k, v in {name}.items()}}"
    item = name[:-1] if name.endswith("s") and len(name) > 2 else "item"
    return f"{name} = [{item}{style[0]} for {item} in {name}]"


def _has_tensors(memory: State, value: Value) -> bool:
    """Whether a value is a dictionary of tensors, and of what holds none: texts, numbers, lists of them."""
    kept = _dictionary(memory, value)
    plain = all(_is_tensor(item) or _holds_none(memory, item) for item in kept)
    return plain and any(_is_tensor(item) for item in kept)


def _all_tensors(memory: State, value: Value) -> bool:
    """Whether a value is a dictionary of nothing but tensors."""
    kept = _dictionary(memory, value)
    return bool(kept) and all(_is_tensor(item) for item in kept)


def _dictionary(memory: State, value: Value) -> list[Value]:
    """What a dictionary holds; empty for other values."""
    if not isinstance(value, Pointer) or memory.heap_object(value).kind != "dict":
        return []
    obj = memory.heap_object(value)
    return [*obj.fields.values(), *([obj.default_item] if obj.default_item is not None else [])]


def _is_tensor(value: Value) -> bool:
    return all(isinstance(option, Tensor) and option.is_certain for option in alternatives(value))


def _holds_none(memory: State, value: Value) -> bool:
    """Whether a value is known to be no tensor and to hold none."""
    for option in alternatives(value):
        if isinstance(option, (Text, Number, Const)):
            continue
        if isinstance(option, IterableOf) and _holds_none(memory, option.element):
            continue
        if isinstance(option, TupleValue) and all(_holds_none(memory, item) for item in option.items):
            continue
        return False
    return True


def _names_torch(observations: Observations, point: ProgramPoint) -> bool:
    """Whether ``torch`` is PyTorch where the statement will stand."""
    return value_of(point, point.call_frame, ast.Name("torch", ast.Load())) == External("torch")


def held_value(observations: Observations, binding: Binding) -> tuple[Value, State] | None:
    """What the name holds, in the first memory after the binding that knows it, with that memory."""
    later = (other.point for other in observations.bindings if other.point.time > binding.point.time)
    moments = [(point, point.call_frame) for point in later]
    moments += [
        (mismatch.point, call_frame) for mismatch in observations.mismatches for call_frame in mismatch.point.call_stack
    ]
    for point, call_frame in moments:
        if same_function(call_frame, binding.point.call_frame):
            value = value_of(point, call_frame, ast.Name(binding.name, ast.Load()))
            if value is not None and point.state is not None:
                return value, point.state
    return None


def _star(misplaced: MisplacedItem, name: str) -> int | None:
    """1 where some call takes ``*name``, 2 where it takes ``**name``."""
    for mismatch in misplaced.mismatches:
        for call_frame in mismatch.point.call_stack:
            for node in ast.walk(call_frame.stmt):
                if isinstance(node, ast.Starred) and isinstance(node.value, ast.Name) and node.value.id == name:
                    return 1
                if isinstance(node, ast.keyword) and node.arg is None and ast.unparse(node.value) == name:
                    return 2
    return None
