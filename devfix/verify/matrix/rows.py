"""One row for each machine: the original and the patched script on it, compared with a reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from devfix.verify.comparison import Comparison, compare
from devfix.verify.matrix.machines import Machine
from devfix.verify.patches import program_texts
from devfix.verify.records import RunError
from devfix.verify.targets import choose_target

if TYPE_CHECKING:
    from devfix.verify.experiment import Experiment
    from devfix.verify.records import Run

__all__ = ["Matrix", "Row", "run_matrix"]

_JOBS = 2  # concurrent runs
_REFERENCE = Machine("cuda", "cuda")


@dataclass(frozen=True)
class Row:
    """A machine and its runs.

    Attributes:
        machine: the machine.
        device: ``sim``, ``cpu`` or the type of the real device that it was run on.
        before: the run of the original; None if the patch changes nothing.
        after: the run of the patched script.
        comparison: of ``after`` with the reference; None if one of them failed, or if it is the reference itself.
        is_other_precision: the machine's autocast computes in another precision than the reference's, or in none, so
            that losses may differ.

    """

    machine: Machine
    device: str
    before: Run | None
    after: Run
    comparison: Comparison | None
    is_other_precision: bool = False

    @property
    def is_simulated(self) -> bool:
        """Whether the accelerator is a simulated one."""
        return self.device == "sim"

    @property
    def is_good(self) -> bool:
        """Whether the patched script completes, and trains as the reference does.

        Printed text may differ between machines; it decides only if there are no losses. With another precision,
        losses are not compared.
        """
        if not self.after.ok or self.comparison is None or self.is_other_precision:
            return self.after.ok
        return self.comparison.is_same or (self.comparison.status == "output-differs" and bool(self.after.losses))


@dataclass(frozen=True)
class Matrix:
    """The runs on all machines.

    Attributes:
        experiment: script, arguments, interpreter and limits.
        changes: new contents of the files that the patch changes, by their path within the project.
        rows: in the order in which the machines were named.
        reference: the run that the others are compared with; None if no candidate completed.
        reference_name: its name.
        notes: remarks, one line each.

    """

    experiment: Experiment
    changes: Mapping[str, bytes]
    rows: tuple[Row, ...]
    reference: Run | None
    reference_name: str
    notes: tuple[str, ...] = field(default=())

    @property
    def is_good(self) -> bool:
        """Whether every row is good."""
        return all(row.is_good for row in self.rows)

    @property
    def exit_code(self) -> int:
        """Return 0 if every row is good, else 1."""
        return 0 if self.is_good else 1

    @property
    def changed(self) -> tuple[str, ...]:
        """The changed files, sorted."""
        return tuple(sorted(self.changes))


def run_matrix(experiment: Experiment, machines: Sequence[Machine], changes: Mapping[str, bytes]) -> Matrix:
    """Run the original and the patched script on each machine.

    The reference is the original on CUDA, real or simulated; if that fails, the original on a simulated device that
    does not check where tensors are; if the original requires CUDA for nothing else than its devices, they agree. If
    both fail, it is the patched script on CUDA. If the script needs several devices, the first machine that has them
    takes the place of CUDA.

    Raises:
        RunError: a run could not be made.

    """
    targets = {machine: _target(experiment, machine) for machine in (*machines, _REFERENCE)}
    with ThreadPoolExecutor(max_workers=_JOBS) as pool:

        def start(machine: Machine, patch: Mapping[str, bytes] | None, device: str = "") -> Callable[[], Run]:
            run_on = device or targets[machine]
            each = replace(experiment, kind=machine.kind if machine.kind != "cpu" else "cuda", devices=machine.devices)
            side = "original" if patch is None else "patched"
            return pool.submit(each.run_once, run_on, patch, f"{side}/{machine.name}").result

        before = {machine: start(machine, None) for machine in machines} if changes else {}
        after = {machine: start(machine, changes) for machine in machines}
        originals = before or after
        candidates = {"the original on cuda": originals.get(_REFERENCE) or start(_REFERENCE, None)}
        if not candidates["the original on cuda"]().ok:
            several = [machine for machine in machines if machine.kind == "cuda" and machine.devices > 1]
            candidates.update({f"the original on {machine.name}": originals[machine] for machine in several})
            if changes:
                candidates["the original without device checks"] = start(_REFERENCE, None, "unchecked")
                candidates["the patched script on cuda"] = after.get(_REFERENCE) or start(_REFERENCE, changes)
                candidates.update({f"the patched script on {machine.name}": after[machine] for machine in several})
        name, reference = next(
            ((name, run) for name, made in candidates.items() if (run := made()).ok), ("no run", None)
        )
        uses_autocast = any("autocast" in text for text in program_texts(experiment.project))
        rows = tuple(
            Row(
                machine,
                targets[machine],
                before[machine]() if changes else None,
                run := after[machine](),
                _compared(run, reference, machine, name),
                uses_autocast and machine.kind != "cuda" and reference is not None,
            )
            for machine in machines
        )
    other = [row.machine.name for row in rows if row.is_other_precision and _differs(row)]
    notes = (f"losses on {', '.join(other)} are not compared: autocast computes in another precision",) if other else ()
    return Matrix(experiment, changes, rows, reference, name, notes)


def _differs(row: Row) -> bool:
    return row.comparison is not None and not row.comparison.is_same


def _target(experiment: Experiment, machine: Machine) -> str:
    """Return where a machine is run: on the real device if there is one and one device is wanted."""
    if machine.kind == "cpu":
        return "cpu"
    if machine.must_simulate or machine.devices > 1:
        return "sim"
    try:
        return choose_target(machine.kind, experiment.python).run_on
    except RunError:
        return choose_target(f"sim:{machine.kind}", experiment.python).run_on


def _compared(run: Run, reference: Run | None, machine: Machine, name: str) -> Comparison | None:
    if reference is None or run is reference or not (run.ok and reference.ok):
        return None
    return compare({machine.name: run, name: reference}, machine.name, name)
