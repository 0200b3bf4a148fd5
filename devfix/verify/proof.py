"""The runs of a proof: which are made, and when one is made again."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from devfix.verify.confirmation import confirmed
from devfix.verify.loss_comparison import agree, first_disagreement, in_float64, on_real_device, same_direction
from devfix.verify.records import Run
from devfix.verify.runs import DEFAULT_MEMORY_MB, DEFAULT_TIMEOUT, run
from devfix.verify.verdict import Verdict, judge

__all__ = ["prove"]


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

    def one(name: str, float64: bool = False, still: Sequence[str] = ()) -> Run:
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
            still=still,
            kind=kind,
            torchrun=torchrun,
            compiled=compiled,
        )

    def remade(name: str, still: Sequence[str]) -> Run:
        return one(name, still=still)

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        futures = {name: pool.submit(one, name) for name in names if name not in (known or {})}
        runs = {name: futures[name].result() if name in futures else (known or {})[name] for name in names}
        if on_real_device(runs["patched/device"]) and not runs["original/cpu"].ok and runs["original/unchecked"].ok:
            runs["patched/unchecked"] = one("patched/unchecked")
        verdict = judge(runs)
        if verdict.status == "fixed" and verdict.silent:
            return confirmed(verdict, remade)
        reference = verdict.reference
        if verdict.status != "loss-differs" or reference is None:
            return verdict
        if not agree(one(reference), runs[reference]):
            return Verdict("inconclusive", "two runs of the reference differ: the script is not deterministic", runs)
        if not _worth_a_second_look(runs, reference):
            return verdict
        again = {in_float64(name): name for name in ("patched/device", reference)}
        looked = {wide: pool.submit(one, name, True) for wide, name in again.items() if wide not in (known or {})}
        verdict = judge(
            runs | {wide: looked[wide].result() if wide in looked else (known or {})[wide] for wide in again}
        )
        return confirmed(verdict, remade) if verdict.status == "fixed" and verdict.silent else verdict


def _worth_a_second_look(runs: Mapping[str, Run], reference: str) -> bool:
    """Whether losses on a real device left their tolerance, and rounding could be why."""
    one, other = runs["patched/device"], runs[reference]
    index = first_disagreement(one, other)
    same_number = len(one.losses) == len(other.losses)
    return on_real_device(one, other) and same_number and (index is not None or not same_direction(one, other))
