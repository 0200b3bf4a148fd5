"""Annotations of a pull request: workflow commands that GitHub's runner reads from the log of a step.

https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands

A step shows at most ten errors, ten warnings and ten notices, so the worst come first, and what is more is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from devfix.model import Finding, Problem, Resolution, Severity
from devfix.report.sanitize import printable

if TYPE_CHECKING:
    from devfix.report.view import View

__all__ = ["render", "workflow_command"]

_COMMANDS = {Severity.ERROR: "error", Severity.LATENT: "warning", Severity.ADVICE: "notice"}
#: Notices share their ten with the one that counts what is left out.
_MOST = {"error": 10, "warning": 10, "notice": 9}


def render(view: View) -> str:
    """The commands, one a line."""
    return "".join(f"{line}\n" for line in _lines(view))


def _lines(view: View) -> Iterator[str]:
    written: Counter[str] = Counter()
    left = 0
    for command, line in _commands(view):
        if written[command] < _MOST[command]:
            written[command] += 1
            yield line
        else:
            left += 1
    if left:
        yield f"::notice title=devfix::and {left} more: this step shows no more than its first annotations"


def _commands(view: View) -> Iterator[tuple[str, str]]:
    for item in view.worst_first():
        command = _COMMANDS[item.finding.severity]
        title = f"devfix ({item.finding.code})"
        yield command, workflow_command(command, title, _place(view, item.finding), _message(view, item))
    for problem in view.report.outcome.problems:
        yield "error", workflow_command("error", "devfix", _problem_place(view, problem), _problem_message(problem))


def _place(view: View, finding: Finding) -> dict[str, str]:
    """Where the runner shows a finding; columns count only within one line."""
    span = finding.span
    place = {"file": view.name(finding.path), "line": str(span.line), "endLine": str(span.end_line)}
    if span.line == span.end_line:
        place.update(col=str(span.column + 1), endColumn=str(span.end_column + 1))
    return place


def _message(view: View, item: Resolution) -> str:
    fix = item.fix or next(iter(item.finding.fixes), None)
    reason = item.reason or item.finding.reason
    more = f"fix: {fix.title}" if fix is not None else f"not fixed: {reason}" if reason else ""
    return "\n".join(printable(line) for line in (view.sentence(item.finding), more) if line)


def _problem_place(view: View, problem: Problem) -> dict[str, str]:
    return {"file": view.name(problem.path), **({"line": str(problem.line)} if problem.line else {})}


def _problem_message(problem: Problem) -> str:
    return printable(f"{problem.message}; {problem.hint}" if problem.hint else problem.message)


def workflow_command(command: str, title: str, place: dict[str, str], message: str) -> str:
    """One annotation: ``error``, ``warning`` or ``notice``, and where it stands by GitHub's names."""
    properties = ",".join(f"{key}={_property(value)}" for key, value in {"title": title, **place}.items())
    return f"::{command} {properties}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
