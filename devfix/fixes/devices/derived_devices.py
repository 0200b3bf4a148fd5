"""Devices that a program reads off a tensor or module, where others are its choice."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.values import Pointer, Tensor, alternatives
from devfix.analysis.scenarios import device_words
from devfix.analysis.scopes import value_of

__all__ = ["puts_back", "read_off"]


def puts_back(moved: ProgramPoint) -> bool:
    """Whether a move goes to a device that a name keeps from before: back to where something was."""
    words = device_words(moved.node) if isinstance(moved.node, ast.Call) else None
    return isinstance(words, ast.Name) and moved.state is not None and read_off(moved, words)


def read_off(moved: ProgramPoint, words: ast.expr) -> bool:
    """Whether a device is that of some tensor or module (``old = next(model.parameters()).device``), not a choice.

    What is put back where it was tells of nobody's wish.  Definitions are looked up in the function of the move.
    """
    bindings = list(_bindings(moved.tree.function(moved.node)))
    wanted, known = {node.id for node in ast.walk(words) if isinstance(node, ast.Name)}, set[str]()
    while wanted - known:
        name = min(wanted - known)
        known.add(name)
        for value in (value for target, value in bindings if name in target):
            inside = list(ast.walk(value))
            if any(isinstance(node, ast.Attribute) and _of_a_value(moved, node) for node in inside):
                return True
            wanted |= {node.id for node in inside if isinstance(node, ast.Name)}
    return False


def _bindings(function: ast.AST) -> Iterator[tuple[set[str], ast.expr]]:
    """The names that each assignment and loop of a function binds, with what they are bound to."""
    for node in ast.walk(function):
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, (ast.For, ast.AnnAssign, ast.NamedExpr)):
            targets = [node.target]
        value = node.iter if isinstance(node, ast.For) else getattr(node, "value", None)
        if targets and value is not None:
            yield {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}, value


def _of_a_value(moved: ProgramPoint, node: ast.Attribute) -> bool:
    """Whether ``….device`` is that of a tensor or module, as far as anybody can tell; ``args.device`` is not."""
    if node.attr != "device":
        return False
    held, memory = value_of(moved, moved.call_frame, node.value), moved.state
    assert memory is not None  # the caller has looked
    if held is None:
        return True
    parts = [memory.heap_object(one).kind for one in alternatives(held) if isinstance(one, Pointer)]
    return "module" in parts or any(isinstance(one, Tensor) for one in alternatives(held))
