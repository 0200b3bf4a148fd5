"""Functions with a random branch: some calls return a CPU tensor, others an accelerator tensor.

A list of their results holds both.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import ACCELERATOR, CPU, Function, Tensor, Value, alternatives
from devfix.analysis.transfer.device_check import OperandSet
from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import text_of, walk

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["note_returns", "split_random_results"]

#: Last names of functions that return a random number.
_RANDOM_FUNCTIONS = frozenset("random rand uniform randint randrange random_sample choice binomial".split())


def note_returns(interp: Interpreter, function: Function, ends: Sequence[tuple[object, Value]]) -> None:
    """Record created CPU tensors that a function returns if its other, random path returns an accelerator tensor."""
    tests = _random_tests(function.node)
    if not tests:
        return
    returned = [
        ({key.rpartition(":")[2]: holds for key, holds in state.assumptions.items()}, tensor)
        for state, value in ends
        if isinstance(state, State)
        for tensor in alternatives(value)
        if isinstance(tensor, Tensor) and tensor.is_certain and not tensor.maybe_container
    ]
    on_accelerator = [known for known, tensor in returned if tensor.device == ACCELERATOR]
    for known, tensor in returned:
        is_separate = all(
            any(known.get(test, holds) != holds for test, holds in _known_tests(tests, other))
            for other in on_accelerator
        )
        if tensor.device == CPU and on_accelerator and is_separate:
            interp.observations.random_results.update(
                origin.site_id for origin in tensor.origins if origin.kind == "made"
            )


def _known_tests(tests: frozenset[str], known: dict[str, bool]) -> list[tuple[str, bool]]:
    return [(test, known[test]) for test in tests if test in known]


@node_cache(8192)
def _random_tests(node: ast.AST) -> frozenset[str]:
    """Return the conditions of a function that compare a random number, as source text."""
    random_names: set[str] = set()
    found: set[str] = set()
    for inner in walk(node):
        if isinstance(inner, ast.Assign) and _is_random(inner.value):
            random_names |= {target.id for target in inner.targets if isinstance(target, ast.Name)}
    for inner in walk(node):
        if isinstance(inner, ast.If) and isinstance(inner.test, ast.Compare):
            operands = (inner.test.left, *inner.test.comparators)
            if any(
                _is_random(operand) or (isinstance(operand, ast.Name) and operand.id in random_names)
                for operand in operands
            ):
                found.add(text_of(inner.test))
    return frozenset(found)


def _is_random(node: ast.expr) -> bool:
    """Return whether an expression is random: ``random.random()``, ``np.random.rand()``, ``torch.rand(1).item()``."""
    while isinstance(node, ast.Call):
        if text_of(node.func).rpartition(".")[2] in _RANDOM_FUNCTIONS:
            return True
        node = node.func.value if isinstance(node.func, ast.Attribute) else node.func
    return False


def split_random_results(interp: Interpreter, operands: Sequence[OperandSet]) -> list[OperandSet]:
    """Split the operands of a concatenation that hold results of a random branch: one operand set per device."""
    return [
        part
        for operand in operands
        for part in (_split(interp, operand) if interp.observations.random_results else (operand,))
    ]


def _split(interp: Interpreter, operand: OperandSet) -> Sequence[OperandSet]:
    random_results = [
        pair
        for pair in operand.alternatives
        if any(
            origin.site_id in interp.observations.random_results for origin in pair[1].origins if origin.kind == "made"
        )
    ]
    others = [pair for pair in operand.alternatives if pair not in random_results]
    if not random_results or {device for device, _ in others} != {ACCELERATOR}:
        return (operand,)
    return OperandSet(others, operand.maybe_zero_dim, operand.grad, operand.is_single_number), OperandSet(
        random_results, operand.maybe_zero_dim, operand.grad, operand.is_single_number
    )
