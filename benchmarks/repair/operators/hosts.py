"""Checkpoints, generators, and what needs the CPU."""

from __future__ import annotations

import ast

from benchmarks.repair.mutations import Replacement, added_line, operator
from benchmarks.repair.operators._sites import (
    Sites,
    calls,
    device_in_reach,
    is_move,
    keyword,
    knows_torch,
    with_keyword,
    without,
    without_keyword,
)
from devfix.syntax.tree import SourceTree

__all__ = ["OPERATORS"]


def _no_map_location(tree: SourceTree) -> Sites:
    """``torch.load(path, map_location=...)`` loses it."""
    for call in calls(tree, "load"):
        if keyword(call, "map_location") is not None:
            yield call, without_keyword(tree, call, "map_location")


def _map_location_swapped(tree: SourceTree) -> Sites:
    """``map_location="cpu"`` becomes the device, and the other way round."""
    for call in calls(tree, "load"):
        given = keyword(call, "map_location")
        if given is None:
            continue
        if "cpu" not in ast.unparse(given.value):
            yield call, [(tree.span(given.value), '"cpu"')]
        elif device_in_reach(tree, call):
            yield call, [(tree.span(given.value), "device")]


def _no_cpu(tree: SourceTree) -> Sites:
    """``.cpu()`` is forgotten ahead of NumPy, lists, plots, lengths."""
    for call in calls(tree, "cpu"):
        if isinstance(call.func, ast.Attribute) and not call.args and not isinstance(tree.parents[call], ast.Expr):
            yield call, without(tree, call)


def _lengths_moved(tree: SourceTree) -> Sites:
    """``pack_padded_sequence(x, lengths)`` gets its lengths from the accelerator."""
    for call in calls(tree, "pack_padded_sequence"):
        if len(call.args) >= 2 and not is_move(call.args[1]):
            code = f"{tree.source(call.args[1])}.to({tree.source(call.args[0])}.device)"
            yield call, [(tree.span(call.args[1]), code)]


def _foreign_generator(tree: SourceTree) -> Sites:
    """``torch.Generator()`` becomes ``torch.Generator(device=device)``, and the other way round."""
    for call in calls(tree, "Generator"):
        if ast.unparse(call.func) != "torch.Generator":
            continue
        if call.args or call.keywords:
            yield call, [(tree.span(call), f"{tree.source(call.func)}()")]
        elif device_in_reach(tree, call):
            yield call, [(tree.span(call), f"{tree.source(call.func)}(device=device)")]


def _pinned(tree: SourceTree) -> Sites:
    """``DataLoader(..., pin_memory=True)`` over what may lie on the accelerator."""
    for call in calls(tree, "DataLoader"):
        given = keyword(call, "pin_memory")
        if given is None or ast.unparse(given.value) == "False":
            yield call, with_keyword(tree, call, "pin_memory", "True")


def _state_of_generator(tree: SourceTree) -> Sites:
    """The state of the random numbers is loaded with ``map_location=device``."""
    for statement in ast.walk(tree.tree):
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "device" and knows_torch(tree):
            yield statement, added_line(tree, statement, _RESTORED.format("device"))


def _with_state(tree: SourceTree, statement: ast.AST) -> list[Replacement]:
    """The same program; the state of its random numbers comes from a file."""
    assert isinstance(statement, ast.stmt)
    return added_line(tree, statement, _RESTORED.format('"cpu"'))


_RESTORED = """torch.save({{"rng": torch.get_rng_state()}}, "state_of_generator.pt")
state = torch.load("state_of_generator.pt", map_location={})
torch.set_rng_state(state["rng"])"""


OPERATORS = (
    operator("no-map-location", _no_map_location),
    operator("map-location-swapped", _map_location_swapped),
    operator("no-cpu", _no_cpu),
    operator("lengths-moved", _lengths_moved),
    operator("foreign-generator", _foreign_generator),
    operator("pinned", _pinned),
    operator("state-of-generator", _state_of_generator, _with_state),
)
