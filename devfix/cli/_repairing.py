"""``apply --trace``: what reading repairs, then what runs of the script show."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.cli._verifying import ProofRequest, displayed, one_line_errors

if TYPE_CHECKING:
    from devfix.model import Finding, Outcome, Resolution
    from devfix.trace.repair import Repair
    from devfix.verify.experiment import Experiment

__all__ = ["Tracing"]


class Tracing:
    """One ``apply --trace``.

    Args:
        request: the script's arguments and the options for its runs.
        given: the paths on the command line, the script among them.

    Attributes:
        paths: the given ones, and the files of the program.

    """

    def __init__(self, request: ProofRequest, given: tuple[str, ...]) -> None:
        from devfix.verify.patches import program_files, shown

        self.experiment: Experiment = request.prepared(given)
        inside = [shown(path) for path in program_files(self.experiment.project)]
        if self.experiment.project.module is not None:  # a name, and no path
            given = tuple(path for path in given if path != request.script(given))
        known = {self.experiment.project.absolute(path) for path in given}
        more = [path for path in inside if self.experiment.project.absolute(path) not in known]
        self.paths = (*given, *more)

    def repaired(
        self, outcome: Outcome, again: Callable[[Sequence[Finding]], Outcome], verbosity: int
    ) -> tuple[Outcome, Callable[[int], None] | None]:
        """The outcome with what is proved, and how to show the proof.

        Args:
            outcome: what reading repairs.
            again: what it would repair without some findings.
            verbosity: as for the report; below 0 nothing is told on the way.

        """
        from devfix.report.verdict import Proof
        from devfix.trace.repair import repair
        from devfix.verify.patches import changes_of
        from devfix.verify.subset import provable

        project = self.experiment.project
        with one_line_errors():
            read = changes_of(project, outcome)
            with _progress(verbosity) as tell:
                found = repair(self.experiment, read, tell=tell)
            if not found.repaired and read:
                proved = provable(self.experiment, outcome, again)
                if proved.verdict is not None:
                    proof = Proof(self.experiment, proved.verdict, proved.changes)
                    return self._explained(proved.outcome, found), displayed(proof)
                outcome = proved.outcome
        if not found.repaired:
            proof_of = None if found.verdict is None else displayed(Proof(self.experiment, found.verdict, {}))
            return self._explained(outcome, found), proof_of
        assert found.verdict is not None
        return self._landed(outcome, found), displayed(Proof(self.experiment, found.verdict, dict(found.changes)))

    def _landed(self, outcome: Outcome, found: Repair) -> Outcome:
        """The outcome with the patch that was found, and its steps among the findings."""
        from devfix.model import FileChange, Patch, Resolution, Status
        from devfix.trace.findings import finding_of, with_traced
        from devfix.verify.patches import shown

        root = self.experiment.project.root
        steps = []
        for step in found.steps:
            finding = finding_of(step.diagnosis, root, step.candidate)
            steps.append(Resolution(finding, Status.FIXED, remedy=finding.remedies[0]))
        files = [
            FileChange(shown(str(root / path)), (root / path).read_bytes(), new)
            for path, new in found.changes.items()
            if (root / path).read_bytes() != new
        ]
        if not found.base:
            outcome = replace(outcome, resolutions=tuple(map(_not_taken, outcome.resolutions)))
        patch = Patch(tuple(sorted(files, key=lambda change: change.path)))
        return replace(with_traced(outcome, steps), patch=patch)

    def _explained(self, outcome: Outcome, found: Repair) -> Outcome:
        """The outcome with the failure that is left."""
        from devfix.model import Problem, Resolution, Status
        from devfix.trace.findings import finding_of, with_traced

        project = self.experiment.project
        if found.diagnosis is None:
            if not found.reason:
                return outcome
            script = os.path.relpath(project.root / project.script)
            return replace(
                outcome, notes=(*outcome.notes, Problem(script, f"nothing to repair by running: {found.reason}"))
            )
        left = Resolution(finding_of(found.diagnosis, project.root), Status.NOT_FIXED, found.reason)
        return with_traced(outcome, [left])


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
