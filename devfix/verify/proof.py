"""The runs of a proof, and the conditions for repeating one."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from devfix.verify.confirmation import confirm_silent_fix
from devfix.verify.loss_comparison import agree, first_disagreement, in_float64, on_real_device, same_direction
from devfix.verify.probe.supervisor import DEFAULT_DISK_MB
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
    disk_mb: int = DEFAULT_DISK_MB,
    allow_read: Sequence[str] = (),
) -> Verdict:
    """Run the original and the patched project on the CPU and on the accelerator, and compare.

    Args:
        original: folder with the original ``script``.
        patched: folder with the patched one; may be the same if ``changes`` are given.
        script: its path within both.
        args: its arguments.
        timeout: seconds after which a run is killed.
        memory_mb: limit on a run's memory.
        python: the interpreter.
        max_steps: end each run after this many optimizer steps.
        devices: number of simulated devices.
        module: ``script`` is a module's name.
        env: environment variables to add.
        jobs: number of concurrent runs.
        setup: arguments of a preparatory run in the same folder (it writes the checkpoint that the script loads).
        setup_script: the script of that run; default ``script``.
        run_on: ``sim``, a real device's type, or ``cpu`` for a bug on machines without an accelerator: then
            ``.../device`` is a run without an accelerator after a setup with one.
        setup_on: device of the setup if ``run_on`` is ``cpu``: ``sim`` or a real device.
        start: working directory within the folders.
        changes: new contents of files of ``patched``, by their path within it.
        keep: do not delete the scratch copies.
        known: existing runs by name; they are not repeated.
        kind: the type of the simulated device.
        torchrun: set torchrun's environment variables.
        compiled: leave ``torch.compile`` on.
        disk_mb: limit on the size of a run's files.
        allow_read: files and folders that a run may read, although they are hidden or not copied by default.

    Raises:
        devfix.verify.RunError: a run could not be made.

    """
    folders = {"original": original, "patched": patched}
    names = ["original/cpu", "original/device", "original/unchecked", "patched/cpu", "patched/device"]

    def make_run(name: str, float64: bool = False, frozen: Sequence[str] = ()) -> Run:
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
            frozen=frozen,
            kind=kind,
            torchrun=torchrun,
            compiled=compiled,
            disk_mb=disk_mb,
            allow_read=allow_read,
        )

    def remake(name: str, frozen: Sequence[str]) -> Run:
        return make_run(name, frozen=frozen)

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        futures = {name: pool.submit(make_run, name) for name in names if name not in (known or {})}
        runs = {name: futures[name].result() if name in futures else (known or {})[name] for name in names}
        if on_real_device(runs["patched/device"]) and not runs["original/cpu"].ok and runs["original/unchecked"].ok:
            runs["patched/unchecked"] = make_run("patched/unchecked")
        verdict = judge(runs)
        if verdict.status == "fixed" and verdict.silent:
            return confirm_silent_fix(verdict, remake)
        reference = verdict.reference
        if verdict.status != "loss-differs" or reference is None:
            return verdict
        if not agree(make_run(reference), runs[reference]):
            return Verdict("inconclusive", "two runs of the reference differ: the script is nondeterministic", runs)
        if not _may_be_rounding(runs, reference):
            return verdict
        names_in_float64 = {in_float64(name): name for name in ("patched/device", reference)}
        repeated = {
            wide: pool.submit(make_run, name, True)
            for wide, name in names_in_float64.items()
            if wide not in (known or {})
        }
        verdict = judge(
            runs
            | {wide: repeated[wide].result() if wide in repeated else (known or {})[wide] for wide in names_in_float64}
        )
        return confirm_silent_fix(verdict, remake) if verdict.status == "fixed" and verdict.silent else verdict


def _may_be_rounding(runs: Mapping[str, Run], reference: str) -> bool:
    """Whether losses on a real device exceed their tolerance and rounding may be the reason."""
    patched, expected = runs["patched/device"], runs[reference]
    index = first_disagreement(patched, expected)
    same_number = len(patched.losses) == len(expected.losses)
    return (
        on_real_device(patched, expected)
        and same_number
        and (index is not None or not same_direction(patched, expected))
    )
