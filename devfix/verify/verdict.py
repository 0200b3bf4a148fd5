"""What runs of original and patched prove.

Runs: original and patched, with the accelerator hidden (``cpu``) and with the simulated or real one (``device``).
The reference is the original on the CPU.  A script that insists on an accelerator cannot run there; then the
reference is the original on an accelerator that never complains (``unchecked``).  For a silent bug, where the original
runs but trains something else, the reference is the patched script on the CPU.  On the simulator a match is bit for
bit, on a real device within the tolerance of :mod:`devfix.verify.loss_comparison`, after a second look in float64 where it
does not hold.

A checkpoint that was written on an accelerator and is read on a machine without one is proved by two stages in one
folder: ``setup`` writes it on an accelerator, simulated or real (``setup_on``), the run that counts has the
accelerator hidden (``run_on="cpu"``).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from devfix.verify.advice import ending
from devfix.verify.loss_comparison import (
    SAME_DIRECTION,
    agree,
    direction,
    direction_in_words,
    first_disagreement,
    match,
    on_real_device,
    same_direction,
)
from devfix.verify.records import Run
from devfix.verify.stdout_metrics import other_print
from devfix.verify.training_invariants import other_gradients, other_recipe, shapes_in_words

__all__ = ["VERDICTS", "Verdict", "fled", "judge", "trains_more"]

VERDICTS = ("fixed", "not-fixed", "loss-differs", "broken", "no-error", "inconclusive")

MINIMUM_LOSSES = 3
MINIMUM_STEPS = 2

#: The patched script trains as the original does, so as many operations of the training run on the accelerator as the
#: original meant to run there; a few may go (copies between accelerators that were made twice).
MINIMUM_WORK = 0.9

#: And no others come elsewhere: fewer where some have gone than where none has (a model is averaged on the CPU).
MOST_ELSEWHERE = 0.05

_CAUGHT = "the script caught an error and went on without what it should have trained"

#: Relative difference of losses that other kernels for the same formula explain (measured: 2e-7 in the first 10 steps).
ROUNDING = 1e-5


@dataclass(frozen=True)
class Verdict:
    """What the runs prove.

    Attributes:
        status: one of :data:`VERDICTS`.
        reason: one sentence.
        runs: the runs by name: ``original/cpu``, ``original/device``, ``original/unchecked``, ``patched/cpu`` and
            ``patched/device``; with a real device also ``patched/unchecked`` where the script insists on an
            accelerator, and the second look, as ``patched/device in float64``.
        reference: name of the run that the patched losses were compared with; None if it did not come to that.
        silent: the original raised nothing and trained something else.

    """

    status: str
    reason: str
    runs: dict[str, Run] = field(default_factory=dict)
    reference: str | None = None
    silent: bool = False

    @property
    def good(self) -> bool:
        """Whether the patch may be kept."""
        return self.status in ("fixed", "no-error")


def _same_failure(one: Run, other: Run) -> bool:
    if one.failure is None or other.failure is None:
        return one.failure is None and other.failure is None and one.exit_code == other.exit_code
    return (one.failure.type, one.failure.text) == (other.failure.type, other.failure.text)


def judge(runs: dict[str, Run]) -> Verdict:
    """The verdict on a set of runs, by the names that :class:`Verdict` lists."""
    patched, patched_cpu = runs["patched/device"], runs["patched/cpu"]
    original, original_cpu = runs["original/device"], runs["original/cpu"]
    unchecked = runs["original/unchecked"]

    for name, each in runs.items():
        if each.stopped is not None and name != "original/unchecked":
            advice = ": more is allowed with --timeout" if each.timed_out else ""
            return Verdict("inconclusive", f"{name} was {each.outcome}{advice}", runs)
    for name in ("patched/device", "original/device"):
        if runs[name].unsupported:
            features = ", ".join(runs[name].unsupported)
            return Verdict("inconclusive", f"{name} used what cannot be compared: {features}", runs)
    if not patched.ok:
        if patched.device_error:
            return Verdict("not-fixed", f"a device error remains: {patched.outcome}", runs)
        if not original_cpu.ok and not unchecked.ok and _same_failure(patched, unchecked):
            return Verdict(
                "inconclusive", f"the original fails without an accelerator too: {ending(original_cpu)}", runs
            )
        return Verdict("broken", f"the patched script fails: {patched.outcome}", runs)
    if original_cpu.ok and not patched_cpu.ok:
        return Verdict("broken", f"the patched script fails without an accelerator: {patched_cpu.outcome}", runs)
    if original.ok and not _swallowed(runs):
        return _judge_silent(runs)
    if not original.ok and not original_cpu.ok and not unchecked.ok and not _failed_behind(runs):
        return Verdict("inconclusive", f"the original fails in any case: {ending(unchecked)}", runs)
    return _judge_repaired(runs)


def _failed_behind(runs: dict[str, Run]) -> bool:
    """Whether the original, without an accelerator, failed only after all that the patched script trains.

    As where the line that reports the result reads a tensor in a way that no device allows, and was repaired, too.
    """
    reference = runs["original/cpu"]
    ended = reference.failure is not None and not reference.device_error and runs["patched/cpu"].ok
    return ended and agree(runs["patched/cpu"], reference) and match(runs, "patched/device", "original/cpu").good


def _swallowed(runs: dict[str, Run]) -> bool:
    """Whether the original caught its device error and went on: only where nothing complains, it trains as repaired."""
    if not runs["original/unchecked"].ok or match(runs, "original/device", "original/unchecked").good:
        return False
    return match(runs, "patched/device", "original/unchecked").good


def _before(original: Run) -> str:
    """What went wrong before the repair, on one line."""
    if original.failure is not None:
        return original.failure.text.strip().split("\n")[0]
    return _CAUGHT if original.ok else original.outcome


def _differs_exactly(runs: dict[str, Run]) -> tuple[str, str] | None:
    """Names of the runs that show, bit for bit, what the tolerance for a real device could hide; None if none do."""
    stage = "cpu" if runs["original/cpu"].ok else "unchecked"
    ours, theirs = f"patched/{stage}", f"original/{stage}"
    if not on_real_device(runs["patched/device"]) or ours not in runs or not runs[theirs].ok:
        return None
    return None if agree(runs[ours], runs[theirs]) else (ours, theirs)


def _enough(patched: Run) -> str | None:
    if len(patched.losses) < MINIMUM_LOSSES or patched.steps < MINIMUM_STEPS:
        return (
            f"{len(patched.losses)} losses and {patched.steps} optimizer steps were seen; {MINIMUM_LOSSES} and "
            f"{MINIMUM_STEPS} are needed: let the script train longer"
        )
    if not all(math.isfinite(loss) for loss in patched.losses):
        return "a loss is not finite"
    if len(set(patched.losses)) == 1:
        return "all losses are the same number: whether it trains cannot be seen"
    if patched.changed == 0:
        return "no parameter is another one at the end than at the start: nothing was trained"
    return None


def fled(patched: Run, meant: Run) -> str | None:
    """Where training of the accelerator runs on the CPU now: how much.

    Only what goes backward and what has a parameter counts: a batch may be put together, and metrics may be taken, on
    the CPU.  Of a script without either, every operation counts.
    """
    there, wanted = patched.device_training, meant.device_training
    elsewhere, before = patched.all_training - there, meant.all_training - wanted
    if not wanted:
        there, wanted, elsewhere, before = patched.device_operations, meant.device_operations, 0, 0
    if patched.device == "cpu":
        return None
    if there < MINIMUM_WORK * wanted:
        return f"the work left the accelerator: {there} operations of the training run there, {wanted} were meant to"
    allowed = MOST_ELSEWHERE if there < wanted else 1 - MINIMUM_WORK
    if elsewhere - before > allowed * wanted:
        return f"the work left the accelerator: {elsewhere} operations of the training run elsewhere, {before} did"
    return None


def _judge_repaired(runs: dict[str, Run]) -> Verdict:
    """The original failed on the accelerator, or caught that it did, and the patched script did not."""
    patched, unchecked = runs["patched/device"], runs["original/unchecked"]
    original = runs["original/device"]
    exact = _differs_exactly(runs)
    if exact and not trains_more(runs[exact[0]], runs[exact[1]]):
        return _differs(runs, *exact)
    worst: tuple[int, str] | None = None
    for name in ("original/cpu", "original/unchecked"):
        reference = runs[name]
        if not reference.ok and not (name == "original/cpu" and _failed_behind(runs)):
            continue
        matched = match(runs, "patched/device", name)
        if matched.good:
            short = _enough(patched)
            if short:
                return Verdict("inconclusive", short, runs, reference=name)
            left = fled(patched, unchecked)
            if left:
                return Verdict("not-fixed", left, runs)
            error = _before(original)
            if not reference.ok:
                error += f"; without an accelerator the original failed after its last step: {ending(reference)}"
            elif (other := other_print(patched, runs["patched/cpu"], reference)) is not None:
                error += f"; {other}: is that number still right?"
            losses = f"{len(patched.losses)} losses over {patched.steps} steps"
            return _same_recipe(runs, name) or Verdict(
                "fixed", f"{losses} {matched.words}; before: {error}", runs, name
            )
        index = first_disagreement(patched, reference)
        reached = len(reference.losses) if index is None else index
        if worst is None or reached > worst[0]:
            worst = (reached, name)
    assert worst is not None
    if _close_by_nature(runs):
        return _same_recipe(runs, "original/cpu", "patched/cpu") or Verdict(
            "fixed",
            f"{len(patched.losses)} losses over {patched.steps} steps equal original/cpu within rounding (the script "
            "computes differently on an accelerator; without one, original and patched are equal bit for bit)",
            runs,
            "original/cpu",
        )
    if trains_more(patched, runs[worst[1]]) and runs["patched/cpu"].ok:
        if match(runs, "patched/device", "patched/cpu").good:
            return _silent_verdict(runs, runs[worst[1]])
        if on_real_device(patched):
            return _differs(runs, "patched/device", "patched/cpu")
    return _differs(runs, "patched/device", worst[1])


def _close_by_nature(runs: dict[str, Run]) -> bool:
    """Whether only the script's own choice by device (``capturable=``, ``fused=``) changes the rounding."""
    original, patched_cpu, patched = runs["original/cpu"], runs["patched/cpu"], runs["patched/device"]
    return (
        original.ok
        and patched_cpu.ok
        and agree(original, patched_cpu)
        and _enough(patched) is None
        and len(patched.losses) == len(original.losses)
        and patched.steps == original.steps
        and same_direction(patched, original)
        and all(abs(one - other) <= ROUNDING * abs(other) for one, other in zip(patched.losses, original.losses))
    )


