"""Details of one repository for the page of a migration, as JSON values.

Strings have no unprintable characters.  Long findings lists, diffs and logs are cut; the page says how much is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from devfix.migrate.record import Record, RepositoryOutcome, RunSummary, VerdictSummary
from devfix.model import Status
from devfix.report.html import terminal_text, visible
from devfix.report.runs.chart import chart
from devfix.report.runs.curves import finite_curves
from devfix.report.runs.verdict import number
from devfix.vcs.hunks import DiffFile, Hunk, highlight, read

__all__ = ["details"]

_MAX_FINDINGS = 200
_MAX_DIFF_LINES = 2000
_MAX_LINE_LENGTH = 1000
_MAX_TAIL = 16_000
_MAX_POINTS = 240
_WEB = re.compile(r"https?://[A-Za-z0-9.-]+(?::\d+)?(?:/[^\s\"'<>\\]*)?")


def details(record: Record, *, coloured: bool = True) -> dict[str, Any]:
    """Return the details of one repository.

    Args:
        record: the result of the repository.
        coloured: whether lines of the diff are divided into pieces with colours.

    Raises:
        KeyError: a finding or a problem is not as in schema/report-2.json.

    """
    diff, more_lines = _diff(record.patch, coloured)
    return {
        "facts": [[visible(name), visible(text)] for name, text in _facts(record) if text],
        "web": record.repository if _WEB.fullmatch(record.repository) else "",
        "why": _why(record),
        "findings": [_finding(finding, bool(record.patch)) for finding in record.findings[:_MAX_FINDINGS]],
        "more_findings": max(0, len(record.findings) - _MAX_FINDINGS),
        "diff": diff,
        "more_lines": more_lines,
        "verdict": None if record.verdict is None else _verdict(record.verdict),
        "problems": [_problem(problem) for problem in record.problems],
        "notes": [_problem(note) for note in record.notes],
        "log": _tail(record.log),
    }


def _facts(record: Record) -> Iterator[tuple[str, str]]:
    yield "repository", record.repository
    yield "folder", record.folder
    yield "ref", record.ref
    yield "commit", record.commit
    yield "files checked", str(record.checked) if record.checked else ""
    stages = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in (record.timings or {}).items())
    yield "time", f"{record.seconds:.1f} s" + (f" ({stages})" if stages else "")
    if record.cpu_s and record.memory_mb:
        yield "cost", f"{record.cpu_s:.1f} s of CPU, {record.memory_mb:.0f} MB"
    if record.published is not None:
        yield "patch file", record.published.path
        branch, commit = record.published.branch, record.published.commit
        yield "branch", f"{branch} at {commit}" if commit else branch
        yield "pull request", record.published.url
        yield "mirror", record.published.mirror if branch else ""
    for part in record.parts:
        at = part.published
        told = "" if at is None else at.url or (f"{at.branch} at {at.commit}" if at.commit else at.branch)
        yield f"files of {', '.join(part.owners) or 'nobody'}", told or ", ".join(part.files)
    yield "tool", f"devfix {record.tool}"


def _why(record: Record) -> list[str]:
    """Return a heading and the reason of the outcome; empty if there is no reason."""
    if not record.reason:
        return []
    if record.outcome is RepositoryOutcome.FAILED:
        return [f"Failed in stage {visible(record.stage)}", visible(record.reason)]
    heading = "Not fixed" if record.outcome is RepositoryOutcome.NOT_FIXED else "Note"
    return [heading, visible(record.reason)]


def _finding(finding: Mapping[str, Any], has_patch: bool) -> dict[str, Any]:
    """Return a finding of schema/report-2.json for the page; without a patch, none counts as fixed."""
    fix = finding["fix"]
    is_fixed = finding["status"] == Status.FIXED.value
    return {
        "code": visible(finding["code"]),
        "name": visible(finding["name"]),
        "severity": visible(finding["severity"]),
        "status": "not kept" if is_fixed and not has_patch else visible(finding["status"]),
        "message": visible(finding["message"]),
        "where": visible(f"{_where(finding, finding['span']['line'])}:{finding['span']['column']}"),
        "fix": "" if fix is None else visible(f"{fix['title']} ({fix['applicability']})"),
        "reason": visible(finding["reason"] or ""),
        "notes": [visible(note) for note in finding["notes"]],
        "events": [
            [
                visible(event["kind"]),
                visible(_where(event, event["line"])),
                _cut(visible(event["source"])),
                visible(event["note"]),
            ]
            for event in finding["events"]
        ],
    }


def _where(item: Mapping[str, Any], line: int | None) -> str:
    """Return path, cell in a notebook, and line if there is one."""
    path = f"{item['path']}:cell {item['cell']}" if "cell" in item else item["path"]
    return f"{path}:{line}" if line else path


def _problem(problem: Mapping[str, Any]) -> list[str]:
    return [visible(_where(problem, problem["line"])), visible(problem["message"]), visible(problem["hint"] or "")]


def _diff(patch: str, coloured: bool) -> tuple[list[dict[str, Any]], int]:
    """Return the files of a patch, and the number of omitted lines."""
    budget, missing, found = _MAX_DIFF_LINES, 0, []
    for file in read(patch):
        hunks = []
        for hunk in file.hunks:
            lines = _lines(file, hunk, coloured)[:budget] if budget else []
            missing += len(hunk.lines) - len(lines)
            budget -= len(lines)
            if lines:
                hunks.append([hunk.old, hunk.new, visible(hunk.heading), lines])
        remarks = [visible(remark) for remark in file.other_lines if remark]
        shown = {"path": visible(file.path), "added": file.count("+"), "removed": file.count("-")}
        found.append({**shown, "remarks": remarks, "hunks": hunks})
    return found, missing


def _lines(file: DiffFile, hunk: Hunk, coloured: bool) -> list[list[str]]:
    """Return each line as a list: its mark, then kind and text of each piece."""
    if not coloured:
        return [[line.mark, "", visible(_cut(line.code))] for line in hunk.lines]
    lines = []
    for line, pieces in zip(hunk.lines, highlight(file.path, hunk), strict=True):
        cut = [(kind, visible(_cut(text))) for kind, text in pieces]
        lines.append([line.mark, *(part for piece in cut for part in piece)])
    return lines


def _verdict(verdict: VerdictSummary) -> dict[str, Any]:
    runs = verdict.runs or {}
    tails = []
    for name, run in runs.items():
        if run.traceback:
            tails.append([f"{name}: traceback", _tail(run.traceback)])
        if run.output and not run.ok:
            tails.append([f"{name}: output", _tail(run.output)])
    period = "" if verdict.reason.endswith((".", "!", "?")) else "."
    return {
        "status": visible(verdict.status),
        "sentence": visible(f"{verdict.status}: {verdict.reason}{period}"),
        "where": visible(verdict.where),
        "command": visible(" ".join((verdict.script, *verdict.arguments))),
        "notes": [visible(note) for note in verdict.notes],
        "rows": [[visible(name), *_cells(run)] for name, run in runs.items()],
        "chart": _chart(verdict),
        "tails": [[visible(title), text] for title, text in tails],
    }


def _cells(run: RunSummary) -> list[str]:
    """Return outcome, steps, first loss, last loss, and largest difference of a run."""
    first, last = (number(run.losses[0]), number(run.losses[-1])) if run.losses else ("–", "–")
    difference = "–" if run.largest_difference is None else number(run.largest_difference)
    return [_cut(visible(run.outcome)), str(run.steps), first, last, difference]


def _chart(verdict: VerdictSummary) -> dict[str, Any] | None:
    """Return the loss curves of the reference run and of the patched script on the device."""
    runs = verdict.runs or {}
    names = dict.fromkeys((verdict.reference or "original/cpu", "patched/device"))
    drawn = chart(finite_curves({name: _numbered(runs[name]) for name in names if name in runs}), _MAX_POINTS)
    if drawn is None:
        return None
    return {
        "size": [drawn.width, drawn.height],
        "edges": [drawn.left, drawn.right],
        "panels": [[*drawn.loss_panel], [*drawn.difference_panel]],
        "numbers": drawn.numbers,
        "names": [visible(line.name) for line in drawn.lines],
        "lines": [line.points for line in drawn.lines],
        "difference": drawn.difference.points,
        "summary": drawn.summary,
        "marked": bool(drawn.lines[-1].marks),
        "readings": drawn.readings,
    }


def _numbered(run: RunSummary) -> Iterator[tuple[int, float]]:
    """Yield the losses with their numbers from 1; the last loss may lie off the stride, at the run's last step."""
    for index, loss in enumerate(run.losses):
        number = 1 + index * run.stride
        is_off_stride = index == len(run.losses) - 1 and number - run.stride < run.steps < number
        yield (run.steps if is_off_stride else number), loss


def _tail(text: str) -> str:
    shown = terminal_text(text).strip("\n")
    return shown if len(shown) <= _MAX_TAIL else "…" + shown[-_MAX_TAIL:]


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_LINE_LENGTH else text[:_MAX_LINE_LENGTH] + "…"
