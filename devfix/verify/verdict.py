"""The verdict on a patch: the conclusion from runs of the original and the patched script.

Runs: original and patched, with the accelerator hidden (``cpu``) and with the simulated or real one (``device``).
The reference is the original on the CPU.  If the script requires an accelerator, the reference is the original on a
simulated accelerator without device checks (``unchecked``).  For a silent bug, in which the original runs but trains
incorrectly, the reference is the patched script on the CPU.  On the simulator the losses must match bit for bit; on a
real device they must match within the tolerance of :mod:`devfix.verify.loss_comparison`, if necessary in float64.

A checkpoint that is written on an accelerator and loaded on a machine without one is verified in two stages in one
folder: ``setup`` writes it on a simulated or real accelerator (``setup_on``), and the second stage hides the
accelerator (``run_on="cpu"``).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from devfix.verify.advice import describe_ending
from devfix.verify.comparison import Comparison, compare, describe_evidence, describe_outputs
from devfix.verify.evidence import describe_changed_settings
from devfix.verify.loss_comparison import agree, first_disagreement, match, on_real_device
from devfix.verify.outputs import Difference, differences
from devfix.verify.records import Run
from devfix.verify.training_invariants import format_shapes
from devfix.verify.work_comparison import describe_moved_work

__all__ = ["VERDICTS", "Verdict", "judge", "trains_more"]

VERDICTS = (
    *("fixed", "not-fixed", "loss-differs", "output-differs", "moved-to-cpu", "broken", "no-error", "inconclusive"),
)

#: Fewer losses or steps are no evidence of a training; then the outputs are the proof.
MINIMUM_LOSSES = 3
MINIMUM_STEPS = 2

#: Relative rounding error of a loss in float32 at the first step where it shows: a few units of the last place.
_ROUNDING = 1e-6

_CAUGHT = "the script caught the error and continued without training correctly"


@dataclass(frozen=True)
class Verdict:
    """The conclusion from a set of runs.

    Attributes:
        status: one of :data:`VERDICTS`.
        reason: one sentence.
        runs: the runs by name: ``original/cpu``, ``original/device``, ``original/unchecked``, ``patched/cpu`` and
            ``patched/device``; with a real device also ``patched/unchecked`` if the script requires an accelerator,
            and repetitions such as ``patched/device in float64``.
        reference: name of the run with the expected losses; None if no losses were compared.
        silent: the original raised nothing but trained incorrectly.
        differences: what the patched script prints and writes differently, or not at all.

    """

    status: str
    reason: str
    runs: dict[str, Run] = field(default_factory=dict)
    reference: str | None = None
    silent: bool = False
    differences: tuple[Difference, ...] = ()

    @property
    def good(self) -> bool:
        """Whether the patch may be applied."""
        return self.status in ("fixed", "no-error")


def _same_failure(run: Run, other: Run) -> bool:
    if run.failure is None or other.failure is None:
        return run.failure is None and other.failure is None and run.exit_code == other.exit_code
    return (run.failure.type, run.failure.text) == (other.failure.type, other.failure.text)


def judge(runs: dict[str, Run]) -> Verdict:
    """Return the verdict on a set of runs, named as in :class:`Verdict`."""
    return _describe_obstacle(runs) or _judge_ending(runs)


def _describe_obstacle(runs: dict[str, Run]) -> Verdict | None:
    """Return the verdict if a run was stopped, or cannot be compared; else None."""
    for name, each in runs.items():
        if each.stopped is not None and name != "original/unchecked":
            return Verdict("inconclusive", f"{name} was {describe_ending(each)}", runs)
        if each.replaced is not None:
            reason = f"the script replaced {each.replaced}, which records the evidence of {name}"
            return Verdict("inconclusive", reason, runs)
    for name in ("patched/device", "original/device"):
        if runs[name].unsupported:
            features = ", ".join(runs[name].unsupported)
            return Verdict("inconclusive", f"{name} uses features that cannot be compared: {features}", runs)
    return None


def _judge_ending(runs: dict[str, Run]) -> Verdict:
    patched, patched_cpu = runs["patched/device"], runs["patched/cpu"]
    original, original_cpu = runs["original/device"], runs["original/cpu"]
    unchecked = runs["original/unchecked"]
    if not patched.ok:
        if patched.device_error:
            return Verdict("not-fixed", f"a device error remains: {patched.outcome}", runs)
        if not original_cpu.ok and not unchecked.ok and _same_failure(patched, unchecked):
            return Verdict(
                "inconclusive", f"the original also fails without an accelerator: {describe_ending(original_cpu)}", runs
            )
        if _same_failure(patched, original):
            return Verdict("inconclusive", f"the original fails in the same way: {describe_ending(patched)}", runs)
        return Verdict("broken", f"the patched script fails: {describe_ending(patched)}", runs)
    if original_cpu.ok and not patched_cpu.ok:
        return Verdict(
            "broken", f"the patched script fails without an accelerator: {describe_ending(patched_cpu)}", runs
        )
    if original.ok and not _caught_device_error(runs):
        return _judge_silent(runs)
    if not original.ok and not original_cpu.ok and not unchecked.ok and not _failed_after_training(runs):
        return Verdict("inconclusive", f"the original fails on every device: {describe_ending(unchecked)}", runs)
    return _judge_repaired(runs)


def _failed_after_training(runs: dict[str, Run]) -> bool:
    """Whether the original, without an accelerator, failed only after the complete training of the patched script.

    For example, the statement that prints the result is invalid on every device, and the patch fixes it as well.
    """
    reference = runs["original/cpu"]
    if reference.failure is None or reference.device_error or not reference.losses or not runs["patched/cpu"].ok:
        return False
    return agree(runs["patched/cpu"], reference) and match(runs, "patched/device", "original/cpu").good


def _caught_device_error(runs: dict[str, Run]) -> bool:
    """Whether the original caught its device error: without device checks it does what the patched script does."""
    if not runs["original/unchecked"].ok or compare(runs, "original/device", "original/unchecked").is_same:
        return False
    return compare(runs, "patched/device", "original/unchecked").is_same


def _describe_caught_error(runs: dict[str, Run]) -> str | None:
    """Return how device errors that the script catches, or that end a thread, change its results; None if none do."""
    if not runs["original/unchecked"].ok or on_real_device(runs["original/device"]):
        return None
    found = compare(runs, "original/device", "original/unchecked")
    return None if found.is_same else f"the script goes on after a device error, which remains: {found.description}"


def _original_error(original: Run) -> str:
    """Return the original's error, on one line."""
    if original.failure is not None:
        return original.failure.text.strip().split("\n")[0]
    return _CAUGHT if original.ok else original.outcome


