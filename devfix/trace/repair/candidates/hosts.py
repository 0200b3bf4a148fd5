"""Candidates for values that an operation requires on the CPU."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.model import ReplaceExpression
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.repair.candidates._candidate import Candidate, SourceLocation, append_move, locations_of
from devfix.trace.repair.candidates.tensors import at_uses
from devfix.trace.repair.edited_sources import EditedSources

__all__ = ["cpu_moves"]


def cpu_moves(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[Candidate]:
    """Yield ``.cpu()`` on the operand, before the method that calls NumPy, or at the value's origin."""
    suffixes = (".cpu()",) if diagnosis.misplaced.is_leaf else (".detach().cpu()", ".cpu()")
    for position in diagnosis.failure.frames[:2]:
        found = edited.node_at(position)
        if found is not None:
            yield from _before_numpy(SourceLocation(*found, position), suffixes)
    yield from _undo_argument_move(diagnosis, edited)
    yield from at_uses(diagnosis, edited, suffixes)
    for event in reversed(diagnosis.misplaced.device_history()):
        for location in locations_of(event, edited):
            if isinstance(location.node, ast.expr) and location.value_is_used:
                yield from (append_move(location, location.node, suffix, "it") for suffix in suffixes)


def _before_numpy(location: SourceLocation, suffixes: tuple[str, ...]) -> Iterator[Candidate]:
    """Yield ``.cpu()`` before ``.numpy()``."""
    for node in ast.walk(location.node):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("numpy", "tolist")
        ):
            yield from (append_move(location, node.func.value, suffix, "it") for suffix in suffixes)


def _undo_argument_move(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[Candidate]:
    """Yield the removal of a move to the accelerator in an argument of the failing call."""
    for position in diagnosis.failure.frames[:1]:
        found = edited.node_at(position)
        call = found[1] if found is not None else None
        if found is None or not isinstance(call, ast.Call):
            continue
        tree = found[0]
        for each in (*call.args, *(keyword.value for keyword in call.keywords)):
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in ("to", "cuda"):
                source = tree.source(each.func.value)
                edit = ReplaceExpression(tree.path, tree.span(each), source)
                yield Candidate(f"do not move `{source}`", (edit,))
