"""A verdict with what it is about, ready to be reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from devfix.verify.loss_comparison import in_float64

if TYPE_CHECKING:
    from devfix.verify.experiment import Experiment
    from devfix.verify.records import Run
    from devfix.verify.verdict import Verdict

__all__ = ["Proof", "device_in_words", "largest_difference"]

#: The rows of the table; runs without checks are a means to an end, and shown where they are the reference.
ROWS = ("original/cpu", "original/device", "patched/cpu", "patched/device")
_UNCHECKED = ("original/unchecked", "patched/unchecked")
#: What a script could reach because the kernel does not let us take it away.
_EXPOSED = {
    "network": "the network",
    "files": "files outside its scratch copy (to write, and credentials to read)",
    "processes": "the sight of other processes",
}


@dataclass(frozen=True)
class Proof:
    """A verdict with what it is about.

    Attributes:
        experiment: script, arguments, interpreter, device.
        verdict: what the runs prove.
        changes: new contents of the files that the patch changes, by their path within the project.
        notes: remarks, one line each.

    """

    experiment: Experiment
    verdict: Verdict
    changes: Mapping[str, bytes]
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 where the patch may be kept, else 1."""
        return 0 if self.verdict.good else 1

    @property
    def changed(self) -> tuple[str, ...]:
        """The files that the patch changes."""
        return tuple(sorted(self.changes))

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the runs to show."""
        reference = self.verdict.reference
        more = (name for name in self.verdict.runs if name == reference or name not in _UNCHECKED)
        return tuple(dict.fromkeys((*ROWS, *more)))

    @property
    def compared_with(self) -> str:
        """The run whose losses count as right."""
        return self.verdict.reference or "original/cpu"

    def difference(self, name: str) -> float | None:
        """Largest difference of a run's losses to those that count as right, in float64 to those in float64."""
        right = self.verdict.runs[self.compared_with]
        if name.endswith(in_float64("")):
            right = self.verdict.runs.get(in_float64(self.compared_with), right)
        return largest_difference(self.verdict.runs[name], right)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes, and what has to be said of the runs."""
        found = list(self.notes)
        if not self.changed:
            found.append("the patch changes nothing")
        if self.experiment.torchrun:
            found.append("started as torchrun starts one process: RANK=0, WORLD_SIZE=1")
        exposed = {part for run in self.verdict.runs.values() for part in run.exposed}
        if self.experiment.project.starts_outside:
            stays = (
                "what the script writes there stays" if "files" in exposed else "nothing that is written there stays"
            )
            found.append(f"runs start in {self.experiment.project.start}, which is not copied: {stays}")
        if exposed:
            parts = ", ".join(words for part, words in _EXPOSED.items() if part in exposed)
            found.append(f"the kernel does not let devfix take from the script: {parts}")
        found.extend(f"{name} is kept in {run.kept}" for name, run in self.verdict.runs.items() if run.kept)
        return tuple(found)

    @property
    def where(self) -> str:
        """One line: on what, and with what."""
        torch = next((run.torch for run in self.verdict.runs.values() if run.torch), "")
        parts = [device_in_words(self.experiment), f"torch {torch}" if torch else "", self.experiment.python]
        return ", ".join(part for part in parts if part)


def device_in_words(experiment: Experiment) -> str:
    """The device in words, and why that one."""
    kind = experiment.kind.upper()
    what = {"sim": f"a simulated {kind} device", "cpu": "a machine without accelerator"}
    if experiment.device == "sim" and experiment.devices > 1:
        what["sim"] = f"{experiment.devices} simulated {kind} devices"
    name = what.get(experiment.device, f"a real {kind} device")
    return f"{name} ({experiment.why})" if experiment.why else name


def largest_difference(run: Run, reference: Run) -> float | None:
    """Largest absolute difference of losses that both runs have; None where there is none to compare."""
    pairs = [(a, b) for a, b in zip(run.losses, reference.losses, strict=False) if a == a or b == b]
    return max((abs(a - b) if a != b else 0.0 for a, b in pairs), default=None)
