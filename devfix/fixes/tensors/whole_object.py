"""Moves of objects with their own ``.to()``, such as graphs and encodings, at the name they are bound to."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from devfix.analysis import Observations
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.values import Pointer
from devfix.analysis.observations import Binding
from devfix.analysis.torch.batch_objects import BatchObject
from devfix.fixes.insertion_point import inside_module, same_function
from devfix.fixes.move_style import device_for_batch
from devfix.fixes.reorder import common_block
from devfix.fixes.tensors.comprehensions import value_of_binding
from devfix.fixes.tensors.misplaced_items import MisplacedItem, bindings_of
from devfix.model import AppendCode, Edit, Fix, InsertStatement, Where

__all__ = ["whole_object_fixes"]


def whole_object_fixes(observations: Observations, misplaced_items: Sequence[MisplacedItem]) -> Iterator[Fix]:
    """Yield one move for each batch object that contains the items; nothing if an item belongs to none."""
    edits: dict[Edit, str] = {}
    for misplaced in misplaced_items:
        found = next(
            (
                pair
                for binding in _holders(observations, misplaced)
                for pair in _moves(observations, misplaced, binding)
            ),
            None,
        )
        if found is None:
            return
        edits[found[0]] = found[1]
    if edits:
        yield Fix("move " + ", ".join(f"`{name}`" for name in dict.fromkeys(edits.values())), tuple(edits))


def _holders(observations: Observations, misplaced: MisplacedItem) -> Iterator[Binding]:
    """Yield the bindings of the batch object outside modules."""
    for cut in range(len(misplaced.path), -1, -1):
        for binding in bindings_of(
            observations, MisplacedItem(misplaced.site_id, misplaced.path[:cut], misplaced.mismatches, misplaced.texts)
        ):
            if not inside_module(binding.point.call_frame) and _is_batch_object(observations, binding):
                yield binding


def _is_batch_object(observations: Observations, binding: Binding) -> bool:
    if observations.sources[binding.origin.site_id].kind == "encoding" and not binding.origin.path:
        return True
    found = value_of_binding(observations, binding)
    if found is None:
        return False
    value, state = found
    return isinstance(value, Pointer) and state.has(value.id) and isinstance(state.heap_object(value), BatchObject)


def _moves(observations: Observations, misplaced: MisplacedItem, binding: Binding) -> Iterator[tuple[Edit, str]]:
    point, name = binding.point, binding.name
    tree, statement = point.tree, point.stmt
    device = device_for_batch(observations, point, misplaced)
    if device is not None and isinstance(binding.value, (ast.Call, ast.Subscript)):
        yield AppendCode(tree.path, tree.span(binding.value), f".to({device})"), name
    elif device is not None and name.isidentifier():
        loop = binding.kind == "target" and isinstance(statement, (ast.For, ast.AsyncFor))
        if loop or isinstance(statement, (ast.Assign, ast.AnnAssign)):
            where = Where.BODY_START if loop else Where.AFTER
            yield InsertStatement(tree.path, tree.span(statement), where, f"{name} = {name}.to({device})"), name
    moved = _later_move(observations, misplaced, point)
    later_device = device_for_batch(observations, moved, misplaced) if moved is not None else None
    if device is None and moved is not None and later_device is not None and name.isidentifier():
        span = tree.span(moved.stmt)
        yield InsertStatement(tree.path, span, Where.AFTER, f"{name} = {name}.to({later_device})"), name


def _later_move(observations: Observations, misplaced: MisplacedItem, point: ProgramPoint) -> ProgramPoint | None:
    """Return a move of a module after the object's binding, in the same block and before its use."""
    for move in observations.moves:
        if same_function(move.call_frame, point.call_frame) and move.time < misplaced.mismatches[0].point.time:
            found = common_block(point.tree, point.stmt, move.stmt)
            if found is not None and found[1] < found[2] and found[0][found[2]] is move.stmt:
                return move
    return None
