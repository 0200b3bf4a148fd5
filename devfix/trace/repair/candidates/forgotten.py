"""Candidates for parameters that got a gradient and that no optimizer held: nothing failed, and they did not train.

A run tells that there are such parameters, and not where they were lost: every optimizer of the program that was built
ahead of a statement about its module is a candidate to be built behind it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace

from devfix.model import MoveStatements
from devfix.sources.notebooks import place_in
from devfix.syntax.tree import SourceTree
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.repair.candidates._candidate import Candidate
from devfix.trace.repair.edited_sources import Texts
from devfix.trace.story import Position, Story, Value

__all__ = ["built_later"]

_OF_MODULE = ("parameters", "named_parameters")
_COMPOUND = (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Return)


def built_later(paths: Iterable[str], texts: Texts) -> Iterator[tuple[Diagnosis, Candidate]]:
    """Optimizers behind the last statement about their module, each with the cause that it would repair."""
    for path in paths:
        tree = texts.tree(path)
        for node in ast.walk(tree.tree) if tree is not None else ():
            if tree is not None and isinstance(node, ast.Assign) and len(node.targets) == 1:
                for module in _modules(node):
                    yield from _behind(tree, node, module)


def _modules(statement: ast.Assign) -> list[str]:
    """The modules whose parameters a construction asks for."""
    if not isinstance(statement.value, ast.Call):
        return []
    calls = [node for node in ast.walk(statement.value) if isinstance(node, ast.Call)]
    found = [
        ast.unparse(call.func.value)
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr in _OF_MODULE and call is not statement.value
    ]
    return list(dict.fromkeys(found))


def _behind(tree: SourceTree, built: ast.Assign, module: str) -> Iterator[tuple[Diagnosis, Candidate]]:
    optimizer = ast.unparse(built.targets[0])
    _, block, index = tree.block(built)
    along: list[ast.stmt] = [built]
    anchor: ast.stmt | None = None
    moved: tuple[ast.stmt, ...] = ()
    for statement in block[index + 1 :]:
        if isinstance(statement, _COMPOUND) and _mentions(statement, optimizer):
            break
        if _mentions(statement, optimizer):
            along.append(statement)
        elif _mentions(statement, module):
            anchor, moved = statement, tuple(along)
    if anchor is not None:
        edit = MoveStatements(tree.path, tuple(tree.span(each) for each in moved), tree.span(anchor))
        title = f"build `{optimizer}` behind `{_line(tree, anchor)}`"
        yield _diagnosis(tree, built, optimizer, anchor), Candidate(title, (edit,))


def _mentions(statement: ast.stmt, text: str) -> bool:
    return any(ast.unparse(node) == text for node in ast.walk(statement) if isinstance(node, (ast.Name, ast.Attribute)))


def _line(tree: SourceTree, statement: ast.stmt) -> str:
    return tree.source(statement).splitlines()[0]


def _diagnosis(tree: SourceTree, built: ast.Assign, optimizer: str, anchor: ast.stmt) -> Diagnosis:
    span = tree.span(built)
    function = getattr(tree.function(built), "name", "<module>")
    place = (span.line, span.column, span.end_line, span.end_column)
    cell = place_in(tree.text, span.line)
    where = Position(tree.path, span.line, function, _line(tree, built), place, tree.source(built), cell)
    later = replace(where, line=anchor.lineno, place=place_in(tree.text, anchor.lineno))
    then = f"line {anchor.lineno}" if later.place is None else f"cell {later.place[0]}, line {later.place[1]}"
    cause = (
        f"`{optimizer}` was built at {where}, ahead of `{_line(tree, anchor)}` at {then}, and does not"
        " hold all parameters that get a gradient: they do not train."
    )
    story = Story("", "", None, (where,), None, None, None, ())
    return Diagnosis(story, Value("", (), (), "", "cpu", False, ()), None, None, "DEV401", cause, None)
