"""One run of a script that notes where everything lives, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass

from devfix.trace.device_map.rows import PlaceMap, read_map
from devfix.verify.experiment import Experiment
from devfix.verify.records import Run

__all__ = ["Survey", "survey"]


@dataclass(frozen=True)
class Survey:
    """A run with its map.

    Attributes:
        experiment: script, arguments, interpreter, device.
        run: the run, which ended after the first steps.
        map: where everything lived; None where the run ended before it could be taken.

    """

    experiment: Experiment
    run: Run
    map: PlaceMap | None

    @property
    def exit_code(self) -> int:
        """0 where everything is in its place and nothing failed, else 1."""
        return int(not self.run.ok or self.map is None or bool(self.map.misplaced))

    @property
    def summary(self) -> str:
        """When the map was taken, and how much is out of place, in one sentence."""
        if self.map is None:
            return f"No map: {self.run.outcome}"
        steps = f"{self.map.steps} optimizer {'step' if self.map.steps == 1 else 'steps'}"
        where = f" at {self.map.where}" if self.map.where else ""
        moments = {
            "step": f"After {steps}{where}",
            "failure": f"When it failed{where}, after {steps}",
            "end": "At its end, which came before any step",
        }
        count = len(self.map.misplaced)
        found = f"{count} {'thing is' if count == 1 else 'things are'} out of place" if count else "all is in place"
        return f"{moments[self.map.moment]}: {found}."


def survey(experiment: Experiment) -> Survey:
    """Run the script once, to its first steps.

    Raises:
        devfix.verify.RunError: the run could not be made.

    """
    run = experiment.mapped()
    return Survey(experiment, run, read_map(run))