def trains_more(patched: Run, original: Run) -> bool:
    """Whether parameters train now that no optimizer held before."""
    return len(original.forgotten) > len(patched.forgotten) and patched.parameters >= original.parameters


def _silent_verdict(runs: dict[str, Run], original: Run) -> Verdict:
    patched = runs["patched/device"]
    short = _enough(patched)
    if short:
        return Verdict("inconclusive", short, runs)
    if original.losses and first_disagreement(patched, original) == 0:  # loss 1 comes before anything is trained
        return Verdict(
            "loss-differs",
            f"more parameters train, but loss 1, before any of them did, is {patched.losses[0]!r} against "
            f"{original.losses[0]!r} of the original",
            runs,
        )
    trained = Counter(original.forgotten) - Counter(patched.forgotten)
    return Verdict(
        "fixed",
        f"parameters that no optimizer held now train ({shapes_in_words(list(trained.elements()))}); "
        f"{len(patched.losses)} losses over {patched.steps} steps "
        f"{match(runs, 'patched/device', 'patched/cpu').words}",
        runs,
        reference="patched/cpu",
        silent=True,
    )


def _same_recipe(runs: dict[str, Run], reference: str, name: str = "patched/device") -> Verdict | None:
    """The verdict where the losses agree and the training is another one all the same; None where it is the same."""
    other = other_recipe(runs[name], runs[reference]) or other_gradients(runs[name], runs[reference])
    return None if other is None else Verdict("loss-differs", f"the losses agree with {reference}, but {other}", runs)


