"""What decides the moves of a program: that it was written for accelerators, an option, or the machine."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from devfix.analysis import Observations
from devfix.analysis.domain.device_parsing import parse_device
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.values import ACCELERATOR, Device
from devfix.analysis.observations import DeviceAssignment
from devfix.analysis.scenarios import device_argument_of, literal_device
from devfix.analysis.scopes import asks_for_accelerator
from devfix.syntax.tree import SourceTree

__all__ = ["is_chosen_by_option", "is_for_accelerators"]


def is_for_accelerators(observations: Observations, choices: list[ProgramPoint]) -> bool:
    """Return whether a program was written for accelerators, although a few moves ask whether there is one.

    It imports a file that needs one.  Or it offers no device as an alternative, and names an accelerator as its device
    (``device = "cuda:0"``), or has many more moves that do not ask.
    """
    if _is_needed_on_import(observations):
        return True
    if not all(_asks_torch(choice) for choice in choices):
        return False
    if any(_is_named_accelerator(call, found) for call, found in observations.device_assignments.items()):
        return True
    unasked = sum(
        isinstance(node, ast.Attribute)
        and node.attr == "cuda"
        and isinstance(tree.parents.get(node), ast.Call)
        and not _is_asked_first(tree, node)
        for tree in observations.trees
        if ".cuda(" in tree.text
        for node in tree.nodes
    )
    return unasked > _MOST_UNASKED * len(choices)


def _is_needed_on_import(observations: Observations) -> bool:
    """Return whether an imported file moves something to the accelerator, whether there is one or not."""
    scenario = observations.no_accelerator
    moves = [] if scenario is None else [found.get(ACCELERATOR) for found in scenario.device_assignments.values()]
    points = [move.point for move in moves if move is not None]
    return any(point.tree.path != observations.path and point.stmt in point.tree.tree.body for point in points)


def _is_named_accelerator(call: ast.Call, found: Mapping[Device, DeviceAssignment]) -> bool:
    """Return whether a move names its device by what the file binds to an accelerator, whether there is one or not."""
    argument, move = device_argument_of(call), found.get(ACCELERATOR)
    if not isinstance(argument, ast.Name) or move is None:
        return False
    return any(
        isinstance(stmt, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == argument.id for target in stmt.targets)
        and parse_device(literal_device(stmt.value) or "") == ACCELERATOR
        for stmt in move.point.tree.tree.body
    )


_MOST_UNASKED = 8  # moves that do not ask, for each that does


def _is_asked_first(tree: SourceTree, node: ast.AST) -> bool:
    """Return whether a condition on the accelerator encloses a node."""
    parents = tree.ancestors(node)
    return any(isinstance(parent, (ast.If, ast.IfExp)) and asks_for_accelerator(parent.test) for parent in parents)


def is_chosen_by_option(choice: ProgramPoint | None) -> bool:
    """Return whether an option decides a move: it may choose the CPU on a machine with an accelerator, too."""
    if choice is None or _asks_torch(choice):
        return False
    parents = [*choice.tree.ancestors(choice.node), *choice.tree.ancestors(choice.stmt)]
    tests = {ast.unparse(parent.test) for parent in parents if isinstance(parent, ast.If)}
    return not any(
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func).endswith("is_available")
        and any(ast.unparse(target) in tests for target in node.targets)
        for node in choice.tree.nodes
    )


def _asks_torch(choice: ProgramPoint) -> bool:
    """Return whether a move is there only if PyTorch finds an accelerator: ``if torch.cuda.is_available():``."""
    parents = [*choice.tree.ancestors(choice.node), *choice.tree.ancestors(choice.stmt)]
    return any(isinstance(parent, ast.If) and "is_available(" in ast.unparse(parent.test) for parent in parents)
