"""Rank the static findings on the lines of a log, the likeliest cause first."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from devfix.model import Finding, Outcome, Severity
from devfix.rules.registry import all_rules, rule_for
from devfix.trace.failure_trace import Position
from devfix.trace.log.locate import positions_of, with_cell
from devfix.trace.log.parse import LoggedError, device_errors
from devfix.trace.log.script import find_script, source_text
from devfix.verify.patches import Changes, changes_of, program_files
from devfix.verify.probe.messages import FAMILIES, MISMATCH, MessageFamily
from devfix.verify.project import Project, find_project

__all__ = ["LogTrace", "NoFrame", "RankedCause", "diagnose_log", "read_causes"]

# Messages about weights on the CPU, and about inputs on the CPU.
_WEIGHTS_ON_CPU = re.compile(
    r"weight type \(torch\.\w*Tensor\)|mat1 is on (?!cpu)|mat2 is on cpu|got weight is on cpu|index is on (?!cpu)"
)
_INPUTS_ON_CPU = re.compile(
    r"Input type \(torch\.\w*Tensor\)|mat1 is on cpu|(target|index|input|tensors?) is on cpu|for argument target in"
)

_ON_LINE, _IS_USE, _IN_CALLER, _MESSAGE, _ERROR, _HAS_FIX = 60, 20, 30, 25, 10, 5


class NoFrame(Exception):
    """No frame of the error is in the project."""


@dataclass(frozen=True)
class RankedCause:
    """A finding, its score as the cause, the reasons for the score, and the changes of its fix."""

    finding: Finding
    score: int
    reasons: tuple[str, ...]
    changes: Changes


@dataclass(frozen=True)
class LogTrace:
    """The result of static analysis for the error in a log.

    Attributes:
        project: the script, and its project; None if no frame of the error is in a project.
        error: the error.
        family: the family of its message.
        frames: positions in the project, the deepest first, each with its line number in the log.
        causes: the findings, the likeliest cause first.
        texts: contents of the program's files, by their names in findings.

    """

    project: Project | None
    error: LoggedError
    family: MessageFamily
    frames: tuple[tuple[Position, int], ...] = ()
    causes: tuple[RankedCause, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)

    def position_of(self, finding: Finding) -> Position:
        """Return the position of a finding."""
        return with_cell(Position(finding.path, finding.span.line, "", ""), self.texts)


def read_causes(project: Project, text: str) -> LogTrace | None:
    """Return the static findings that explain the device error in a log.

    Args:
        project: the project that the log is from.
        text: the log.

    Returns:
        The error with ranked causes; None if the log has no device error.

    Raises:
        NoFrame: none of the error's frames is in the project.

    """
    errors = device_errors(text)
    if not errors:
        return None
    found = _explain(project, errors, frozenset())
    if found is None:
        raise NoFrame(errors[0].message)
    return found


def diagnose_log(text: str, folder: str) -> LogTrace | None:
    """Return the static findings that explain the device error in a log, for the program that its frames are from.

    Args:
        text: the log.
        folder: the folder that has the program.

    Returns:
        The error with ranked causes, without a project if none of its frames is in the folder; None if the log has no
        device error.

    """
    errors = device_errors(text)
    if not errors:
        return None
    found = find_script(errors, folder)
    explained = found and _explain(find_project(found.script), errors, found.files)
    return explained or LogTrace(None, errors[0], _family(errors[0]))


def _explain(project: Project, errors: Sequence[LoggedError], more: Collection[str]) -> LogTrace | None:
    """Return the causes of the first error with a frame in the project.

    Args:
        project: the script, and its project.
        errors: device errors.
        more: absolute paths of files that the script does not import, and that belong to the program.

    """
    names = {project.shown(path): path for path in sorted({*program_files(project), *more})}
    files = {name: source for name, path in names.items() if (source := source_text(path)) is not None}
    for error in errors:
        positions = [position and with_cell(position, files) for position in positions_of(error.frames, files)]
        frames = tuple(
            (position, frame.line) for position, frame in zip(positions, error.frames, strict=True) if position
        )
        if frames:
            break
    else:
        return None
    findings = _findings(list(names))
    ranked = list(_ranked(error, [position for position, _ in frames], findings)) or list(
        _on_other_lines(error, findings)
    )
    ranked.sort(key=lambda cause: -cause.score)
    with_changes = [replace(cause, changes=_fix_changes(project, list(names), cause, findings)) for cause in ranked[:1]]
    return LogTrace(project, error, _family(error), frames, (*with_changes, *ranked[1:]), files)


def _family(error: LoggedError) -> MessageFamily:
    return FAMILIES[error.family or MISMATCH]


def _run(names: Sequence[str], without: Sequence[Finding] | None = None) -> Outcome:
    """Return all findings on these files, including latent ones; with ``without``, apply the fixes of the others."""
    from devfix import config, sources
    from devfix.engine import fixpoint
    from devfix.rules.trust import leave_out

    settings = config.load(names, {rule.code: rule.name for rule in all_rules()}, local=leave_out)
    settings = replace(settings, severity=Severity.LATENT, includes_doubtful=True, unsafe_fixes=True)
    files, _ = sources.load(names, settings.exclude, settings.root)
    if without is None:
        return fixpoint.check(files, settings)
    return fixpoint.apply(files, settings, without=without)


def _findings(names: Sequence[str]) -> list[Finding]:
    return [resolution.finding for resolution in _run(names).resolutions]


def _fix_changes(project: Project, names: Sequence[str], cause: RankedCause, findings: Sequence[Finding]) -> Changes:
    if not cause.finding.fixes:
        return {}
    others = [finding for finding in findings if finding is not cause.finding]
    return changes_of(project, _run(names, without=others))


# --- ranks ----------------------------------------------------------------------------------------------------------
def _ranked(error: LoggedError, frames: Sequence[Position], findings: Sequence[Finding]) -> Iterator[RankedCause]:
    for finding in findings:
        score, reasons = _nearest_frame(finding, frames)
        if score and _can_end_in(finding, _family(error)):
            yield _scored(error, finding, score, reasons)


def _on_other_lines(error: LoggedError, findings: Sequence[Finding]) -> Iterator[RankedCause]:
    """Yield errors of the program that can end in the message, and are on no line of the log."""
    for finding in findings:
        if finding.severity is Severity.ERROR and _can_end_in(finding, _family(error)):
            yield _scored(
                error, finding, 0, ["it is an error of this program, although on none of the lines in the log"]
            )


def _scored(error: LoggedError, finding: Finding, score: int, reasons: list[str]) -> RankedCause:
    for points, reason in _evidence(finding, error):
        score += points
        reasons = [*reasons, reason] if reason else reasons
    return RankedCause(finding, score, tuple(reasons), {})


def _can_end_in(finding: Finding, family: MessageFamily) -> bool:
    """Return whether a finding can end in a message of this family."""
    rule = rule_for(finding.code)
    return rule is None or family.is_end_of(rule.error_families)


def _nearest_frame(finding: Finding, frames: Sequence[Position]) -> tuple[int, list[str]]:
    """Return score and reason for the deepest frame on the path of the finding; 0 if there is none."""
    for depth, frame in enumerate(frames):
        at = [event for event in finding.events if _is_at(frame, event.path, event.line)]
        if not at and not _is_at(frame, finding.path, finding.span.line):
            continue
        if depth:
            return max(_IN_CALLER - depth, 1), [f"its path leads through {frame}, a caller of the failing line"]
        is_use = any(event.kind == "used" for event in at)
        return _ON_LINE + is_use * _IS_USE, [f"its path {'ends' if is_use else 'is'} on the failing line, {frame}"]
    return 0, []


def _is_at(frame: Position, path: str, line: int) -> bool:
    return frame.line == line and os.path.abspath(frame.file) == os.path.abspath(path)


def _evidence(finding: Finding, error: LoggedError) -> Iterator[tuple[int, str]]:
    rule = rule_for(finding.code)
    family = error.family
    if rule is not None and family != MISMATCH and family in rule.error_families:
        yield _MESSAGE, "this cause ends in this message"
    if rule is not None and rule.concerns == "modules" and _WEIGHTS_ON_CPU.search(error.message):
        yield _MESSAGE, "the message says that weights are on the CPU"
    if rule is not None and rule.concerns == "values" and _INPUTS_ON_CPU.search(error.message):
        yield _MESSAGE, "the message says that an input is on the CPU"
    if finding.severity is Severity.ERROR:
        yield _ERROR, ""
    if finding.fixes:
        yield _HAS_FIX, ""
