"""Small programs with tensors on two devices: the lines that the analysis reports, and the line that fails."""

from __future__ import annotations

import traceback
import warnings
from dataclasses import dataclass

from devfix import analysis

__all__ = ["Program", "check_broken", "check_right"]

HEADER = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n\n"
_FILE = "train.py"


@dataclass(frozen=True)
class Program:
    """A program without its usual imports.

    Attributes:
        name: what it shows.
        body: its text; a broken program fails on the last line.
        missed: why the analysis does not report it, if it is broken.
        unsimulated: why the simulator does not run it, if it is right.

    """

    name: str
    body: str
    missed: str = ""
    unsimulated: str = ""

    @property
    def text(self) -> str:
        return HEADER + self.body.lstrip("\n")

    def __str__(self) -> str:
        return self.name


def check_right(program: Program) -> None:
    assert _reported_lines(program) == []
    assert (_failing_line(program) is None) != bool(program.unsimulated)


def check_broken(program: Program) -> None:
    assert bool(_reported_lines(program)) != bool(program.missed)
    assert _failing_line(program) == program.text.count("\n")


def _reported_lines(program: Program) -> list[str]:
    """Return the lines with a device mismatch, or with host access to memory of the accelerator."""
    observations = analysis.analyse(f"/p/{_FILE}", {f"/p/{_FILE}": program.text}.get, "/p")
    assert observations is not None
    found = {mismatch.point.span.line for mismatch in observations.mismatches}
    found |= {line for _, line, _ in observations.host_accesses}
    lines = program.text.splitlines()
    return [lines[number - 1] for number in sorted(found)]


def _failing_line(program: Program) -> int | None:
    """Return the line of the main program on which a run on the simulator fails; ``None`` if it does not."""
    from devfix.simulator import Simulator

    with Simulator(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # prototypes and deprecated names
        try:
            exec(compile(program.text, _FILE, "exec"), {"__name__": "__main__"})
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            return next(frame.lineno for frame in frames if frame.filename == _FILE)
    return None
