"""Candidates for parameters that have a gradient and are in no optimizer: the run succeeds, and they do not train.

A run shows the number of such parameters, not the line that loses them.  Every optimizer that is built before a
statement about its module is a candidate: it is built after that statement instead.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from devfix.model import MoveStatements
from devfix.sources.notebooks import place_in
from devfix.syntax.tree import SourceTree
from devfix.trace.diagnosis.context import Cause
from devfix.trace.diagnosis.diagnose import NO_VALUE, Diagnosis
from devfix.trace.failure_trace import FailureTrace, Position
from devfix.trace.repair.candidates._candidate import Candidate
from devfix.trace.repair.edited_sources import EditedSources

__all__ = ["deferred_optimizers"]

_OF_MODULE = ("parameters", "named_parameters")
_COMPOUND = (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Return)


def deferred_optimizers(paths: Iterable[str], edited: EditedSources) -> Iterator[tuple[Diagnosis, Candidate]]:
    """Yield moves of an optimizer after the last statement about its module, each with the cause that it fixes."""
    for path in paths:
        tree = edited.tree(path)
        for node in ast.walk(tree.tree) if tree is not None else ():
            if tree is not None and isinstance(node, ast.Assign) and len(node.targets) == 1:
                for module in _modules(node):
                    yield from _build_later(tree, node, module)


def _modules(statement: ast.Assign) -> list[str]:
    """Return the modules whose parameters a constructor call takes."""
    if not isinstance(statement.value, ast.Call):
        return []
    calls = [node for node in ast.walk(statement.value) if isinstance(node, ast.Call)]
    found = [
        ast.unparse(call.func.value)
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr in _OF_MODULE and call is not statement.value
    ]
    return list(dict.fromkeys(found))


def _build_later(tree: SourceTree, built: ast.Assign, module: str) -> Iterator[tuple[Diagnosis, Candidate]]:
    optimizer = ast.unparse(built.targets[0])
    _, block, index = tree.block(built)
    group: list[ast.stmt] = [built]
    anchor: ast.stmt | None = None
    to_move: tuple[ast.stmt, ...] = ()
    for statement in block[index + 1 :]:
        if isinstance(statement, _COMPOUND) and _mentions(statement, optimizer):
            break
        if _mentions(statement, optimizer):
            group.append(statement)
        elif _mentions(statement, module):
            anchor, to_move = statement, tuple(group)
    if anchor is not None:
        edit = MoveStatements(tree.path, tuple(tree.span(each) for each in to_move), tree.span(anchor))
        title = f"build `{optimizer}` after `{_first_line(tree, anchor)}`"
        yield _diagnosis(tree, built, optimizer, anchor), Candidate(title, (edit,))


def _mentions(statement: ast.stmt, text: str) -> bool:
    return any(ast.unparse(node) == text for node in ast.walk(statement) if isinstance(node, (ast.Name, ast.Attribute)))


def _first_line(tree: SourceTree, statement: ast.stmt) -> str:
    return tree.source(statement).splitlines()[0]


def _diagnosis(tree: SourceTree, built: ast.Assign, optimizer: str, anchor: ast.stmt) -> Diagnosis:
    span = tree.span(built)
    function = getattr(tree.function(built), "name", "<module>")
    columns = (span.line, span.column, span.end_line, span.end_column)
    cell = place_in(tree.text, span.line)
    where = Position(tree.path, span.line, function, _first_line(tree, built), columns, tree.source(built), cell)
    anchor_cell = place_in(tree.text, anchor.lineno)
    at = f"line {anchor.lineno}" if anchor_cell is None else f"cell {anchor_cell[0]}, line {anchor_cell[1]}"
    sentence = (
        f"`{optimizer}` was built at {where}, before `{_first_line(tree, anchor)}` at {at}, and does not"
        " hold all parameters that have a gradient: they do not train."
    )
    failure = FailureTrace("", "", None, (where,), None, None, None, ())
    return Diagnosis(failure, NO_VALUE, None, None, Cause("optimizer-built-too-early", sentence))