def _difference_on_cpu(runs: dict[str, Run]) -> Comparison | None:
    """Return how the patch changes the script on the CPU, bit for bit; None if it does not, or that was not run."""
    stage = "cpu" if runs["original/cpu"].ok else "unchecked"
    ours, theirs = f"patched/{stage}", f"original/{stage}"
    if ours not in runs or not runs[ours].ok or not runs[theirs].ok:
        return None
    found = compare(runs, ours, theirs)
    return None if found.is_same else found


def _is_too_short(patched: Run) -> bool:
    """Whether a run has too few losses or optimizer steps to be evidence of a training."""
    return len(patched.losses) < MINIMUM_LOSSES or patched.steps < MINIMUM_STEPS


def _describe_shortcoming(patched: Run) -> str | None:
    """Return the reason why the losses are no evidence of a training; None if they are."""
    if _is_too_short(patched):
        return (
            f"{len(patched.losses)} losses and {patched.steps} optimizer steps were recorded, at least "
            f"{MINIMUM_LOSSES} and {MINIMUM_STEPS} are required: let the script train longer"
        )
    if not all(math.isfinite(loss) for loss in patched.losses):
        return "a loss is not finite"
    if len(set(patched.losses)) == 1:
        return "all losses are equal, so they are no evidence of training"
    if patched.changed == 0:
        return "no parameter changed: nothing was trained"
    return None


def _judge_repaired(runs: dict[str, Run]) -> Verdict:
    """Return the verdict if the original failed on the accelerator, or caught its error, and the patched script ran."""
    patched, unchecked = runs["patched/device"], runs["original/unchecked"]
    on_cpu = _difference_on_cpu(runs)
    if on_cpu is not None and not trains_more(runs[on_cpu.run], runs[on_cpu.reference]):
        return _difference_verdict(runs, on_cpu)
    closest: Comparison | None = None
    for name in _references(runs):
        failed_late = not runs[name].ok and name == "original/cpu" and _failed_after_training(runs)
        if not runs[name].ok and not failed_late:
            continue
        found = compare(runs, "patched/device", name, outputs=not failed_late)
        if found.is_same:
            moved_work = describe_moved_work(patched, unchecked)
            if moved_work is not None:
                return Verdict("moved-to-cpu", moved_work, runs, name)
            settings = describe_changed_settings(patched, unchecked) if unchecked.ok else None
            if settings is not None:
                return Verdict("output-differs", settings, runs, "original/unchecked")
            return _repaired_verdict(runs, found)
        if closest is None or found.reached > closest.reached:
            closest = found
    assert closest is not None
    if trains_more(patched, runs[closest.reference]) and runs["patched/cpu"].ok:
        found = compare(runs, "patched/device", "patched/cpu")
        if found.is_same:
            return _silent_verdict(runs, runs[closest.reference])
        if on_real_device(patched):
            return _difference_verdict(runs, found)
    return _difference_verdict(runs, closest)


def _references(runs: dict[str, Run]) -> tuple[str, ...]:
    """Return the runs of which one must agree with the patched script's on the accelerator.

    A script that trains differently where there is an accelerator, for example in mixed precision, is held to the run
    without device checks only: a patch that turns this off would equal the run on the CPU.
    """
    can_differ = all(runs[name].ok for name in ("original/cpu", "original/unchecked"))
    if can_differ and not on_real_device(runs["patched/device"]) and _depends_on_accelerator(runs):
        return ("original/unchecked",)
    return ("original/cpu", "original/unchecked")


