"""GitHub Actions workflow commands, which annotate a pull request.

https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands

GitHub shows at most ten errors, ten warnings and ten notices per step.  The most severe findings come first; the last
notice counts the omitted ones.
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
#: One notice is reserved for the number of omitted annotations.
_MAX_ANNOTATIONS = {"error": 10, "warning": 10, "notice": 9}


def render(view: View) -> str:
    """Return the commands, one per line."""
    return "".join(f"{line}\n" for line in _lines(view))


def _lines(view: View) -> Iterator[str]:
    written: Counter[str] = Counter()
    omitted = 0
    for command, line in _commands(view):
        if written[command] < _MAX_ANNOTATIONS[command]:
            written[command] += 1
            yield line
        else:
            omitted += 1
    if omitted:
        yield f"::notice title=devfix::{omitted} more not shown: GitHub limits the annotations of a step"


def _commands(view: View) -> Iterator[tuple[str, str]]:
    for item in view.by_severity():
        command = _COMMANDS[item.finding.severity]
        title = f"devfix ({item.finding.code})"
        yield command, workflow_command(command, title, _position(view, item.finding), _message(view, item))
    for problem in view.report.outcome.problems:
        yield "error", workflow_command("error", "devfix", _problem_position(view, problem), _problem_message(problem))


def _position(view: View, finding: Finding) -> dict[str, str]:
    """Return the position properties of a finding; GitHub accepts columns only within one line."""
    span = finding.span
    properties = {"file": view.name(finding.path), "line": str(span.line), "endLine": str(span.end_line)}
    if span.line == span.end_line:
        properties.update(col=str(span.column + 1), endColumn=str(span.end_column + 1))
    return properties


def _message(view: View, item: Resolution) -> str:
    fix = item.fix or next(iter(item.finding.fixes), None)
    reason = item.reason or item.finding.reason
    more = f"fix: {fix.title}" if fix is not None else f"not fixed: {reason}" if reason else ""
    return "\n".join(printable(line) for line in (view.message_with_failure(item.finding), more) if line)


def _problem_position(view: View, problem: Problem) -> dict[str, str]:
    return {"file": view.name(problem.path), **({"line": str(problem.line)} if problem.line else {})}


def _problem_message(problem: Problem) -> str:
    return printable(f"{problem.message}; {problem.hint}" if problem.hint else problem.message)


def workflow_command(command: str, title: str, position: dict[str, str], message: str) -> str:
    """Return a workflow command.

    Args:
        command: ``error``, ``warning`` or ``notice``.
        title: title of the annotation.
        position: ``file``, ``line``, ``endLine``, ``col`` and ``endColumn``, each optional.
        message: text of the annotation.

    """
    properties = ",".join(f"{key}={_property(value)}" for key, value in {"title": title, **position}.items())
    return f"::{command} {properties}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
