"""The edit for a cause that a run has shown: what reading proposes for the lines of the story."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, field

from devfix.model import Finding, Outcome, Resolution, Status
from devfix.trace.diagnosis import Diagnosis
from devfix.trace.story import Story
from devfix.verify.experiment import Experiment
from devfix.verify.patches import Changes, changes_of, outcome_for
from devfix.verify.project import Project

__all__ = ["Proposal", "diff_lines", "propose"]


@dataclass(frozen=True)
class Proposal:
    """An edit, or the reason why there is none.

    Attributes:
        changes: new contents of files, by their path within the project; empty if there is no edit.
        title: what it does, or why there is none.
        command: what applies it; the empty string if nothing does.

    """

    changes: Changes = field(default_factory=dict)
    title: str = ""
    command: str = ""


def propose(experiment: Experiment, story: Story | None, diagnosis: Diagnosis | None) -> Proposal:
    """The edit that reading makes for this failure; else none, with the reason."""
    if story is None:
        return Proposal(title="no code of the project was on the stack")
    if diagnosis is not None and diagnosis.package is not None:
        return Proposal(title="installed packages are not edited")
    project = experiment.project
    outcome = outcome_for(project)
    told = [each for each in outcome.resolutions if _touches(project, each.finding, _lines(story, diagnosis))]
    fixed = [each for each in told if each.status is Status.FIXED]
    if fixed:
        titles = dict.fromkeys(each.remedy.title for each in fixed if each.remedy)
        return Proposal(changes_of(project, outcome), "; ".join(titles), f"devfix apply {_given(project, outcome)}")
    return Proposal(title=_why_none(told), command=f"devfix apply --trace {project.shown(project.script)}")


def _lines(story: Story, diagnosis: Diagnosis | None) -> set[tuple[str, int]]:
    """The lines of a story that tell of one failure: where it failed, and where the culprit was born."""
    lines = {(story.where.file, story.where.line)}
    if diagnosis is not None and diagnosis.born is not None and diagnosis.born.position is not None:
        lines.add((diagnosis.born.position.file, diagnosis.born.position.line))
    return lines


def _touches(project: Project, finding: Finding, lines: set[tuple[str, int]]) -> bool:
    return any(line in lines for line in _places(project, finding))


def _places(project: Project, finding: Finding) -> Iterator[tuple[str, int]]:
    for path, line in ((finding.path, finding.span.line), *((event.path, event.line) for event in finding.events)):
        yield _within(project, path), line


def _within(project: Project, path: str) -> str:
    return project.absolute(path).removeprefix(f"{project.root}/")


def _given(project: Project, outcome: Outcome) -> str:
    return " ".join(map(project.shown, dict.fromkeys((project.script, *sorted(changes_of(project, outcome))))))


def _why_none(told: list[Resolution]) -> str:
    """Why reading does not edit."""
    reasons = [each.reason or each.finding.reason for each in told]
    return next((reason for reason in reasons if reason), "reading the source alone does not explain it")


def diff_lines(project: Project, changes: Changes) -> Iterator[str]:
    """The changes as lines of a unified diff."""
    for name in sorted(changes):
        try:
            before = (project.root / name).read_bytes()
        except FileNotFoundError:
            before = b""
        old, new = (text.decode("utf-8", "replace").splitlines() for text in (before, changes[name]))
        yield from difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", lineterm="")
