"""Failures without an accelerator that no finding names: what comes after them is not reached there."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.values import ACCELERATOR, CPU
from devfix.fixes.devices.conflicting_devices import is_intended, is_load

__all__ = ["comes_first", "unnamed_failures"]

_LOOPS = (ast.For, ast.AsyncFor, ast.While)  # they have a round
_BLOCKS = (*_LOOPS, ast.With, ast.AsyncWith)


def unnamed_failures(observations: Observations, named: Collection[ast.Call]) -> list[ProgramPoint]:
    """Return the moves to an accelerator that a program makes without one, other than those that a finding names."""
    scenario = observations.no_accelerator
    if scenario is None or observations.foreign_index is not None:
        return []
    return list(_moves(observations, scenario, named))


def _moves(observations: Observations, scenario: Observations, named: Collection[ast.Call]) -> Iterator[ProgramPoint]:
    for call, by_device in scenario.device_assignments.items():
        known = observations.device_assignments.get(call, {}).get(ACCELERATOR)
        if call in named or CPU in by_device or ACCELERATOR not in by_device or known is None or is_load(call):
            continue
        if not (known.moves_nothing or known.latent or is_intended(known)):
            yield by_device[ACCELERATOR].point


def comes_first(one: ProgramPoint, two: ProgramPoint) -> bool:
    """Return whether a run that comes to a program point has always been at another one before."""
    for depth, (frame, other) in enumerate(zip(one.call_stack, two.call_stack, strict=False)):
        if frame.stmt is not other.stmt:
            inner = one.call_stack[depth + 1 :]
            if frame.tree is not other.tree or not _precedes(frame, other.stmt):
                return False
            break
    else:
        if len(one.call_stack) <= len(two.call_stack):
            return False  # the same statement
        inner = one.call_stack[len(two.call_stack) :]
    return all(_is_run(frame.tree.ancestors(frame.stmt)) for frame in inner)


def _precedes(frame: CallFrame, stmt: ast.stmt) -> bool:
    shared = frame.tree.ancestors(stmt)
    if frame.stmt.lineno >= stmt.lineno or frame.stmt in shared:
        return False
    around = [each for each in frame.tree.ancestors(frame.stmt) if each not in shared]
    branch = next((each for each in frame.tree.ancestors(frame.stmt) if each in shared), None)
    return _is_run(around) and not _are_alternatives(frame, branch, stmt)


def _are_alternatives(frame: CallFrame, branch: ast.AST | None, stmt: ast.stmt) -> bool:
    """Return whether two statements are on different branches of the innermost statement around both."""
    if not isinstance(branch, (ast.If, ast.Try)):
        return False
    return _block(frame, branch, frame.stmt) is not _block(frame, branch, stmt)


def _block(frame: CallFrame, branch: ast.AST, stmt: ast.stmt) -> object:
    chain = [stmt, *frame.tree.ancestors(stmt)]
    child = chain[chain.index(branch) - 1]
    return next(
        (
            block
            for name in ("body", "orelse", "handlers", "finalbody")
            if isinstance(block := getattr(branch, name, None), list) and any(each is child for each in block)
        ),
        None,
    )


def _is_run(around: list[ast.AST]) -> bool:
    """Return whether the statements around one, up to its function, run it in any case, or in some round of a loop."""
    is_conditional = False
    for each in around:
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)):
            break
        if not isinstance(each, (*_BLOCKS, ast.If)):
            return False
        is_conditional = isinstance(each, ast.If) or (is_conditional and not isinstance(each, _LOOPS))
    return not is_conditional
