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
from devfix.verify.loss_comparison import (
    SAME_DIRECTION,
    agree,
    describe_cosine,
    first_disagreement,
    match,
    on_real_device,
    same_direction,
    update_cosine,
)
from devfix.verify.records import Run
from devfix.verify.stdout_metrics import describe_changed_output
from devfix.verify.training_invariants import describe_gradient_change, describe_recipe_change, format_shapes

__all__ = ["VERDICTS", "Verdict", "describe_moved_work", "judge", "trains_more"]

VERDICTS = ("fixed", "not-fixed", "loss-differs", "broken", "no-error", "inconclusive")

MINIMUM_LOSSES = 3
MINIMUM_STEPS = 2

#: Least fraction of the original's training operations that must remain on the accelerator; a few may disappear
#: (redundant copies between accelerators).
MINIMUM_WORK = 0.9

#: Limit on additional operations on other devices if some disappeared from the accelerator; otherwise the limit is
#: higher (averaging a model on the CPU is legitimate).
MOST_ELSEWHERE = 0.05

_CAUGHT = "the script caught the error and continued without training correctly"

#: Relative difference of losses due to other kernels for the same formula (measured: 2e-7 in the first 10 steps).
ROUNDING = 1e-5


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

    """

    status: str
    reason: str
    runs: dict[str, Run] = field(default_factory=dict)
    reference: str | None = None
    silent: bool = False

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
    patched, patched_cpu = runs["patched/device"], runs["patched/cpu"]
    original, original_cpu = runs["original/device"], runs["original/cpu"]
    unchecked = runs["original/unchecked"]

    for name, each in runs.items():
        if each.stopped is not None and name != "original/unchecked":
            advice = "; raise the limit with --timeout" if each.timed_out else ""
            return Verdict("inconclusive", f"{name} was {each.outcome}{advice}", runs)
    for name in ("patched/device", "original/device"):
        if runs[name].unsupported:
            features = ", ".join(runs[name].unsupported)
            return Verdict("inconclusive", f"{name} uses features that cannot be compared: {features}", runs)
    if not patched.ok:
        if patched.device_error:
            return Verdict("not-fixed", f"a device error remains: {patched.outcome}", runs)
        if not original_cpu.ok and not unchecked.ok and _same_failure(patched, unchecked):
            return Verdict(
                "inconclusive", f"the original also fails without an accelerator: {describe_ending(original_cpu)}", runs
            )
        return Verdict("broken", f"the patched script fails: {patched.outcome}", runs)
    if original_cpu.ok and not patched_cpu.ok:
        return Verdict("broken", f"the patched script fails without an accelerator: {patched_cpu.outcome}", runs)
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
    ended = reference.failure is not None and not reference.device_error and runs["patched/cpu"].ok
    return ended and agree(runs["patched/cpu"], reference) and match(runs, "patched/device", "original/cpu").good


def _caught_device_error(runs: dict[str, Run]) -> bool:
    """Whether the original caught its device error: without device checks it trains as the patched script does."""
    if not runs["original/unchecked"].ok or match(runs, "original/device", "original/unchecked").good:
        return False
    return match(runs, "patched/device", "original/unchecked").good


def _original_error(original: Run) -> str:
    """Return the original's error, on one line."""
    if original.failure is not None:
        return original.failure.text.strip().split("\n")[0]
    return _CAUGHT if original.ok else original.outcome


def _exact_difference(runs: dict[str, Run]) -> tuple[str, str] | None:
    """Return the names of two runs whose bitwise difference a real tolerance could hide; else None."""
    stage = "cpu" if runs["original/cpu"].ok else "unchecked"
    ours, theirs = f"patched/{stage}", f"original/{stage}"
    if not on_real_device(runs["patched/device"]) or ours not in runs or not runs[theirs].ok:
        return None
    return None if agree(runs[ours], runs[theirs]) else (ours, theirs)


def _describe_shortcoming(patched: Run) -> str | None:
    if len(patched.losses) < MINIMUM_LOSSES or patched.steps < MINIMUM_STEPS:
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


def describe_moved_work(patched: Run, original: Run) -> str | None:
    """Return how much of the training moved from the accelerator to the CPU; None if it did not.

    Only backward passes and operations on parameters count: collating batches and computing metrics on the CPU is
    legitimate.  If a script has neither, every operation counts.
    """
    on_device, expected = patched.device_training, original.device_training
    off_device, expected_off_device = patched.all_training - on_device, original.all_training - expected
    if not expected:
        on_device, expected = patched.device_operations, original.device_operations
        off_device, expected_off_device = 0, 0
    if patched.device == "cpu":
        return None
    if on_device < MINIMUM_WORK * expected:
        return f"training moved off the accelerator: {on_device} training operations run there instead of {expected}"
    allowed = MOST_ELSEWHERE if on_device < expected else 1 - MINIMUM_WORK
    if off_device - expected_off_device > allowed * expected:
        return (
            f"training moved off the accelerator: {off_device} training operations run on other devices instead of "
            f"{expected_off_device}"
        )
    return None


