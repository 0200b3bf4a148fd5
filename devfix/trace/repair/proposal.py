"""The edit for a cause that a run has shown: what reading proposes for the lines of the story."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from devfix.model import Finding, Outcome, Resolution, Status
from devfix.trace.diagnosis.diagnose import Diagnosis, diagnose
from devfix.trace.repair.candidates import candidates
from devfix.trace.repair.edited_sources import Texts
from devfix.trace.repair.progress import got_further
from devfix.trace.story import Story
from devfix.trace.story_json import read_story
from devfix.verify.experiment import Experiment
from devfix.verify.patches import Changes, changes_of, outcome_for
from devfix.verify.project import Project
from devfix.verify.records import Run

__all__ = ["Proposal", "diff_lines", "propose"]

_TRIALS, _TRIAL_STEPS = 4, 2


@dataclass(frozen=True)
class Proposal:
    """An edit, or the reason why there is none.

    Attributes:
        changes: new contents of files, by their path within the project; empty if there is no edit.
        title: what it does, or why there is none.
        command: what applies it, or searches for it; the empty string if nothing does.
        certain: reading knows it; else it was found by running.
        rules: of the findings that it repairs, as reading names them.

    """

    changes: Changes = field(default_factory=dict)
    title: str = ""
    command: str = ""
    certain: bool = True
    rules: tuple[str, ...] = ()


def propose(experiment: Experiment, failed: Run) -> Proposal:
    """The edit that reading makes for this failure; else the first of the likeliest that helps; else why there is none.

    Raises:
        devfix.verify.RunError: a run could not be made.

    """
    story = read_story(failed)
    diagnosis = diagnose(story) if story is not None else None
    if story is None:
        return Proposal(title="no code of the project was on the stack")
    project = experiment.project
    outcome = outcome_for(project)
    told = [each for each in outcome.resolutions if _touches(project, each.finding, _lines(story, diagnosis))]
    if any(each.status is Status.FIXED for each in told):
        return _of_reading(project, outcome, told)
    if diagnosis is not None:
        helpful = _read_elsewhere(experiment, failed, diagnosis, outcome) or _helpful(experiment, failed, diagnosis)
        if helpful is not None:
            return helpful
    if diagnosis is not None and diagnosis.package is not None:
        return Proposal(title="installed packages are not edited")
    return Proposal(title=_why_none(told), command=_search(project) if diagnosis is not None else "")


def _of_reading(project: Project, outcome: Outcome, told: Sequence[Resolution]) -> Proposal:
    """What ``devfix apply`` changes, in the words of those findings that tell of the failure."""
    fixed = [each for each in told if each.status is Status.FIXED]
    titles = dict.fromkeys(each.fix.title for each in fixed if each.fix)
    rules = tuple(dict.fromkeys(each.finding.code for each in fixed))
    return Proposal(
        changes_of(project, outcome), "; ".join(titles), f"devfix apply {_given(project, outcome)}", rules=rules
    )


def _read_elsewhere(experiment: Experiment, failed: Run, diagnosis: Diagnosis, outcome: Outcome) -> Proposal | None:
    """What reading repairs on other lines than those of the failure, where the script gets further with it."""
    changes = changes_of(experiment.project, outcome)
    if not changes:
        return None
    run = _trial(experiment).watched(changes)
    if not run.ok and not got_further(failed, run, diagnosis):
        return None
    return _of_reading(experiment.project, outcome, outcome.resolutions)


def _trial(experiment: Experiment) -> Experiment:
    """The same for a step or two."""
    steps = min(experiment.limits.max_steps or _TRIAL_STEPS, _TRIAL_STEPS)
    return replace(experiment, limits=replace(experiment.limits, max_steps=steps), keep=False)


def _search(project: Project) -> str:
    module = "-m " if project.module else ""
    return f"devfix apply --trace {module}{project.module or project.shown(project.script)}"


def _helpful(experiment: Experiment, failed: Run, diagnosis: Diagnosis) -> Proposal | None:
    """Of the edits that a search would try, the first with which a step or two run; else with which it gets further."""
    from devfix.rewrite import RewriteError

    trial = _trial(experiment)
    texts, further = Texts(experiment.project.root), None
    for candidate in candidates(diagnosis, texts)[:_TRIALS]:
        try:
            changes = texts.after(candidate.edits).changes
        except RewriteError:
            continue
        run = trial.watched(changes)
        proposal = Proposal(dict(changes), candidate.title, _search(experiment.project), certain=False)
        if run.ok:
            return proposal
        if further is None and got_further(failed, run, diagnosis):
            further = proposal
    return further


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
