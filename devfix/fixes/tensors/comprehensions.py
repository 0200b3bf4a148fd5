"""Dictionaries and lists whose elements must all move: one comprehension at their name."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from devfix.analysis import Observations
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.objects import Container, Mapping, object_at
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import (
    Const,
    External,
    IterableOf,
    Number,
    Tensor,
    Text,
    TupleValue,
    Value,
    alternatives,
)
from devfix.analysis.observations import Binding, Transfer
from devfix.analysis.scopes import value_of
from devfix.fixes.insertion_point import same_function
from devfix.fixes.move_style import Move, style_at
from devfix.fixes.tensors.misplaced_items import MisplacedItem, PlannedEdit, bindings_of
from devfix.model import InsertStatement, Where

__all__ = ["move_container", "value_of_binding"]


def move_container(
    observations: Observations, misplaced: MisplacedItem, siblings: Sequence[Transfer]
) -> list[PlannedEdit] | None:
    """Return a comprehension for the name of a container whose elements must all move; ``None`` if there is none."""
    for cut in range(len(misplaced.path) - 1, -1, -1):
        container = replace(misplaced, path=misplaced.path[:cut])
        if any(
            transfer.origin.path[:cut] == container.path and len(transfer.origin.path) > cut for transfer in siblings
        ):
            return None
        for binding in bindings_of(observations, container):
            code = _comprehension(observations, misplaced, binding, siblings)
            if code is not None:
                where = Where.BODY_START if binding.kind == "target" else Where.AFTER
                tree, anchor = binding.point.tree, binding.point.stmt
                sibling_moves = [t for t in siblings if same_function(t.point.call_frame, binding.point.call_frame)]
                if sibling_moves and isinstance(sibling_moves[-1].point.stmt, ast.Assign):
                    where, anchor = Where.AFTER, sibling_moves[-1].point.stmt
                return [PlannedEdit(InsertStatement(tree.path, tree.span(anchor), where, code), f"`{binding.name}`")]
    return None


def _comprehension(
    observations: Observations, misplaced: MisplacedItem, binding: Binding, siblings: Sequence[Transfer]
) -> str | None:
    point, name = binding.point, binding.name
    loop = isinstance(point.stmt, (ast.For, ast.AsyncFor))
    if binding.kind not in ("target", "unpack", "assign") or (binding.kind == "target") is not loop:
        return None
    sibling_moves = [transfer for transfer in siblings if same_function(transfer.point.call_frame, point.call_frame)]
    style = (
        (Move(sibling_moves[-1].point).trailer(), None) if sibling_moves else style_at(observations, point, misplaced)
    )
    found = value_of_binding(observations, binding)
    if style is None or style[1] is not None or found is None or not name.isidentifier():
        return None
    value, state = found
    container = object_at(state, value, Container)
    if isinstance(value, TupleValue):
        elements: list[Value] = list(value.items)
        shape = "tuple"
    elif container is not None:
        elements, shape = container.contents, container.builtin
    elif isinstance(value, IterableOf):
        elements, shape = [value.element], "list"
    elif isinstance(value, Tensor) and value.maybe_container and _unpacking_stars(misplaced, name):
        elements, shape = [], "dict" if _unpacking_stars(misplaced, name) == 2 else "list"
    else:
        return None
    each = [option for item in elements for option in alternatives(item)]
    if shape == "list" and each and all(_has_tensors(state, option) for option in each):
        moved = f"v{style[0]}"
        if not all(_all_tensors(state, option) for option in each):
            if not _is_torch_in_scope(observations, point):
                return None
            moved += " if isinstance(v, torch.Tensor) else v"
        item = name[:-1] if name.endswith("s") and len(name) > 2 else "item"
        return f"{name} = [{{k: {moved} for k, v in {item}.items()}} for {item} in {name}]"
    if not all(isinstance(item, Tensor) and item.is_certain for item in elements):
        return None
    if shape == "dict":
        return f"{name} = {{k: v{style[0]} for k, v in {name}.items()}}"
    item = name[:-1] if name.endswith("s") and len(name) > 2 else "item"
    return f"{name} = [{item}{style[0]} for {item} in {name}]"


def _has_tensors(state: State, value: Value) -> bool:
    """Whether a value is a dictionary of tensors and of values without tensors: text, numbers, lists of them."""
    values = _dictionary_values(state, value)
    plain = all(_is_tensor(item) or _is_tensor_free(state, item) for item in values)
    return plain and any(_is_tensor(item) for item in values)


def _all_tensors(state: State, value: Value) -> bool:
    """Whether a value is a dictionary that holds only tensors."""
    values = _dictionary_values(state, value)
    return bool(values) and all(_is_tensor(item) for item in values)


def _dictionary_values(state: State, value: Value) -> list[Value]:
    """Return the values of a dictionary; empty for other values."""
    mapping = object_at(state, value, Mapping)
    return mapping.contents if mapping is not None else []


def _is_tensor(value: Value) -> bool:
    return all(isinstance(option, Tensor) and option.is_certain for option in alternatives(value))


def _is_tensor_free(state: State, value: Value) -> bool:
    """Whether a value is known to contain no tensor."""
    for option in alternatives(value):
        if isinstance(option, (Text, Number, Const)):
            continue
        if isinstance(option, IterableOf) and _is_tensor_free(state, option.element):
            continue
        if isinstance(option, TupleValue) and all(_is_tensor_free(state, item) for item in option.items):
            continue
        return False
    return True


def _is_torch_in_scope(observations: Observations, point: ProgramPoint) -> bool:
    """Whether ``torch`` is PyTorch in the scope of the statement."""
    return value_of(point, point.call_frame, ast.Name("torch", ast.Load())) == External("torch")


def value_of_binding(observations: Observations, binding: Binding) -> tuple[Value, State] | None:
    """Return the value of a bound name, and the first state after the binding that contains it."""
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


def _unpacking_stars(misplaced: MisplacedItem, name: str) -> int | None:
    """Return 1 if a call takes ``*name``, 2 if it takes ``**name``, else ``None``."""
    for mismatch in misplaced.mismatches:
        for call_frame in mismatch.point.call_stack:
            for node in ast.walk(call_frame.stmt):
                if isinstance(node, ast.Starred) and isinstance(node.value, ast.Name) and node.value.id == name:
                    return 1
                if isinstance(node, ast.keyword) and node.arg is None and ast.unparse(node.value) == name:
                    return 2
    return None