def _judge_repaired(runs: dict[str, Run]) -> Verdict:
    """Return the verdict if the original failed on the accelerator, or caught its error, and the patched script ran."""
    patched, unchecked = runs["patched/device"], runs["original/unchecked"]
    original = runs["original/device"]
    exact_difference = _exact_difference(runs)
    if exact_difference and not trains_more(runs[exact_difference[0]], runs[exact_difference[1]]):
        return _difference_verdict(runs, *exact_difference)
    worst: tuple[int, str] | None = None
    for name in ("original/cpu", "original/unchecked"):
        reference = runs[name]
        if not reference.ok and not (name == "original/cpu" and _failed_after_training(runs)):
            continue
        matched = match(runs, "patched/device", name)
        if matched.good:
            shortcoming = _describe_shortcoming(patched)
            if shortcoming:
                return Verdict("inconclusive", shortcoming, runs, reference=name)
            moved_work = describe_moved_work(patched, unchecked)
            if moved_work:
                return Verdict("not-fixed", moved_work, runs)
            error = _original_error(original)
            if not reference.ok:
                error += (
                    f"; without an accelerator, the original failed after its last step: {describe_ending(reference)}"
                )
            elif (changed := describe_changed_output(patched, runs["patched/cpu"], reference)) is not None:
                error += f"; {changed}: check that this number is still correct"
            losses = f"{len(patched.losses)} losses over {patched.steps} steps"
            return _recipe_verdict(runs, name) or Verdict(
                "fixed", f"{losses} {matched.description}; original error: {error}", runs, name
            )
        index = first_disagreement(patched, reference)
        reached = len(reference.losses) if index is None else index
        if worst is None or reached > worst[0]:
            worst = (reached, name)
    assert worst is not None
    if _differs_by_rounding_only(runs):
        return _recipe_verdict(runs, "original/cpu", "patched/cpu") or Verdict(
            "fixed",
            f"{len(patched.losses)} losses over {patched.steps} steps match original/cpu within rounding (the script "
            "uses other kernels on an accelerator; without one, original and patched match bit for bit)",
            runs,
            "original/cpu",
        )
    if trains_more(patched, runs[worst[1]]) and runs["patched/cpu"].ok:
        if match(runs, "patched/device", "patched/cpu").good:
            return _silent_verdict(runs, runs[worst[1]])
        if on_real_device(patched):
            return _difference_verdict(runs, "patched/device", "patched/cpu")
    return _difference_verdict(runs, "patched/device", worst[1])


def _differs_by_rounding_only(runs: dict[str, Run]) -> bool:
    """Whether only a device-dependent option of the script (``capturable=``, ``fused=``) changes the rounding."""
    original, patched_cpu, patched = runs["original/cpu"], runs["patched/cpu"], runs["patched/device"]
    return (
        original.ok
        and patched_cpu.ok
        and agree(original, patched_cpu)
        and _describe_shortcoming(patched) is None
        and len(patched.losses) == len(original.losses)
        and patched.steps == original.steps
        and same_direction(patched, original)
        and all(
            abs(loss - expected) <= ROUNDING * abs(expected) for loss, expected in zip(patched.losses, original.losses)
        )
    )


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


def _recipe_verdict(runs: dict[str, Run], reference: str, name: str = "patched/device") -> Verdict | None:
    """Return the verdict if the losses agree but the training differs; None if it does not."""
    change = describe_recipe_change(runs[name], runs[reference]) or describe_gradient_change(
        runs[name], runs[reference]
    )
    return None if change is None else Verdict("loss-differs", f"the losses match {reference}, but {change}", runs)


def _difference_verdict(runs: dict[str, Run], run_name: str, name: str) -> Verdict:
    patched, reference = runs[run_name], runs[name]
    index = first_disagreement(patched, reference)
    if index is None:
        reason = f"the losses match {name}, but {_describe_other_difference(patched, reference)}"
    elif index < min(len(patched.losses), len(reference.losses)):
        reason = (
            f"the losses differ from {name} from loss {index + 1} on: {patched.losses[index]!r} instead of "
            f"{reference.losses[index]!r}"
        )
    else:
        reason = f"{len(patched.losses)} losses instead of {len(reference.losses)} in {name}"
    description = match(runs, run_name, name).description
    return Verdict("loss-differs", f"{reason}; {description}" if description else reason, runs, reference=name)


def _describe_other_difference(patched: Run, reference: Run) -> str:
    """Return the difference of two runs with equal losses."""
    if patched.steps != reference.steps:
        return f"{patched.steps} optimizer steps were made instead of {reference.steps}"
    if patched.parameters != reference.parameters:
        return f"the optimizers have {patched.parameters} parameters instead of {reference.parameters}"
    cosine = update_cosine(patched, reference)
    if on_real_device(patched, reference) and cosine is not None and not cosine >= SAME_DIRECTION:
        return f"the parameter updates differ: {describe_cosine(cosine)}"
    return describe_recipe_change(patched, reference) or "the final parameters differ"


def _judge_silent(runs: dict[str, Run]) -> Verdict:
    """Return the verdict if the original raised nothing: it was correct, or trained incorrectly."""
    patched, patched_cpu, original = runs["patched/device"], runs["patched/cpu"], runs["original/device"]
    exact_difference = _exact_difference(runs)
    moved_work = describe_moved_work(patched, original)
    if moved_work:
        return Verdict("broken", moved_work, runs, reference="original/device")
    if exact_difference is None and match(runs, "patched/device", "original/device").good:
        same = "the original runs on the accelerator, and the patched script trains identically"
        return _recipe_verdict(runs, "original/device") or Verdict("no-error", same, runs)
    if not trains_more(patched, original):
        return _difference_verdict(runs, *(exact_difference or ("patched/device", "original/device")))
    if not (patched_cpu.ok and match(runs, "patched/device", "patched/cpu").good):
        return _difference_verdict(runs, "patched/device", "patched/cpu")
    return _silent_verdict(runs, original)
