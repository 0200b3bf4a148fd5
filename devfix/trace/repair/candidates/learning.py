"""Learn from a failed run: device expressions that cannot be evaluated are not tried again at the same place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from devfix.model import AddKeyword, AppendCode, Edit, InsertStatement, ReplaceExpression, Span
from devfix.syntax.bindings import root_name
from devfix.trace.repair.candidates._candidate import Candidate
from devfix.trace.repair.edited_sources import EditedSources
from devfix.verify.records import Run

__all__ = ["DeviceExpression", "device_expressions_in", "failing_device_expressions"]

_MOVE = re.compile(r"\.to\((?P<expression>.+)\)$")


class DeviceExpression(NamedTuple):
    """A device expression, with the file and the first line of the function that contains it (0: no function)."""

    path: str
    function: int
    text: str


def device_expressions_in(candidate: Candidate, edited: EditedSources) -> Iterator[DeviceExpression]:
    """Yield the device expressions that the edits of a candidate insert."""
    for edit in candidate.edits:
        text, span = _written(edit)
        tree = edited.tree(edit.path)
        if text and span is not None and tree is not None:
            yield DeviceExpression(edit.path, _enclosing_function(tree.tree, span.line), text)


def failing_device_expressions(candidate: Candidate, edited: EditedSources, run: Run) -> set[DeviceExpression]:
    """Return the device expressions of a candidate that a run could not evaluate.

    Examples are an object without a device, an unknown name, and a module without parameters.
    """
    if run.failure is None or run.device_error:
        return set()
    return {
        expression
        for expression in device_expressions_in(candidate, edited)
        if _fails(expression.text, run.failure.type, run.failure.text)
    }


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
    return found["expression"] if found else ""


def _enclosing_function(tree: ast.AST, line: int) -> int:
    starts = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return max(starts, default=0)
