"""Functions that draw lots: a call returns from one device or from another, and a list of the results has both."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import ACCELERATOR, CPU, Function, Tensor, Value, options
from devfix.analysis.transfer.device_check import Side
from devfix.syntax.tree import text_of, walk

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["note_returns", "told_apart"]

#: Last names of calls that give another number each time.
_DRAWS = frozenset("random rand uniform randint randrange random_sample choice binomial".split())


def note_returns(run: Interpreter, function: Function, ends: Sequence[tuple[object, Value]]) -> None:
    """Remember tensors made on the CPU that a function returns, where lots decide that others come from elsewhere."""
    lots = _lots(function.node)
    if not lots:
        return
    ways = [
        ({key.rpartition(":")[2]: holds for key, holds in state.assumptions.items()}, tensor)
        for state, value in ends
        if isinstance(state, State)
        for tensor in options(value)
        if isinstance(tensor, Tensor) and tensor.sure and not tensor.loose
    ]
    there = [known for known, tensor in ways if tensor.place == ACCELERATOR]
    for known, tensor in ways:
        apart = all(any(known.get(lot, holds) != holds for lot, holds in _of(lots, other)) for other in there)
        if tensor.place == CPU and there and apart:
            run.facts.drawn.update(birth.key for birth in tensor.births if birth.kind == "made")


def _of(lots: frozenset[str], known: dict[str, bool]) -> list[tuple[str, bool]]:
    return [(lot, known[lot]) for lot in lots if lot in known]


@lru_cache(maxsize=8192)
def _lots(node: ast.AST) -> frozenset[str]:
    """The conditions in a function that ask a number which has just been drawn, as they are written."""
    drawn: set[str] = set()
    tests: set[str] = set()
    for inner in walk(node):
        if isinstance(inner, ast.Assign) and _draws(inner.value):
            drawn |= {target.id for target in inner.targets if isinstance(target, ast.Name)}
    for inner in walk(node):
        if isinstance(inner, ast.If) and isinstance(inner.test, ast.Compare):
            sides = (inner.test.left, *inner.test.comparators)
            if any(_draws(side) or (isinstance(side, ast.Name) and side.id in drawn) for side in sides):
                tests.add(text_of(inner.test))
    return frozenset(tests)


def _draws(node: ast.expr) -> bool:
    """``random.random()``, ``np.random.rand()``, ``torch.rand(1).item()``."""
    while isinstance(node, ast.Call):
        if text_of(node.func).rpartition(".")[2] in _DRAWS:
            return True
        node = node.func.value if isinstance(node.func, ast.Attribute) else node.func
    return False


def told_apart(run: Interpreter, sides: Sequence[Side]) -> list[Side]:
    """Operands of a concatenation; what came from calls that drew lots is as many as there are places."""
    return [part for side in sides for part in (_parts(run, side) if run.facts.drawn else (side,))]


def _parts(run: Interpreter, side: Side) -> Sequence[Side]:
    lot = [
        pair
        for pair in side.alternatives
        if any(birth.key in run.facts.drawn for birth in pair[1].births if birth.kind == "made")
    ]
    others = [pair for pair in side.alternatives if pair not in lot]
    if not lot or {place for place, _ in others} != {ACCELERATOR}:
        return (side,)
    return Side(others, side.scalar, side.grad, side.single), Side(lot, side.scalar, side.grad, side.single)
