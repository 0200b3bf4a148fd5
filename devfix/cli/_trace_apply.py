"""``apply --trace``: fixes from static analysis, then fixes from traced runs of the script."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from devfix.cli._verifying import ProofRequest, convert_run_errors

if TYPE_CHECKING:
    from devfix.cli._progress import Progress
    from devfix.config import Settings
    from devfix.model import Finding, Outcome
    from devfix.verify.experiment import Experiment
    from devfix.verify.result import Proof
    from devfix.verify.verdict import Verdict

__all__ = ["TraceApply"]


class TraceApply:
    """A run of ``apply --trace``.

    Args:
        request: the script's arguments and the run options.
        given: the paths on the command line, which include the script.
        settings: the configuration.

    Attributes:
        paths: the given paths and the files of the program, without excluded ones.

    """

    def __init__(self, request: ProofRequest, given: tuple[str, ...], settings: Settings) -> None:
        from devfix.trace.repair.limits import Bounds
        from devfix.verify.patches import program_files

        self.experiment: Experiment = request.prepare(given)
        project = self.experiment.project
        if project.module is not None:  # a module name, not a path
            given = tuple(path for path in given if path != request.script(given))
        script = str(project.root / project.script)
        self.bounds = Bounds(project, settings, (*given, script))
        known = {project.absolute(path) for path in given}
        inside = [path for path in program_files(project) if self.bounds.may_edit(path)]
        self.paths = (*given, *(project.shown(path) for path in inside if path not in known))

    def repair(
        self, outcome: Outcome, again: Callable[[Sequence[Finding]], Outcome], progress: Progress
    ) -> tuple[Outcome, Proof | None]:
        """Return the outcome with verified fixes only, and the proof.

        Args:
            outcome: the outcome of static analysis.
            again: returns the outcome without fixes of the given findings.
            progress: is told of each run.

        """
        from devfix.trace.outcomes import with_remaining_failure, with_repair
        from devfix.trace.repair.search import repair
        from devfix.verify.patches import changes_of
        from devfix.verify.subset import prove_subset

        runs = progress.of_runs()
        with convert_run_errors():
            read = changes_of(self.experiment.project, outcome)
            found = repair(self.experiment, read, self.bounds, report=runs)
            if not found.repaired and read:
                self.experiment.report = runs
                proved = prove_subset(self.experiment, outcome, again)
                outcome = (
                    proved.outcome
                    if found.diagnosis is None
                    else with_remaining_failure(proved.outcome, found, self.experiment.project, self.bounds)
                )
                return outcome, self._proof(proved.verdict, proved.changes)
        if not found.repaired:
            no_error = found.verdict is not None and found.verdict.status == "no-error"
            return with_remaining_failure(
                outcome, found, self.experiment.project, self.bounds
            ), None if no_error else self._proof(found.verdict, {})
        search_note = (f"found with {found.runs} runs on the device",) if found.steps else ()
        return with_repair(outcome, found, self.experiment.project), self._proof(
            found.verdict, found.changes, search_note
        )

    def _proof(
        self, verdict: Verdict | None, changes: Mapping[str, bytes], notes: tuple[str, ...] = ()
    ) -> Proof | None:
        from devfix.verify.result import Proof

        return None if verdict is None else Proof(self.experiment, verdict, changes, notes)
