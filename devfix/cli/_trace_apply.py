"""``apply --trace``: what reading repairs, then what runs of the script show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from devfix.cli._verifying import ProofRequest, convert_run_errors

if TYPE_CHECKING:
    from devfix.config import Settings
    from devfix.model import Finding, Outcome
    from devfix.verify.experiment import Experiment
    from devfix.verify.result import Proof
    from devfix.verify.verdict import Verdict

__all__ = ["TraceApply"]


class TraceApply:
    """One ``apply --trace``.

    Args:
        request: the script's arguments and the options for its runs.
        given: the paths on the command line, the script among them.
        settings: of this run.

    Attributes:
        paths: the given ones, and the files of the program that nothing excludes.

    """

    def __init__(self, request: ProofRequest, given: tuple[str, ...], settings: Settings) -> None:
        from devfix.trace.repair.limits import Bounds
        from devfix.verify.patches import program_files

        self.experiment: Experiment = request.prepare(given)
        project = self.experiment.project
        if project.module is not None:  # a name, and no path
            given = tuple(path for path in given if path != request.script(given))
        script = str(project.root / project.script)
        self.bounds = Bounds(project, settings, (*given, script))
        known = {project.absolute(path) for path in given}
        inside = [path for path in program_files(project) if self.bounds.holds(path)]
        self.paths = (*given, *(project.shown(path) for path in inside if path not in known))

    def repair(
        self, outcome: Outcome, again: Callable[[Sequence[Finding]], Outcome], verbosity: int
    ) -> tuple[Outcome, Proof | None]:
        """The outcome with what is proved, and the proof.

        Args:
            outcome: what reading repairs.
            again: what it would repair without some findings.
            verbosity: as for the report; below 0 nothing is told on the way.

        """
        from devfix.trace.outcomes import explained, landed
        from devfix.trace.repair.search import repair
        from devfix.verify.patches import changes_of
        from devfix.verify.subset import prove_subset

        with convert_run_errors():
            read = changes_of(self.experiment.project, outcome)
            with _progress(verbosity) as tell:
                found = repair(self.experiment, read, self.bounds, tell=tell)
                if not found.repaired and read:
                    tell("nothing helped by running; proving what reading repairs")
                    proved = prove_subset(self.experiment, outcome, again)
                    outcome = (
                        proved.outcome
                        if found.diagnosis is None
                        else explained(proved.outcome, found, self.experiment.project, self.bounds)
                    )
                    return outcome, self._proof(proved.verdict, proved.changes)
        if not found.repaired:
            well = found.verdict is not None and found.verdict.status == "no-error"
            return explained(outcome, found, self.experiment.project, self.bounds), None if well else self._proof(
                found.verdict, {}
            )
        searched = (f"found with {found.runs} runs on the device",) if found.steps else ()
        return landed(outcome, found, self.experiment.project), self._proof(found.verdict, found.changes, searched)

    def _proof(
        self, verdict: Verdict | None, changes: Mapping[str, bytes], notes: tuple[str, ...] = ()
    ) -> Proof | None:
        from devfix.verify.result import Proof

        return None if verdict is None else Proof(self.experiment, verdict, changes, notes)


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
