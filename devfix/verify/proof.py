"""The runs of a proof, and the conditions for repeating one."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from devfix.verify.comparison import computes_same, describe_dependence, repeated
from devfix.verify.confirmation import confirm_silent_fix
from devfix.verify.line_shifts import line_shifts
from devfix.verify.loss_comparison import agree, first_disagreement, in_float64, on_real_device, same_direction
from devfix.verify.probe.supervisor import DEFAULT_DISK_MB
from devfix.verify.records import Run
from devfix.verify.runs import DEFAULT_MEMORY_MB, DEFAULT_TIMEOUT, run
from devfix.verify.verdict import Verdict, judge

__all__ = ["prove"]

_NAMES = ("original/cpu", "original/device", "original/unchecked", "patched/cpu", "patched/device")
_REFERENCES = ("original/cpu", "original/unchecked", "original/device")


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

    def make_run(
        name: str,
        *,
        float64: bool = False,
        frozen: Sequence[str] = (),
        unobserved: bool = False,
        fast_clocks: bool = False,
        held: bool = False,
    ) -> Run:
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
            unobserved=unobserved,
            fast_clocks=fast_clocks,
            held=held,
        )

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        shifts = line_shifts(Path(original), Path(patched), changes or {})
        return _Trial(make_run, pool, dict(known or {}), shifts).verdict()


class _MakeRun(Protocol):
    def __call__(
        self,
        name: str,
        *,
        float64: bool = False,
        frozen: Sequence[str] = (),
        unobserved: bool = False,
        fast_clocks: bool = False,
        held: bool = False,
    ) -> Run: ...


class _Trial:
    """The runs of a proof so far.

    Args:
        make: makes the run of the given name.
        pool: makes several at once.
        known: existing runs by name; they are not repeated.
        shifts: by how many lines the patch moves lines of the source.
        held: all runs get the same time of day and random seeds.

    """

    def __init__(
        self,
        make: _MakeRun,
        pool: ThreadPoolExecutor,
        known: Mapping[str, Run],
        shifts: frozenset[int],
        held: bool = False,
    ) -> None:
        self._make = make
        self._pool = pool
        self._known = known
        self._shifts = shifts
        self._held = held
        self._runs: dict[str, Run] = {}

    def verdict(self) -> Verdict:
        """Return the verdict, after as many runs as it needs.

        If two runs of the reference compute other numbers, all runs are repeated with clocks and random seeds that are
        the same in each run.
        """
        verdict = self._verdict()
        if not self._is_noisy():
            return verdict
        held = _Trial(self._make, self._pool, {}, self._shifts, held=True)._verdict()
        if held.status == "inconclusive":
            return verdict
        return replace(held, reason=f"{held.reason} (with the same time of day and random seeds in each run)")

    def _is_noisy(self) -> bool:
        """Whether a repetition of a run of the original, if there is one, computed other numbers."""
        pairs = [(self._runs.get(repeated(name)), self._runs.get(name)) for name in _REFERENCES]
        return any(
            again is not None and run is not None and not (agree(again, run) and computes_same(again, run))
            for again, run in pairs
        )

    def _verdict(self) -> Verdict:
        self._add({name: self._start(name) for name in _NAMES})
        runs = self._runs
        if on_real_device(runs["patched/device"]) and not runs["original/cpu"].ok and runs["original/unchecked"].ok:
            self._add({"patched/unchecked": self._start("patched/unchecked")})
        verdict = self._without_noise(judge(runs))
        if verdict.status == "fixed" and verdict.silent:
            verdict = confirm_silent_fix(verdict, lambda name, frozen: self._make(name, frozen=frozen, held=self._held))
        self._runs.update(verdict.runs)
        return self._unless_observed(verdict) if verdict.good else verdict

    def _start(
        self, name: str, *, of: str = "", float64: bool = False, unobserved: bool = False, fast_clocks: bool = False
    ) -> Future[Run]:
        """Start the run ``name``, which repeats the run ``of``, unless it is known."""
        if name in self._known:
            done: Future[Run] = Future()
            done.set_result(self._known[name])
            return done
        return self._pool.submit(
            self._make, of or name, float64=float64, unobserved=unobserved, fast_clocks=fast_clocks, held=self._held
        )

    def _add(self, started: Mapping[str, Future[Run]]) -> None:
        found = {name: future.result() for name, future in started.items()}
        for name, each in found.items():
            if name.startswith("patched/"):
                found[name] = replace(each, outputs=replace(each.outputs, shifts=self._shifts))
        self._runs.update(found)

    def _without_noise(self, verdict: Verdict) -> Verdict:
        """Return the verdict after a second run of the reference, and runs in float64, if they may change it."""
        for _ in _REFERENCES:
            reference = verdict.reference
            if verdict.status not in ("loss-differs", "output-differs", "not-fixed") or reference is None:
                return verdict
            again = repeated(reference)
            if again in self._runs:
                break
            needed = [reference]
            if reference == "original/device" and self._runs["original/unchecked"].ok:
                needed.append("original/unchecked")  # the original may have caught its device error
            self._add({repeated(name): self._start(repeated(name), of=name, fast_clocks=True) for name in needed})
            if not agree(self._runs[again], self._runs[reference]):
                reason = "two runs of the reference differ: the script is nondeterministic"
                return Verdict("inconclusive", reason, self._runs, reference)
            verdict = judge(self._runs)
        reference = verdict.reference
        if verdict.status != "loss-differs" or reference is None or not _may_be_rounding(self._runs, reference):
            return verdict
        names = ("patched/device", reference)
        self._add({in_float64(name): self._start(in_float64(name), of=name, float64=True) for name in names})
        return judge(self._runs)

    def _unless_observed(self, verdict: Verdict) -> Verdict:
        """Return the verdict, or ``inconclusive`` if the patched script behaves differently without the recorder."""
        observed = self._runs["patched/cpu"]
        if not observed.ok or observed.ended_early:
            return verdict
        name = "patched/unobserved"
        self._add({name: self._start(name, of="patched/cpu", unobserved=True)})
        if describe_dependence(self._runs, "patched/cpu", name) is None:
            return replace(verdict, runs=self._runs)
        again = repeated(name)
        self._add({again: self._start(again, of="patched/cpu", unobserved=True, fast_clocks=True)})
        change = describe_dependence(self._runs, "patched/cpu", name)
        if change is None:
            return replace(verdict, runs=self._runs)
        reason = f"without the recorder, the patched script behaves differently: {change}"
        return Verdict("inconclusive", reason, self._runs, verdict.reference)


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
