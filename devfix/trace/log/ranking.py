"""What reading finds about the lines of a log, the likeliest cause first."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from devfix.model import Finding, Outcome, Severity
from devfix.trace.diagnosis.non_tensor_causes import meaning
from devfix.trace.log.locate import located, placed
from devfix.trace.log.parse import LoggedError, device_error
from devfix.trace.story import Position
from devfix.verify.patches import Changes, changes_of, program_files
from devfix.verify.project import Project

__all__ = ["LogTrace", "NoFrame", "RankedCause", "read_causes"]

#: Rules whose causes end in other messages than that two values are on different devices.
_RULES = {
    "load": ("DEV301", "DEV302"),
    "rng-state": ("DEV301", "DEV302"),
    "generator": ("DEV603",),
    "numpy": ("DEV601",),
    "pack": ("DEV602",),
    "pin": ("DEV602",),
    "cpu-only": ("DEV601", "DEV602"),
    "split": ("DEV602",),
    "absent": ("DEV501", "DEV301"),
    "ordinal": ("DEV501", "DEV302"),
    "fused": ("DEV401",),
    "foreach": ("DEV401", "DEV201"),
}
_ELSEWHERE = frozenset(rule for rules in _RULES.values() for rule in rules) - {"DEV301", "DEV302", "DEV401", "DEV201"}
_OF_MODULES = frozenset({"DEV201", "DEV202", "DEV203", "DEV204", "DEV701", "DEV104"})
_OF_VALUES = frozenset({"DEV101", "DEV102", "DEV103"})

# What the message says is on the CPU: weights, or what they were given.
_WEIGHTS_ON_CPU = re.compile(
    r"weight type \(torch\.\w*Tensor\)|mat1 is on (?!cpu)|mat2 is on cpu|got weight is on cpu|index is on (?!cpu)"
)
_VALUES_ON_CPU = re.compile(
    r"Input type \(torch\.\w*Tensor\)|mat1 is on cpu|(target|index|input|tensors?) is on cpu|for argument target in"
)

_ON_LINE, _MEETS, _IN_CALLER, _FITS, _ERROR, _REPAIRS = 60, 20, 30, 25, 10, 5


class NoFrame(Exception):
    """No frame of the error is in the project."""


@dataclass(frozen=True)
class RankedCause:
    """A finding, why it is thought to be the cause, and what its repair would change."""

    finding: Finding
    score: int
    reasons: tuple[str, ...]
    changes: Changes


@dataclass(frozen=True)
class LogTrace:
    """What reading says of the error in a log.

    Attributes:
        project: the script, and its project.
        error: the error.
        frames: positions in the project, the deepest first, each with the line that the log has for it.
        causes: the likeliest first.
        texts: the files of the program, by the names that findings give them.

    """

    project: Project
    error: LoggedError
    frames: tuple[tuple[Position, int], ...]
    causes: tuple[RankedCause, ...]
    texts: Mapping[str, str] = field(default_factory=dict)

    def place(self, finding: Finding) -> Position:
        """Where the cause of a finding is."""
        return located(Position(finding.path, finding.span.line, "", ""), self.texts)

    @property
    def meaning(self) -> str:
        """What the message means, in a clause."""
        return meaning(self.error.family or "")


def read_causes(project: Project, text: str) -> LogTrace | None:
    """What reading finds of the device error in a log; None if there is none in it.

    Raises:
        NoFrame: none of its frames is in the project.

    """
    error = device_error(text)
    if error is None:
        return None
    names = {project.shown(path): path for path in program_files(project)}
    files = {name: source for name, path in names.items() if (source := _text(path)) is not None}
    places = [place and located(place, files) for place in placed(error.frames, files)]
    frames = tuple((place, frame.line) for place, frame in zip(places, error.frames, strict=True) if place)
    if not frames:
        raise NoFrame(error.message)
    findings = _findings(list(names))
    ranked = list(_ranked(error, [place for place, _ in frames], findings)) or list(_elsewhere(error, findings))
    ranked.sort(key=lambda cause: -cause.score)
    with_edit = [replace(cause, changes=_repair(project, list(names), cause, findings)) for cause in ranked[:1]]
    return LogTrace(project, error, frames, (*with_edit, *ranked[1:]), files)


def _text(path: str) -> str | None:
    from devfix import sources

    try:
        return sources.read(path).text
    except sources.SourceError:
        return None


def _run(names: Sequence[str], without: Sequence[Finding] | None = None) -> Outcome:
    """What reading says of these files, latent findings too; with ``without``, what repairing the others changes."""
    from devfix import config, sources
    from devfix.engine import fixpoint
    from devfix.rules.registry import all_rules

    settings = config.load(names, {rule.code: rule.name for rule in all_rules()})
    settings = replace(settings, severity=Severity.LATENT, unsafe_fixes=True)
    files, _ = sources.load(names, settings.exclude, settings.root)
    if without is None:
        return fixpoint.check(files, settings)
    return fixpoint.apply(files, settings, without=without)


def _findings(names: Sequence[str]) -> list[Finding]:
    return [resolution.finding for resolution in _run(names).resolutions]


def _repair(project: Project, names: Sequence[str], cause: RankedCause, findings: Sequence[Finding]) -> Changes:
    if not cause.finding.fixes:
        return {}
    others = [finding for finding in findings if finding is not cause.finding]
    return changes_of(project, _run(names, without=others))


# --- ranks ----------------------------------------------------------------------------------------------------------
def _ranked(error: LoggedError, frames: Sequence[Position], findings: Sequence[Finding]) -> Iterator[RankedCause]:
    for finding in findings:
        score, reasons = _touching(finding, frames)
        if score and _can_say(finding.code, error.family or ""):
            yield _weighed(error, finding, score, reasons)


def _elsewhere(error: LoggedError, findings: Sequence[Finding]) -> Iterator[RankedCause]:
    """Errors of the program that could end in the message, though no line of theirs is in the log."""
    for finding in findings:
        if finding.severity is Severity.ERROR and _can_say(finding.code, error.family or ""):
            yield _weighed(error, finding, 0, ["it is wrong in this program, though on none of the lines in the log"])


def _weighed(error: LoggedError, finding: Finding, score: int, reasons: list[str]) -> RankedCause:
    for points, reason in _evidence(finding, error):
        score += points
        reasons = [*reasons, reason] if reason else reasons
    return RankedCause(finding, score, tuple(reasons), {})


def _can_say(code: str, family: str) -> bool:
    """Whether a cause that a rule names can end in a message of this family."""
    if family in _RULES:
        return code in _RULES[family] or code == "DEV100"
    return code not in _ELSEWHERE or code == "DEV501"


def _touching(finding: Finding, frames: Sequence[Position]) -> tuple[int, list[str]]:
    """Points for the nearest frame that is a line of the finding's story, and in words."""
    for depth, frame in enumerate(frames):
        at = [event for event in finding.events if _is_at(frame, event.path, event.line)]
        if not at and not _is_at(frame, finding.path, finding.span.line):
            continue
        if depth:
            return max(_IN_CALLER - depth, 1), [
                f"its story leads through {frame}, from where the failing line was called"
            ]
        meets = any(event.kind == "used" for event in at)
        return _ON_LINE + meets * _MEETS, [f"its story {'ends' if meets else 'is'} on the line that fails, {frame}"]
    return 0, []


def _is_at(frame: Position, path: str, line: int) -> bool:
    return frame.line == line and os.path.abspath(frame.file) == os.path.abspath(path)


def _evidence(finding: Finding, error: LoggedError) -> Iterator[tuple[int, str]]:
    if finding.code in _RULES.get(error.family or "", ()):
        yield _FITS, "the message is the one that this cause ends in"
    if finding.code in _OF_MODULES and _WEIGHTS_ON_CPU.search(error.message):
        yield _FITS, "the message says that weights are on the CPU"
    if finding.code in _OF_VALUES and _VALUES_ON_CPU.search(error.message):
        yield _FITS, "the message says that what the weights were given is on the CPU"
    if finding.severity is Severity.ERROR:
        yield _ERROR, ""
    if finding.fixes:
        yield _REPAIRS, ""