def _differs(runs: dict[str, Run], shown: str, name: str) -> Verdict:
    patched, reference = runs[shown], runs[name]
    index = first_disagreement(patched, reference)
    if index is None:
        reason = f"the losses agree with {name}, but {_other_work(patched, reference)}"
    elif index < min(len(patched.losses), len(reference.losses)):
        reason = f"from loss {index + 1} on: {patched.losses[index]!r} against {reference.losses[index]!r} of {name}"
    else:
        reason = f"{len(patched.losses)} losses against {len(reference.losses)} of {name}"
    told = match(runs, shown, name).words
    return Verdict("loss-differs", f"{reason}; {told}" if told else reason, runs, reference=name)


def _other_work(patched: Run, reference: Run) -> str:
    """What is different where no loss is."""
    if patched.steps != reference.steps:
        return f"the steps do not: {patched.steps} against {reference.steps}"
    if patched.parameters != reference.parameters:
        return f"the optimizers hold {patched.parameters} parameters and not {reference.parameters}"
    alike = direction(patched, reference)
    if on_real_device(patched, reference) and alike is not None and not alike >= SAME_DIRECTION:
        return f"the parameters went another way: {direction_in_words(alike)}"
    return other_recipe(patched, reference) or "the parameters at the end do not"


def _judge_silent(runs: dict[str, Run]) -> Verdict:
    """The original raised nothing: either there was nothing to repair, or it trained something else."""
    patched, patched_cpu, original = runs["patched/device"], runs["patched/cpu"], runs["original/device"]
    exact = _differs_exactly(runs)
    left = fled(patched, original)
    if left:
        return Verdict("broken", left, runs, reference="original/device")
    if exact is None and match(runs, "patched/device", "original/device").good:
        same = "the original runs on the accelerator, and the patched script trains as it does"
        return _same_recipe(runs, "original/device") or Verdict("no-error", same, runs)
    if not trains_more(patched, original):
        return _differs(runs, *(exact or ("patched/device", "original/device")))
    if not (patched_cpu.ok and match(runs, "patched/device", "patched/cpu").good):
        return _differs(runs, "patched/device", "patched/cpu")
    return _silent_verdict(runs, original)
