"""What runs of original and patched prove.

Runs: original and patched, with the accelerator hidden (``cpu``) and with the simulated or real one (``device``).
The reference is the original on the CPU.  A script that insists on an accelerator cannot run there; then the
reference is the original on an accelerator that never complains (``unchecked``).  For a silent bug, where the original
runs but trains something else, the reference is the patched script on the CPU.  On the simulator a match is bit for
bit, on a real device within the tolerance of :mod:`devfix.verify.agreement`, after a second look in float64 where it
does not hold.

A checkpoint that was written on an accelerator and is read on a machine without one is proved by two stages in one
folder: ``setup`` writes it on an accelerator, simulated or real (``setup_on``), the run that counts has the
accelerator hidden (``run_on="cpu"``).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from devfix.verify.advice import ending
from devfix.verify.agreement import agree, first_difference, first_disagreement, in_float64, match, on_real_device
from devfix.verify.runs import DEFAULT_MEMORY_MB, DEFAULT_TIMEOUT, Run, run

__all__ = ["VERDICTS", "Verdict", "first_difference", "judge", "prove"]

VERDICTS = ("fixed", "not-fixed", "loss-differs", "broken", "no-error", "inconclusive")

MINIMUM_LOSSES = 3
MINIMUM_STEPS = 2

#: The patched script does the same work, so as many operations run on the accelerator as the original meant to run
#: there; a few may go (a copy that was made twice).
MINIMUM_WORK = 0.95

_CAUGHT = "the script caught an error and went on without what it should have trained"

#: Relative difference of losses that other kernels for the same formula explain (measured: 2e-7 in the first 10 steps).
ROUNDING = 1e-5


@dataclass(frozen=True)
class Verdict:
    """What the runs prove.

    Attributes:
        word: one of :data:`VERDICTS`.
        reason: one sentence.
        runs: the runs by name: ``original/cpu``, ``original/device``, ``original/unchecked``, ``patched/cpu`` and
            ``patched/device``; with a real device also ``patched/unchecked`` where the script insists on an
            accelerator, and the second look, as ``patched/device in float64``.
        reference: name of the run that the patched losses were compared with; None if it did not come to that.
        silent: the original raised nothing and trained something else.

    """

    word: str
    reason: str
    runs: dict[str, Run] = field(default_factory=dict)
    reference: str | None = None
    silent: bool = False

    @property
    def good(self) -> bool:
        """Whether the patch may be kept."""
        return self.word in ("fixed", "no-error")


def _same_failure(one: Run, other: Run) -> bool:
    if one.failure is None or other.failure is None:
        return one.failure is None and other.failure is None and one.exit_code == other.exit_code
    return (one.failure.type, one.failure.text) == (other.failure.type, other.failure.text)


def judge(runs: dict[str, Run]) -> Verdict:
    """The verdict on a set of runs, by the names that :class:`Verdict` lists."""
    patched, patched_cpu = runs["patched/device"], runs["patched/cpu"]
    original, original_cpu = runs["original/device"], runs["original/cpu"]
    unchecked = runs["original/unchecked"]

    def verdict(word: str, reason: str, **more: Any) -> Verdict:
        return Verdict(word, reason, runs, **more)

    for name, each in runs.items():
        if each.stopped is not None and name != "original/unchecked":
            advice = ": more is allowed with --timeout" if each.timed_out else ""
            return verdict("inconclusive", f"{name} was {each.outcome}{advice}")
    for name in ("patched/device", "original/device"):
        if runs[name].unsupported:
            features = ", ".join(runs[name].unsupported)
            return verdict("inconclusive", f"{name} used what cannot be compared: {features}")
    if not patched.ok:
        if patched.device_error:
            return verdict("not-fixed", f"a device error remains: {patched.outcome}")
        if not original_cpu.ok and not unchecked.ok and _same_failure(patched, unchecked):
            return verdict("inconclusive", f"the original fails without an accelerator too: {ending(original_cpu)}")
        return verdict("broken", f"the patched script fails: {patched.outcome}")
    if original_cpu.ok and not patched_cpu.ok:
        return verdict("broken", f"the patched script fails without an accelerator: {patched_cpu.outcome}")
    if original.ok and not _swallowed(runs):
        return _judge_silent(runs, verdict)
    if not original.ok and not original_cpu.ok and not unchecked.ok:
        return verdict("inconclusive", f"the original fails in any case: {ending(unchecked)}")
    return _judge_repaired(runs, verdict)


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
    return None


def _fled(patched: Run, meant: Run) -> str | None:
    """Where work of the accelerator runs on the CPU now: how much."""
    there, wanted = patched.device_operations, meant.device_operations
    if patched.device == "cpu" or there >= MINIMUM_WORK * wanted:
        return None
    return f"the work left the accelerator: {there} operations run there, {wanted} were meant to"


def _judge_repaired(runs: dict[str, Run], verdict: Any) -> Verdict:
    """The original failed on the accelerator, or caught that it did, and the patched script did not."""
    patched, unchecked = runs["patched/device"], runs["original/unchecked"]
    original = runs["original/device"]
    exact = _differs_exactly(runs)
    if exact and not _trains_more(runs[exact[0]], runs[exact[1]]):
        return _differs(runs, *exact, verdict)
    worst: tuple[int, str] | None = None
    for name in ("original/cpu", "original/unchecked"):
        reference = runs[name]
        if not reference.ok:
            continue
        matched = match(runs, "patched/device", name)
        if matched.good:
            short = _enough(patched)
            if short:
                return verdict("inconclusive", short, reference=name)  # type: ignore[no-any-return]
            fled = _fled(patched, unchecked)
            if fled:
                return verdict("not-fixed", fled)  # type: ignore[no-any-return]
            error = _before(original)
            losses = f"{len(patched.losses)} losses over {patched.steps} steps"
            return verdict(  # type: ignore[no-any-return]
                "fixed",
                f"{losses} {matched.words}; before: {error}",
                reference=name,
            )
        index = first_disagreement(patched, reference)
        reached = len(reference.losses) if index is None else index
        if worst is None or reached > worst[0]:
            worst = (reached, name)
    assert worst is not None
    if _close_by_nature(runs):
        return verdict(  # type: ignore[no-any-return]
            "fixed",
            f"{len(patched.losses)} losses over {patched.steps} steps equal original/cpu within rounding (the script "
            "computes differently on an accelerator; without one, original and patched are equal bit for bit)",
            reference="original/cpu",
        )
    if _trains_more(patched, runs[worst[1]]) and runs["patched/cpu"].ok:
        if match(runs, "patched/device", "patched/cpu").good:
            return _silent_verdict(runs, runs[worst[1]], verdict)
        if on_real_device(patched):
            return _differs(runs, "patched/device", "patched/cpu", verdict)
    return _differs(runs, "patched/device", worst[1], verdict)


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
        and all(abs(one - other) <= ROUNDING * abs(other) for one, other in zip(patched.losses, original.losses))
    )


def _trains_more(patched: Run, original: Run) -> bool:
    """Whether parameters train now that no optimizer held before."""
    return len(original.forgotten) > len(patched.forgotten) and patched.parameters >= original.parameters


def _silent_verdict(runs: dict[str, Run], original: Run, verdict: Any) -> Verdict:
    patched = runs["patched/device"]
    short = _enough(patched)
    if short:
        return verdict("inconclusive", short)  # type: ignore[no-any-return]
    if original.losses and first_disagreement(patched, original) == 0:  # loss 1 comes before anything is trained
        return verdict(  # type: ignore[no-any-return]
            "loss-differs",
            f"more parameters train, but loss 1, before any of them did, is {patched.losses[0]!r} against "
            f"{original.losses[0]!r} of the original",
        )
    remaining = list(patched.forgotten)
    trained = [shape for shape in original.forgotten if shape not in remaining or remaining.remove(shape)]  # type: ignore[func-returns-value]
    shapes = ", ".join("×".join(map(str, shape)) for shape in trained)
    return verdict(  # type: ignore[no-any-return]
        "fixed",
        f"parameters that no optimizer held now train ({shapes}); {len(patched.losses)} losses over {patched.steps} "
        f"steps {match(runs, 'patched/device', 'patched/cpu').words}",
        reference="patched/cpu",
        silent=True,
    )


def _differs(runs: dict[str, Run], shown: str, name: str, verdict: Any) -> Verdict:
    patched, reference = runs[shown], runs[name]
    index = first_disagreement(patched, reference)
    if index is None:
        reason = f"the losses equal {name} but the parameters at the end do not"
    elif index < min(len(patched.losses), len(reference.losses)):
        reason = f"from loss {index + 1} on: {patched.losses[index]!r} against {reference.losses[index]!r} of {name}"
    else:
        reason = f"{len(patched.losses)} losses against {len(reference.losses)} of {name}"
    told = match(runs, shown, name).words
    return verdict("loss-differs", f"{reason}; {told}" if told else reason, reference=name)  # type: ignore[no-any-return]


def _judge_silent(runs: dict[str, Run], verdict: Any) -> Verdict:
    """The original raised nothing: either there was nothing to repair, or it trained something else."""
    patched, patched_cpu, original = runs["patched/device"], runs["patched/cpu"], runs["original/device"]
    exact = _differs_exactly(runs)
    fled = _fled(patched, original)
    if fled:
        return verdict("broken", fled, reference="original/device")  # type: ignore[no-any-return]
    if exact is None and match(runs, "patched/device", "original/device").good:
        return verdict("no-error", "the original runs on the accelerator, and the patched script trains as it does")  # type: ignore[no-any-return]
    if not _trains_more(patched, original):
        return _differs(runs, *(exact or ("patched/device", "original/device")), verdict)
    if not (patched_cpu.ok and match(runs, "patched/device", "patched/cpu").good):
        return _differs(runs, "patched/device", "patched/cpu", verdict)
    return _silent_verdict(runs, original, verdict)


def prove(
    original: Path | str,
    patched: Path | str,
    script: str,
    args: Sequence[str] = (),
    *,
    timeout: float = DEFAULT_TIMEOUT,
    memory_mb: int = DEFAULT_MEMORY_MB,
    python: str = sys.executable,
    max_steps: int | None = None,
    devices: int = 1,
    module: bool = False,
    env: dict[str, str] | None = None,
    jobs: int = 2,
    setup: Sequence[str] | None = None,
    setup_script: str | None = None,
    run_on: str = "sim",
    setup_on: str = "sim",
    start: str = ".",
    changes: Mapping[str, bytes] | None = None,
    keep: bool = False,
    known: Mapping[str, Run] | None = None,
    kind: str = "cuda",
    torchrun: bool = False,
    compiled: bool = False,
) -> Verdict:
    """Run original and patched project folders on the CPU and on the simulated accelerator, and compare.

    Args:
        original: folder that holds ``script`` as it was.
        patched: folder that holds it as it would be.
        script: its path within both.
        args: its arguments.
        timeout: as for :func:`devfix.verify.run`, and so are the next six.
        memory_mb: limit on a run's memory.
        python: the interpreter.
        max_steps: end each run after this many optimizer steps.
        devices: number of simulated devices.
        module: ``script`` is a module's name.
        env: variables to add.
        jobs: how many runs at a time.
        setup: arguments of a run that comes first, in the same folder (it writes the checkpoint that is then loaded).
        setup_script: what that run executes; default ``script``.
        run_on: ``sim``, a real device's type, or ``cpu`` for a bug that shows where there is no accelerator: then
            ``.../device`` is a run without accelerator after a setup with one.
        setup_on: where the setup works if ``run_on`` is ``cpu``: ``sim``, or a real device.
        start: working directory within the folders.
        changes: new contents of files of ``patched``, by their path within it.
        keep: leave the scratch copies behind.
        known: runs that were made before, by name: they are not made again.
        kind: the device type that is simulated, as for :func:`devfix.verify.run`, and so are the next two.
        torchrun: set the variables that torchrun sets.
        compiled: leave ``torch.compile`` on.

    Raises:
        devfix.verify.RunError: a run could not be made.

    """
    folders = {"original": original, "patched": patched}
    names = ["original/cpu", "original/device", "original/unchecked", "patched/cpu", "patched/device"]

    def one(name: str, float64: bool = False) -> Run:
        side, how = name.split("/")
        then = run_on if how == "device" else how
        first = setup_on if how == "device" and run_on == "cpu" else then
        return run(
            script,
            args,
            then,
            folders[side],
            timeout,
            memory_mb,
            python,
            max_steps=max_steps,
            devices=devices,
            module=module,
            env=env,
            setup=setup,
            setup_script=setup_script,
            setup_device=first,
            start=start,
            changes=changes if side == "patched" else None,
            keep=keep,
            float64=float64,
            kind=kind,
            torchrun=torchrun,
            compiled=compiled,
        )

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        futures = {name: pool.submit(one, name) for name in names if name not in (known or {})}
        runs = {name: futures[name].result() if name in futures else (known or {})[name] for name in names}
        if on_real_device(runs["patched/device"]) and not runs["original/cpu"].ok and runs["original/unchecked"].ok:
            runs["patched/unchecked"] = one("patched/unchecked")
        verdict = judge(runs)
        reference = verdict.reference
        if verdict.word != "loss-differs" or reference is None:
            return verdict
        if not agree(one(reference), runs[reference]):
            return Verdict("inconclusive", "two runs of the reference differ: the script is not deterministic", runs)
        if not _worth_a_second_look(runs, reference):
            return verdict
        again = {in_float64(name): name for name in ("patched/device", reference)}
        looked = {wide: pool.submit(one, name, True) for wide, name in again.items() if wide not in (known or {})}
        return judge(runs | {wide: looked[wide].result() if wide in looked else (known or {})[wide] for wide in again})


def _worth_a_second_look(runs: Mapping[str, Run], reference: str) -> bool:
    """Whether losses on a real device left their tolerance, and rounding could be why."""
    one, other = runs["patched/device"], runs[reference]
    index = first_disagreement(one, other)
    return on_real_device(one, other) and index is not None and index < min(len(one.losses), len(other.losses))
