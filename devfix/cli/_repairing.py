"""``apply --trace``: what reading repairs, then what runs of the script show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.cli._verifying import ProofRequest, displayed, one_line_errors

if TYPE_CHECKING:
    from devfix.config import Settings
    from devfix.model import Finding, Outcome, Resolution
    from devfix.trace.repair import Repair
    from devfix.verify.experiment import Experiment
    from devfix.verify.judgement import Verdict

__all__ = ["Tracing"]


class Tracing:
    """One ``apply --trace``.

    Args:
        request: the script's arguments and the options for its runs.
        given: the paths on the command line, the script among them.
        settings: of this run.

    Attributes:
        paths: the given ones, and the files of the program that nothing excludes.

    """

    def __init__(self, request: ProofRequest, given: tuple[str, ...], settings: Settings) -> None:
        from devfix.trace.bounds import Bounds
        from devfix.verify.patches import program_files

        self.experiment: Experiment = request.prepared(given)
        project = self.experiment.project
        if project.module is not None:  # a name, and no path
            given = tuple(path for path in given if path != request.script(given))
        script = str(project.root / project.script)
        self.bounds = Bounds(project, settings, (*given, script))
        known = {project.absolute(path) for path in given}
        inside = [path for path in program_files(project) if self.bounds.holds(path)]
        self.paths = (*given, *(project.shown(path) for path in inside if path not in known))

    def repaired(
        self, outcome: Outcome, again: Callable[[Sequence[Finding]], Outcome], verbosity: int
    ) -> tuple[Outcome, Callable[[int], None] | None]:
        """The outcome with what is proved, and how to show the proof.

        Args:
            outcome: what reading repairs.
            again: what it would repair without some findings.
            verbosity: as for the report; below 0 nothing is told on the way.

        """
        from devfix.trace.repair import repair
        from devfix.verify.patches import changes_of
        from devfix.verify.subset import provable

        with one_line_errors():
            read = changes_of(self.experiment.project, outcome)
            with _progress(verbosity) as tell:
                found = repair(self.experiment, read, self.bounds, tell=tell)
                if not found.repaired and read:
                    tell("nothing helped by running; proving what reading repairs")
                    proved = provable(self.experiment, outcome, again)
                    outcome = proved.outcome if found.diagnosis is None else self._explained(proved.outcome, found)
                    return outcome, self._shown(proved.verdict, proved.changes)
        if not found.repaired:
            well = found.verdict is not None and found.verdict.word == "no-error"
            return self._explained(outcome, found), None if well else self._shown(found.verdict, {})
        searched = (f"found with {found.runs} runs on the device",) if found.steps else ()
        return self._landed(outcome, found), self._shown(found.verdict, found.changes, searched)

    def _shown(
        self, verdict: Verdict | None, changes: Mapping[str, bytes], notes: tuple[str, ...] = ()
    ) -> Callable[[int], None] | None:
        from devfix.report.verdict import Proof

        return None if verdict is None else displayed(Proof(self.experiment, verdict, changes, notes))

    def _landed(self, outcome: Outcome, found: Repair) -> Outcome:
        """The outcome with the patch that was found, and its steps among the findings."""
        from devfix.model import FileChange, Patch, Resolution, Status
        from devfix.trace.findings import finding_of, with_traced

        project = self.experiment.project
        steps = []
        for step in found.steps:
            finding = finding_of(step.diagnosis, project, step.texts, step.candidate)
            steps.append(Resolution(finding, Status.FIXED, remedy=finding.remedies[0]))
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

    def _explained(self, outcome: Outcome, found: Repair) -> Outcome:
        """The outcome with the failure that is left, or why the run tells nothing."""
        from devfix.model import Problem, Resolution, Status
        from devfix.trace.findings import finding_of, with_traced
        from devfix.trace.texts import Texts

        project = self.experiment.project
        if found.diagnosis is None:
            return self._remarked(outcome, found)
        outcome = replace(outcome, notes=tuple(filter(self.bounds.needed, outcome.notes)))
        ignored = self.bounds.ignored(found.diagnosis)
        if ignored:
            said = Problem(
                project.shown(project.script), f"still fails of a device error that was left alone: {ignored}"
            )
            return replace(outcome, notes=(*outcome.notes, said))
        finding = finding_of(found.diagnosis, project, Texts(project.root, found.changes))
        if found.answered:
            return with_traced(outcome, [Resolution(finding, Status.SUPPRESSED)])
        return with_traced(outcome, [Resolution(finding, Status.NOT_FIXED, found.reason)])

    def _remarked(self, outcome: Outcome, found: Repair) -> Outcome:
        """The outcome with a word on a run in which nothing met: it is well, or it shows nothing of devices."""
        from devfix.model import Problem

        script = self.experiment.project.shown(self.experiment.project.script)
        if found.verdict is not None and found.verdict.word == "no-error":
            run = found.verdict.runs["original/device"]
            if run.forgotten and run.changed == 0:
                told = "runs without a device error, and trains nothing: no parameter that its optimizers hold changes"
                return replace(outcome, problems=(*outcome.problems, Problem(script, told)))
            told = "runs without a device error, and trains as it does on the CPU: nothing to repair"
            return replace(outcome, notes=(*outcome.notes, Problem(script, told)))
        if not found.reason or any(problem.path == script for problem in outcome.problems):
            return outcome
        return replace(outcome, problems=(*outcome.problems, Problem(script, found.reason)))


def _not_taken(item: Resolution) -> Resolution:
    from devfix.model import Status

    if item.status is not Status.FIXED:
        return item
    return replace(item, status=Status.NOT_FIXED, reason="with this edit the script did not train as it should")


@contextmanager
def _progress(verbosity: int) -> Iterator[Callable[[str], None]]:
    """One line that says what is tried, on a terminal; nothing elsewhere."""
    from rich.console import Console

    console = Console(stderr=True)
    if verbosity < 0 or not console.is_terminal:
        yield lambda _: None
        return
    with console.status("devfix") as status:
        yield lambda line: status.update(line)
