"""Candidates for values that an operation needs on the CPU."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.model import ReplaceExpression
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.repair.candidates._candidate import Candidate, Spot, appended, spots_of
from devfix.trace.repair.candidates.tensors import uses
from devfix.trace.repair.edited_sources import Texts

__all__ = ["brought_home"]


def brought_home(diagnosis: Diagnosis, texts: Texts) -> Iterator[Candidate]:
    """``.cpu()`` at the operand, ahead of the method that asks for NumPy, or where the value was made."""
    plain = (".cpu()",) if diagnosis.culprit.leaf else (".detach().cpu()", ".cpu()")
    for position in diagnosis.story.frames[:2]:
        found = texts.node_at(position)
        if found is not None:
            yield from _asked(Spot(*found, position), plain)
    yield from _not_sent(diagnosis, texts)
    yield from uses(diagnosis, texts, plain)
    for event in reversed(diagnosis.culprit.strand()):
        for spot in spots_of(event, texts):
            if isinstance(spot.node, ast.expr) and spot.value_is_used:
                yield from (appended(spot, spot.node, trailer, "it") for trailer in plain)


def _asked(spot: Spot, plain: tuple[str, ...]) -> Iterator[Candidate]:
    """``x.numpy()``: the receiver goes to the CPU first."""
    for node in ast.walk(spot.node):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("numpy", "tolist")
        ):
            yield from (appended(spot, node.func.value, trailer, "it") for trailer in plain)


def _not_sent(diagnosis: Diagnosis, texts: Texts) -> Iterator[Candidate]:
    """An argument of the call that fails is sent to the accelerator for that call only: it stays where it is."""
    for position in diagnosis.story.frames[:1]:
        found = texts.node_at(position)
        call = found[1] if found is not None else None
        if found is None or not isinstance(call, ast.Call):
            continue
        tree = found[0]
        for each in (*call.args, *(keyword.value for keyword in call.keywords)):
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in ("to", "cuda"):
                source = tree.source(each.func.value)
                edit = ReplaceExpression(tree.path, tree.span(each), source)
                yield Candidate(f"leave `{source}` where it is", (edit,))
