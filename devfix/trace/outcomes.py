"""Merge the result of a repair by running into the outcome of the static rules, as every report shows it."""

from __future__ import annotations

from dataclasses import replace

from devfix.model import FileChange, Outcome, Patch, Problem, Resolution, Status
from devfix.trace.findings import finding_of, with_traced
from devfix.trace.repair.edited_sources import EditedSources
from devfix.trace.repair.limits import Bounds
from devfix.trace.repair.search import Repair
from devfix.verify.project import Project

__all__ = ["with_remaining_failure", "with_repair"]


def with_repair(outcome: Outcome, repair: Repair, project: Project) -> Outcome:
    """Return the static outcome with the patch that the repair found, and a finding for each of its steps."""
    steps = []
    for step in repair.steps:
        finding = finding_of(step.diagnosis, project, step.edited, step.candidate)
        steps.append(Resolution(finding, Status.FIXED, fix=finding.fixes[0]))
    before = {project.absolute(change.path): change.old for change in outcome.patch.files}
    files = []
    for path, new in repair.changes.items():
        absolute = str(project.root / path)
        old = before[absolute] if absolute in before else repair.originals[path]
        if old != new:
            files.append(FileChange(project.shown(path), old, new))
    if not repair.base:
        outcome = replace(outcome, resolutions=tuple(map(_reverted, outcome.resolutions)))
    patch = Patch(tuple(sorted(files, key=lambda change: change.path)))
    return replace(with_traced(outcome, steps), patch=patch)


def _reverted(item: Resolution) -> Resolution:
    if item.status is not Status.FIXED:
        return item
    return replace(item, status=Status.NOT_FIXED, reason="with this edit the script did not train as on the CPU")


def with_remaining_failure(outcome: Outcome, repair: Repair, project: Project, bounds: Bounds) -> Outcome:
    """Return the static outcome with the failure that remains, or with the reason for which the run shows none."""
    if repair.diagnosis is None:
        return _with_note(outcome, repair, project)
    outcome = replace(outcome, notes=tuple(filter(bounds.is_still_valid, outcome.notes)))
    disabled = bounds.disabled_reason(repair.diagnosis)
    if disabled:
        message = f"still fails with a device error that is excluded: {disabled}"
        return replace(outcome, notes=(*outcome.notes, Problem(project.shown(project.script), message)))
    finding = finding_of(repair.diagnosis, project, EditedSources(project.root, repair.changes))
    if repair.is_suppressed:
        return with_traced(outcome, [Resolution(finding, Status.SUPPRESSED)])
    return with_traced(outcome, [Resolution(finding, Status.NOT_FIXED, repair.reason)])


def _with_note(outcome: Outcome, repair: Repair, project: Project) -> Outcome:
    """Return the outcome with a note on a run without a device error: it trains, or it shows nothing about devices."""
    script = project.shown(project.script)
    if repair.verdict is not None and repair.verdict.status == "no-error":
        run = repair.verdict.runs["original/device"]
        if run.forgotten and run.changed == 0:
            message = "runs without a device error, and trains nothing: its optimizers hold no parameter that changes"
            return replace(outcome, problems=(*outcome.problems, Problem(script, message)))
        message = "runs without a device error, and trains as it does on the CPU: nothing to fix"
        return replace(outcome, notes=(*outcome.notes, Problem(script, message)))
    if not repair.reason or any(problem.path == script for problem in outcome.problems):
        return outcome
    return replace(outcome, problems=(*outcome.problems, Problem(script, repair.reason)))
