"""Functions that draw lots: a call returns from one device or from another, and a list of the results has both."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import ACCELERATOR, CPU, Function, Tensor, Value, alternatives
from devfix.analysis.transfer.device_check import OperandSet
from devfix.syntax.tree import text_of, walk

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["note_returns", "told_apart"]

#: Last names of calls that give another number each time.
_DRAWS = frozenset("random rand uniform randint randrange random_sample choice binomial".split())


def note_returns(interp: Interpreter, function: Function, ends: Sequence[tuple[object, Value]]) -> None:
    """Remember tensors made on the CPU that a function returns, where lots decide that others come from elsewhere."""
    lots = _lots(function.node)
    if not lots:
        return
    ways = [
        ({key.rpartition(":")[2]: holds for key, holds in state.assumptions.items()}, tensor)
        for state, value in ends
        if isinstance(state, State)
        for tensor in alternatives(value)
        if isinstance(tensor, Tensor) and tensor.is_certain and not tensor.maybe_container
    ]
    there = [known for known, tensor in ways if tensor.device == ACCELERATOR]
    for known, tensor in ways:
        apart = all(any(known.get(lot, holds) != holds for lot, holds in _of(lots, other)) for other in there)
        if tensor.device == CPU and there and apart:
            interp.observations.drawn.update(origin.site_id for origin in tensor.origins if origin.kind == "made")


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
            operands = (inner.test.left, *inner.test.comparators)
            if any(_draws(operand) or (isinstance(operand, ast.Name) and operand.id in drawn) for operand in operands):
                tests.add(text_of(inner.test))
    return frozenset(tests)


def _draws(node: ast.expr) -> bool:
    """``random.random()``, ``np.random.rand()``, ``torch.rand(1).item()``."""
    while isinstance(node, ast.Call):
        if text_of(node.func).rpartition(".")[2] in _DRAWS:
            return True
        node = node.func.value if isinstance(node.func, ast.Attribute) else node.func
    return False


def told_apart(interp: Interpreter, operands: Sequence[OperandSet]) -> list[OperandSet]:
    """Operands of a concatenation; what came from calls that drew lots is as many as there are places."""
    return [
        part for operand in operands for part in (_parts(interp, operand) if interp.observations.drawn else (operand,))
    ]


def _parts(interp: Interpreter, operand: OperandSet) -> Sequence[OperandSet]:
    lot = [
        pair
        for pair in operand.alternatives
        if any(origin.site_id in interp.observations.drawn for origin in pair[1].origins if origin.kind == "made")
    ]
    others = [pair for pair in operand.alternatives if pair not in lot]
    if not lot or {device for device, _ in others} != {ACCELERATOR}:
        return (operand,)
    return OperandSet(others, operand.maybe_zero_dim, operand.grad, operand.is_single_number), OperandSet(
        lot, operand.maybe_zero_dim, operand.grad, operand.is_single_number
    )
