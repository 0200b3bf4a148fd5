"""Propose an edit for a traced failure: that of the static rules, or the first candidate that helps in a short run."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from devfix.model import Finding, Outcome, Resolution, Status
from devfix.trace.diagnosis.diagnose import Diagnosis, diagnose
from devfix.trace.failure_trace import FailureTrace
from devfix.trace.failure_trace_json import read_failure_trace
from devfix.trace.repair.candidates import candidates
from devfix.trace.repair.edited_sources import EditedSources
from devfix.trace.repair.progress import got_further
from devfix.verify.experiment import Experiment
from devfix.verify.patches import Changes, changes_of, outcome_for
from devfix.verify.project import Project
from devfix.verify.records import Run

__all__ = ["Proposal", "diff_lines", "propose"]

_MAX_TRIALS, _TRIAL_STEPS = 4, 2


@dataclass(frozen=True)
class Proposal:
    """An edit, or the reason for which there is none.

    Attributes:
        changes: new contents of files, by path within the project; empty if there is no edit.
        title: a description of the edit, or the reason for which there is none.
        command: the command that applies it, or that searches for one; empty if there is none.
        certain: whether the static rules propose it; otherwise it was found by running.
        rules: codes of the static findings that it fixes.

    """

    changes: Changes = field(default_factory=dict)
    title: str = ""
    command: str = ""
    certain: bool = True
    rules: tuple[str, ...] = ()


def propose(experiment: Experiment, failed: Run, *, is_caught: bool = False) -> Proposal:
    """Return the static rules' edit for a failure, else the first candidate that helps, else the reason for none.

    Args:
        experiment: the script.
        failed: its run.
        is_caught: the script caught the error, so a run with a candidate does not show whether it helps.

    Raises:
        devfix.verify.RunError: a run could not be made.

    """
    failure = read_failure_trace(failed)
    diagnosis = diagnose(failure) if failure is not None else None
    if failure is None:
        return Proposal(title="no code of the project was on the stack")
    project = experiment.project
    outcome = outcome_for(project)
    lines = _failure_lines(failure, diagnosis)
    related = [each for each in outcome.resolutions if _is_on(project, each.finding, lines)]
    if any(each.status is Status.FIXED for each in related):
        return _static_proposal(project, outcome, related)
    if is_caught:
        return Proposal(title=f"the script catches this error: let it raise, then run {_search_command(project)}")
    if diagnosis is not None:
        helpful = _static_elsewhere(experiment, failed, diagnosis, outcome) or _first_helpful(
            experiment, failed, diagnosis
        )
        if helpful is not None:
            return helpful
    if diagnosis is not None and diagnosis.package is not None:
        return Proposal(title="installed packages are not edited")
    return Proposal(title=_reason_for_none(related), command=_search_command(project) if diagnosis is not None else "")


def _static_proposal(project: Project, outcome: Outcome, related: Sequence[Resolution]) -> Proposal:
    """Return the edit of ``devfix apply``, with the titles of the fixes for the related findings."""
    fixed = [each for each in related if each.status is Status.FIXED]
    titles = dict.fromkeys(each.fix.title for each in fixed if each.fix)
    rules = tuple(dict.fromkeys(each.finding.code for each in fixed))
    return Proposal(
        changes_of(project, outcome), "; ".join(titles), f"devfix apply {_paths(project, outcome)}", rules=rules
    )


def _static_elsewhere(experiment: Experiment, failed: Run, diagnosis: Diagnosis, outcome: Outcome) -> Proposal | None:
    """Return the static rules' edit on lines unrelated to the failure, if the script gets further with it."""
    changes = changes_of(experiment.project, outcome)
    if not changes:
        return None
    run = _short(experiment).run_with_provenance(changes)
    if not run.ok and not got_further(failed, run, diagnosis):
        return None
    return _static_proposal(experiment.project, outcome, outcome.resolutions)


def _short(experiment: Experiment) -> Experiment:
    """Return the experiment limited to a step or two."""
    steps = min(experiment.limits.max_steps or _TRIAL_STEPS, _TRIAL_STEPS)
    return replace(experiment, limits=replace(experiment.limits, max_steps=steps), keep=False)


def _search_command(project: Project) -> str:
    module = "-m " if project.module else ""
    return f"devfix apply --trace {module}{project.module or project.shown(project.script)}"


def _first_helpful(experiment: Experiment, failed: Run, diagnosis: Diagnosis) -> Proposal | None:
    """Return the first candidate with which a step or two run, else the first with which the script gets further."""
    from devfix.rewrite import RewriteError

    short = _short(experiment)
    edited, further = EditedSources(experiment.project.root), None
    for candidate in candidates(diagnosis, edited)[:_MAX_TRIALS]:
        try:
            changes = edited.after(candidate.edits).changes
        except RewriteError:
            continue
        run = short.run_with_provenance(changes)
        proposal = Proposal(dict(changes), candidate.title, _search_command(experiment.project), certain=False)
        if run.ok:
            return proposal
        if further is None and got_further(failed, run, diagnosis):
            further = proposal
    return further


def _failure_lines(failure: FailureTrace, diagnosis: Diagnosis | None) -> set[tuple[str, int]]:
    """Return the failing line and the line of the misplaced value's origin."""
    lines = {(failure.where.file, failure.where.line)}
    if diagnosis is not None and diagnosis.origin is not None and diagnosis.origin.position is not None:
        lines.add((diagnosis.origin.position.file, diagnosis.origin.position.line))
    return lines


def _is_on(project: Project, finding: Finding, lines: set[tuple[str, int]]) -> bool:
    positions = ((finding.path, finding.span.line), *((event.path, event.line) for event in finding.events))
    return any((_relative(project, path), line) in lines for path, line in positions)


def _relative(project: Project, path: str) -> str:
    return project.absolute(path).removeprefix(f"{project.root}/")


def _paths(project: Project, outcome: Outcome) -> str:
    return " ".join(map(project.shown, dict.fromkeys((project.script, *sorted(changes_of(project, outcome))))))


def _reason_for_none(related: list[Resolution]) -> str:
    """Return the reason for which the static rules make no edit."""
    reasons = [each.reason or each.finding.reason for each in related]
    return next((reason for reason in reasons if reason), "static analysis does not explain the failure")


def diff_lines(project: Project, changes: Changes) -> Iterator[str]:
    """Yield the lines of a unified diff of the changes."""
    for name in sorted(changes):
        try:
            before = (project.root / name).read_bytes()
        except FileNotFoundError:
            before = b""
        old, new = (text.decode("utf-8", "replace").splitlines() for text in (before, changes[name]))
        yield from difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", lineterm="")
