"""What a run teaches about candidates that were not tried yet: a device expression that cannot be had at a place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from devfix.model import AddKeyword, AppendCode, Edit, InsertStatement, ReplaceExpression, Span
from devfix.syntax.bindings import root_name
from devfix.trace.repair.candidates._candidate import Candidate
from devfix.trace.repair.edited_sources import Texts
from devfix.verify.records import Run

__all__ = ["Word", "vain_words", "words_of"]

_MOVE = re.compile(r"\.to\((?P<word>.+)\)$")


class Word(NamedTuple):
    """An expression for a device, and the function of which file it stands in (its line; 0: none)."""

    path: str
    function: int
    text: str


def words_of(candidate: Candidate, texts: Texts) -> Iterator[Word]:
    """The device expressions that the edits of a candidate write."""
    for edit in candidate.edits:
        text, span = _written(edit)
        tree = texts.tree(edit.path)
        if text and span is not None and tree is not None:
            yield Word(edit.path, _function(tree.tree, span.line), text)


def vain_words(candidate: Candidate, texts: Texts, run: Run) -> set[Word]:
    """Those that a run could not evaluate: an object without a device, an unknown name, a module without weights."""
    if run.failure is None or run.device_error:
        return set()
    return {word for word in words_of(candidate, texts) if _fails(word.text, run.failure.type, run.failure.text)}


def _fails(text: str, error: str, message: str) -> bool:
    if error == "AttributeError":
        return text.endswith(".device") and "has no attribute 'device'" in message
    if error in ("NameError", "UnboundLocalError"):
        return f"'{root_name(text)}'" in message
    return error == "StopIteration" and text.startswith("next(")


def _written(edit: Edit) -> tuple[str, Span | None]:
    if isinstance(edit, AddKeyword):
        return edit.value, edit.call
    if isinstance(edit, AppendCode):
        return _destination(edit.code), edit.expression
    if isinstance(edit, InsertStatement):
        return _destination(edit.code), edit.anchor
    if isinstance(edit, ReplaceExpression):
        return _destination(edit.code) or edit.code, edit.expression
    return "", None


def _destination(code: str) -> str:
    found = _MOVE.search(code)
    return found["status"] if found else ""


def _function(tree: ast.AST, line: int) -> int:
    around = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return max(around, default=0)
