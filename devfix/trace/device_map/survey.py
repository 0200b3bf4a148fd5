"""Run a script to its first optimizer steps, and take its device map."""

from __future__ import annotations

from dataclasses import dataclass

from devfix.trace.device_map.rows import DeviceMap, read_map
from devfix.verify.advice import describe_ending
from devfix.verify.experiment import Experiment
from devfix.verify.records import Run

__all__ = ["Survey", "survey"]


@dataclass(frozen=True)
class Survey:
    """A run with its device map.

    Attributes:
        experiment: script, arguments, interpreter, device.
        run: the run, which ended after the first steps.
        map: the device map; None if the run ended before it was taken.

    """

    experiment: Experiment
    run: Run
    map: DeviceMap | None

    @property
    def exit_code(self) -> int:
        """0 if nothing is misplaced and nothing failed, else 1."""
        return int(not self.run.ok or self.map is None or bool(self.map.misplaced))

    @property
    def summary(self) -> str:
        """The moment of the map and the number of misplaced rows, in one sentence."""
        if self.map is None:
            return f"No map: {describe_ending(self.run)}"
        steps = f"{self.map.steps} optimizer {'step' if self.map.steps == 1 else 'steps'}"
        where = f" at {self.map.where}" if self.map.where else ""
        moments = {
            "step": f"After {steps}{where}",
            "failure": f"When it failed{where}, after {steps}",
            "end": "At its end, which came before any step",
        }
        count = len(self.map.misplaced)
        found = f"{count} {'object is' if count == 1 else 'objects are'} misplaced" if count else "nothing is misplaced"
        return f"{moments[self.map.moment]}: {found}."


def survey(experiment: Experiment) -> Survey:
    """Run the script to its first optimizer steps, and return its device map.

    Raises:
        devfix.verify.RunError: the run could not be made.

    """
    run = experiment.run_for_device_map()
    return Survey(experiment, run, read_map(run))
