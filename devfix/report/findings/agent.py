"""The report of ``check`` and ``apply`` for coding agents; :mod:`devfix.report.agent` documents the lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from devfix.engine.scan import identity
from devfix.model import Applicability, Resolution, Status
from devfix.report.agent.lines import MOST_FINDINGS, cut, hunk_lines, last_line, limited, text_of
from devfix.report.agent.next_command import next_command
from devfix.report.findings.concise import location, problem_line
from devfix.report.suggestions import apply_replacements
from devfix.report.summary import Mode

if TYPE_CHECKING:
    from devfix.report.suggestions import Suggestion
    from devfix.report.view import View

__all__ = ["render"]

_ALL = "--output-format concise"


def render(view: View) -> str:
    """Return the lines of a report, each with a newline."""
    return "".join(f"{line}\n" for line in _lines(view))


def _lines(view: View) -> Iterator[str]:
    report = view.report
    if report.mode is Mode.APPLY:
        yield from _applied(view)
    listed = view.by_severity()
    for item in listed[:MOST_FINDINGS]:
        yield from _finding(view, item)
    yield from _rest(listed[MOST_FINDINGS:], _ALL)
    problems = [cut(problem_line(each, report.outcome)) for each in (*report.outcome.problems, *report.outcome.notes)]
    yield from limited(problems, MOST_FINDINGS, f"problems and notes; all: {_ALL}")
    if view.proof is not None:
        from devfix.report.runs.verdict import sentence

        yield f"verdict {cut(sentence(view.proof))}"
    if view.matrix is not None:
        from devfix.report.runs.matrix_agent import machine_lines

        yield from machine_lines(view.matrix)
    yield last_line(report.summary(), next_command(view))


def _applied(view: View) -> Iterator[str]:
    """Yield what was fixed, with its lines in the old text, and the hunks."""
    fixed = view.report.fixed
    for item in fixed[:MOST_FINDINGS]:
        yield _head(view, item, f"fixed: {item.fix.title}" if item.fix else "fixed")
    yield from _rest(fixed[MOST_FINDINGS:], "git diff")
    changes = view.report.outcome.patch.files
    texts = [(each.path, text_of(each.path, each.old), text_of(each.path, each.new)) for each in changes]
    yield from hunk_lines(texts, "git diff")


def _head(view: View, item: Resolution, state: str) -> str:
    finding = item.finding
    where = location(finding, view.report.outcome)
    told = f"{finding.severity.value}: {cut(finding.message)}"
    failure = finding.failure
    if failure is not None and (failure.path, failure.line) != (finding.path, finding.span.line):
        told += f"; fails at {cut(view.report.outcome.where(failure.path, failure.line))}"
    return f"{where}: {finding.code} {told}; {cut(state)}"


def _finding(view: View, item: Resolution) -> Iterator[str]:
    suggestion = view.suggestions.of(item.finding)
    if suggestion is None:
        yield _head(view, item, _without_hunk(view, item))
        return
    unsafe = suggestion.applicability is Applicability.UNSAFE
    yield _head(view, item, f"fix{' (unsafe)' if unsafe else ''}: {suggestion.title}")
    yield from hunk_lines(_texts(view, suggestion), f"devfix apply {' '.join(suggestion.paths)} --diff")


def _texts(view: View, suggestion: Suggestion) -> Iterator[tuple[str, str, str]]:
    changed = {change.path: change for change in view.preview.patch.files}
    for path in suggestion.paths:
        # Replacements in a notebook have positions in its file, which the texts of cells do not have.
        old = text_of(path, changed[path].old)
        new = apply_replacements(old, [each for each in suggestion.replacements if each.path == path])
        if new is not None:
            yield path, old, new


def _without_hunk(view: View, item: Resolution) -> str:
    finding = item.finding
    first = view.suggestions.fixed_with.get(identity(finding))
    if first is not None:
        return f"fixed with {location(first, view.report.outcome)}"
    if item.status is Status.FIXABLE and finding.fixes:
        unsafe = finding.applicability is Applicability.UNSAFE
        return f"fix{' (unsafe: --unsafe-fixes)' if unsafe else ''}: {finding.fixes[0].title}"
    return f"no fix: {item.reason or finding.reason or 'none is known'}"


def _rest(items: Sequence[Resolution], whole: str) -> Iterator[str]:
    if items:
        codes = sorted(Counter(item.finding.code for item in items).items())
        yield f"… {len(items)} more findings ({', '.join(f'{code} {n}' for code, n in codes)}); all: {whole}"
