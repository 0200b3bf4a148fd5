"""A verdict with its experiment and patch, ready for a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from devfix.verify.comparison import changed_outputs
from devfix.verify.loss_comparison import in_float64

if TYPE_CHECKING:
    from devfix.verify.experiment import Experiment
    from devfix.verify.outputs import Difference
    from devfix.verify.records import Run
    from devfix.verify.verdict import Verdict

__all__ = ["Proof", "describe_device", "largest_difference"]

#: The rows of the table; runs without device checks are shown only if they are the reference, controls never.
ROWS = ("original/cpu", "original/device", "patched/cpu", "patched/device")
_UNCHECKED = ("original/unchecked", "patched/unchecked")
_CONTROLS = ("again", "unobserved")
#: Resources that the kernel could not isolate from the script.
_EXPOSED = {
    "network": "the network",
    "files": "files outside its scratch copy (writable, and credentials and sockets of other programs within reach)",
    "processes": "other processes",
}


@dataclass(frozen=True)
class Proof:
    """A verdict with its experiment and patch.

    Attributes:
        experiment: script, arguments, interpreter, device.
        verdict: the result of the runs.
        changes: new contents of the files that the patch changes, by their path within the project.
        notes: remarks, one line each.

    """

    experiment: Experiment
    verdict: Verdict
    changes: Mapping[str, bytes]
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """Return 0 if the patch may be applied, else 1."""
        return 0 if self.verdict.good else 1

    @property
    def changed(self) -> tuple[str, ...]:
        """The changed files, sorted."""
        return tuple(sorted(self.changes))

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the runs in the table."""
        reference = self.verdict.reference
        shown = (name for name in self.verdict.runs if not name.endswith(_CONTROLS))
        more = (name for name in shown if name == reference or name not in _UNCHECKED)
        return tuple(dict.fromkeys((*ROWS, *more)))

    @property
    def compared_with(self) -> str:
        """Name of the run with the expected losses."""
        return self.verdict.reference or "original/cpu"

    def difference(self, name: str) -> float | None:
        """Return the largest difference of a run's losses from the expected ones; float64 compares with float64."""
        reference = self.verdict.runs[self.compared_with]
        if name.endswith(in_float64("")):
            reference = self.verdict.runs.get(in_float64(self.compared_with), reference)
        return largest_difference(self.verdict.runs[name], reference)

    @cached_property
    def output_differences(self) -> tuple[Difference, ...]:
        """What the patched script produces differently on the device, or not at all."""
        patched, reference = self._compared_runs
        if not (patched.ok and reference.ok):
            return ()
        return changed_outputs(self.verdict.runs, "patched/device", self.compared_with)

    @property
    def outputs(self) -> tuple[tuple[str, str, int], ...]:
        """Name, contents and number of differences of each output of the patched script, or of the reference."""
        patched, reference = self._compared_runs
        if not (patched.ok and reference.ok):
            return ()
        counts = Counter(difference.output for difference in self.output_differences)
        found = dict(patched.outputs.summary)
        found.update(
            (name, contents) for name, contents in reference.outputs.summary if counts[name] and name not in found
        )
        return tuple((name, contents, counts[name]) for name, contents in found.items())

    @property
    def _compared_runs(self) -> tuple[Run, Run]:
        return self.verdict.runs["patched/device"], self.verdict.runs[self.compared_with]

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes, and remarks on the runs."""
        found = list(self.notes)
        if not self.changed:
            found.append("the patch changes nothing")
        unchecked = [name for name in self.rows if name in _UNCHECKED]
        if unchecked:
            found.append(
                f"{' and '.join(unchecked)}: run on a simulated device that does not check where tensors are,"
                " which shows the results without device errors"
            )
        if self.experiment.torchrun:
            found.append("started as a single torchrun process: RANK=0, WORLD_SIZE=1")
        exposed = {part for run in self.verdict.runs.values() for part in run.exposed}
        if self.experiment.project.starts_outside:
            effect = "files written there remain" if "files" in exposed else "files written there are discarded"
            found.append(f"the working directory {self.experiment.project.start} is not copied: {effect}")
        left_out = sorted({name for run in self.verdict.runs.values() for name in run.left_out})
        if left_out:
            found.append(
                f"not copied, because they may hold credentials: {', '.join(left_out)} (copy them with --allow-read)"
            )
        if exposed:
            parts = ", ".join(description for part, description in _EXPOSED.items() if part in exposed)
            found.append(f"the kernel cannot isolate the script from {parts}")
        found.extend(f"{name} is stored in {run.scratch}" for name, run in self.verdict.runs.items() if run.scratch)
        return tuple(found)

    @property
    def where(self) -> str:
        """One line: the device, torch's version and the interpreter."""
        torch = next((run.torch for run in self.verdict.runs.values() if run.torch), "")
        parts = [describe_device(self.experiment), f"torch {torch}" if torch else "", self.experiment.python]
        return ", ".join(part for part in parts if part)


def describe_device(experiment: Experiment) -> str:
    """Return a description of the device, with the reason for choosing it."""
    kind = experiment.kind.upper()
    descriptions = {"sim": f"a simulated {kind} device", "cpu": "a machine without an accelerator"}
    if experiment.device == "sim" and experiment.devices > 1:
        descriptions["sim"] = f"{experiment.devices} simulated {kind} devices"
    name = descriptions.get(experiment.device, f"a real {kind} device")
    return f"{name} ({experiment.why})" if experiment.why else name


def largest_difference(run: Run, reference: Run) -> float | None:
    """Return the largest absolute difference of corresponding losses; None if there are none to compare."""
    pairs = [(a, b) for a, b in zip(run.losses, reference.losses, strict=False) if a == a or b == b]
    return max((abs(a - b) if a != b else 0.0 for a, b in pairs), default=None)
