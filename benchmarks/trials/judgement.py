"""What `devfix.verify.prove` says of the patches."""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from benchmarks.trials.catalogue import NEVER_ACCEPTABLE, Program, Trial
from devfix.verify import RunError, Verdict, prove


@dataclass(frozen=True)
class Result:
    """The verdict on one trial.

    Attributes:
        status: the verdict, or ``error`` if no verdict was reached.
        seconds: elapsed time of the proof.

    """

    program: str
    trial: Trial
    status: str
    reason: str
    seconds: float

    @property
    def is_refused(self) -> bool:
        """Whether the patch was not accepted."""
        return self.status not in NEVER_ACCEPTABLE

    @property
    def is_off(self) -> bool:
        """Whether the verdict is not one of the acceptable ones, and no documented limit explains that."""
        return self.status not in self.trial.acceptable and not self.trial.limit

    def __str__(self) -> str:
        mark = "OFF" if self.is_off else "ok "
        line = f"{mark} {self.trial.kind} {self.status:14s} {self.program}: {self.trial.name} ({self.seconds:.0f} s)"
        return f"{line}: {self.reason}" if self.is_off else line


def judge(programs: Iterable[Program], jobs: int = 1, device: str = "sim") -> Iterator[Result]:
    """Yield the results as they arrive; ``jobs`` proofs run at a time."""
    pairs = [(program, trial) for program in programs for trial in program.trials]
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        for done in as_completed([pool.submit(verdict, program, trial, device) for program, trial in pairs]):
            yield done.result()


def verdict(program: Program, trial: Trial, device: str = "sim") -> Result:
    """Return the verdict on one trial."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="trial-") as folder:
        original, patched = Path(folder, "original"), Path(folder, "patched")
        program.write_original(original)
        program.write_patched(patched, trial)
        try:
            found = _prove(program, original, patched, device)
        except RunError as error:
            return Result(program.name, trial, "error", str(error), time.monotonic() - began)
    return Result(program.name, trial, found.status, found.reason, time.monotonic() - began)


def _prove(program: Program, original: Path, patched: Path, device: str) -> Verdict:
    return prove(
        original,
        patched,
        program.script,
        program.args,
        setup=program.setup,
        setup_script=program.setup_script,
        run_on=device,
        setup_on=device,
    )
