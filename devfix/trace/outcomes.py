"""What reading and running together came to: an outcome as every report shows it."""

from __future__ import annotations

from dataclasses import replace

from devfix.model import FileChange, Outcome, Patch, Problem, Resolution, Status
from devfix.trace.findings import finding_of, with_traced
from devfix.trace.repair.edited_sources import Texts
from devfix.trace.repair.limits import Bounds
from devfix.trace.repair.search import Repair
from devfix.verify.project import Project

__all__ = ["explained", "landed"]


def landed(outcome: Outcome, found: Repair, project: Project) -> Outcome:
    """What reading came to, with the patch that was found by running, and its steps among the findings."""
    steps = []
    for step in found.steps:
        finding = finding_of(step.diagnosis, project, step.texts, step.candidate)
        steps.append(Resolution(finding, Status.FIXED, fix=finding.fixes[0]))
    before = {project.absolute(change.path): change.old for change in outcome.patch.files}
    files = []
    for path, new in found.changes.items():
        whole = str(project.root / path)
        old = before[whole] if whole in before else found.originals[path]
        if old != new:
            files.append(FileChange(project.shown(path), old, new))
    if not found.base:
        outcome = replace(outcome, resolutions=tuple(map(_not_taken, outcome.resolutions)))
    patch = Patch(tuple(sorted(files, key=lambda change: change.path)))
    return replace(with_traced(outcome, steps), patch=patch)


def _not_taken(item: Resolution) -> Resolution:
    if item.status is not Status.FIXED:
        return item
    return replace(item, status=Status.NOT_FIXED, reason="with this edit the script did not train as it should")


def explained(outcome: Outcome, found: Repair, project: Project, bounds: Bounds) -> Outcome:
    """What reading came to, with the failure that is left, or why the run tells nothing."""
    if found.diagnosis is None:
        return _remarked(outcome, found, project)
    outcome = replace(outcome, notes=tuple(filter(bounds.needed, outcome.notes)))
    ignored = bounds.ignored(found.diagnosis)
    if ignored:
        told = f"still fails of a device error that was left alone: {ignored}"
        return replace(outcome, notes=(*outcome.notes, Problem(project.shown(project.script), told)))
    finding = finding_of(found.diagnosis, project, Texts(project.root, found.changes))
    if found.answered:
        return with_traced(outcome, [Resolution(finding, Status.SUPPRESSED)])
    return with_traced(outcome, [Resolution(finding, Status.NOT_FIXED, found.reason)])


def _remarked(outcome: Outcome, found: Repair, project: Project) -> Outcome:
    """With a word on a run in which nothing met: it is well, or it shows nothing of devices."""
    script = project.shown(project.script)
    if found.verdict is not None and found.verdict.status == "no-error":
        run = found.verdict.runs["original/device"]
        if run.forgotten and run.changed == 0:
            told = "runs without a device error, and trains nothing: no parameter that its optimizers hold changes"
            return replace(outcome, problems=(*outcome.problems, Problem(script, told)))
        told = "runs without a device error, and trains as it does on the CPU: nothing to repair"
        return replace(outcome, notes=(*outcome.notes, Problem(script, told)))
    if not found.reason or any(problem.path == script for problem in outcome.problems):
        return outcome
    return replace(outcome, problems=(*outcome.problems, Problem(script, found.reason)))