def _depends_on_accelerator(runs: dict[str, Run]) -> bool:
    """Whether the original's losses on an accelerator, or its outputs if it has none, differ by more than rounding.

    A copy has another alignment in memory than a view, and then some kernels add in another order.
    """
    there, here = runs["original/unchecked"], runs["original/cpu"]
    index = first_disagreement(there, here)
    if index is None:
        return not there.losses and bool(differences(there.outputs, here.outputs, None, exact=False))
    if index >= min(len(there.losses), len(here.losses)):
        return True
    return not math.isclose(there.losses[index], here.losses[index], rel_tol=_ROUNDING)


def _repaired_verdict(runs: dict[str, Run], found: Comparison) -> Verdict:
    patched, reference = runs["patched/device"], runs[found.reference]
    shortcoming = _describe_shortcoming(patched)
    evidence = f"{len(patched.losses)} losses over {patched.steps} steps {found.description}"
    if shortcoming is not None:
        can_prove = reference.ok and _is_too_short(patched)  # a failed reference did not produce all of its outputs
        outputs = describe_evidence(patched, reference, runs["original/unchecked"]) if can_prove else None
        if outputs is None:
            return Verdict("inconclusive", shortcoming, runs, reference=found.reference)
        losses, steps = _count(len(patched.losses), "loss"), _count(patched.steps, "optimizer step")
        evidence = f"{outputs}; the script has {losses} and {steps}"
    error = _original_error(runs["original/device"])
    if not reference.ok:
        error += f"; without an accelerator, the original failed after its last step: {describe_ending(reference)}"
    return Verdict("fixed", f"{evidence}; original error: {error}", runs, found.reference)


def _count(number: int, noun: str) -> str:
    plural = noun if number == 1 else f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{number or 'no'} {plural}"


def _difference_verdict(runs: dict[str, Run], found: Comparison) -> Verdict:
    return Verdict(found.status, found.description, runs, found.reference, differences=found.differences)


def _describe_no_error(patched: Run, original: Run) -> str:
    """Return what was compared of two runs that agree: losses and steps, else outputs."""
    ran = "the original runs on the accelerator"
    if not original.device_operations:
        ran = "the original runs without a device error"
        ran += "" if original.device == "cpu" else ", but nothing runs on the accelerator"
    if patched.losses or patched.steps:
        losses, steps = _count(len(patched.losses), "loss"), _count(patched.steps, "optimizer step")
        return f"{ran}; the patched script trains identically: {losses}, {steps}"
    outputs = describe_outputs(patched)
    if outputs is None:
        return f"{ran}; nothing was compared, because there is no training and no output"
    return f"{ran}; there is no training, and the outputs match: {outputs}"


def trains_more(patched: Run, original: Run) -> bool:
    """Whether the patched script optimizes parameters that the original omitted."""
    return len(original.forgotten) > len(patched.forgotten) and patched.parameters >= original.parameters


def _silent_verdict(runs: dict[str, Run], original: Run) -> Verdict:
    patched = runs["patched/device"]
    shortcoming = _describe_shortcoming(patched)
    if shortcoming:
        return Verdict("inconclusive", shortcoming, runs)
    if original.losses and first_disagreement(patched, original) == 0:  # no parameter has changed before loss 1
        return Verdict(
            "loss-differs",
            f"more parameters train, but already loss 1, before the first step, is {patched.losses[0]!r} instead of "
            f"{original.losses[0]!r}",
            runs,
        )
    trained = Counter(original.forgotten) - Counter(patched.forgotten)
    return Verdict(
        "fixed",
        f"parameters that were in no optimizer now train ({format_shapes(list(trained.elements()))}); "
        f"{len(patched.losses)} losses over {patched.steps} steps "
        f"{match(runs, 'patched/device', 'patched/cpu').description}",
        runs,
        reference="patched/cpu",
        silent=True,
    )


def _judge_silent(runs: dict[str, Run]) -> Verdict:
    """Return the verdict if the original raised nothing: it was correct, or trained incorrectly."""
    patched, patched_cpu, original = runs["patched/device"], runs["patched/cpu"], runs["original/device"]
    moved_work = describe_moved_work(patched, original)
    if moved_work:
        return Verdict("moved-to-cpu", moved_work, runs, reference="original/device")
    on_cpu = _difference_on_cpu(runs)
    on_device = compare(runs, "patched/device", "original/device")
    if on_cpu is None and on_device.is_same:
        caught = _describe_caught_error(runs)
        if caught is not None:
            return Verdict("not-fixed", caught, runs, reference="original/device")
        return Verdict("no-error", _describe_no_error(patched, original), runs)
    if not trains_more(patched, original):
        return _difference_verdict(runs, on_cpu or on_device)
    ours = compare(runs, "patched/device", "patched/cpu") if patched_cpu.ok else on_device
    return _silent_verdict(runs, original) if ours.is_same else _difference_verdict(runs, ours)
