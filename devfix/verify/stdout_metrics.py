"""What a script prints: numbers other than the losses show a metric that the repair has lost."""

from __future__ import annotations

import re

from devfix.verify.records import Run

__all__ = ["other_print"]

_NUMBER = re.compile(r"(?<![\w.:])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w:])")

# Lines about what is different from run to run, or from machine to machine, by nature
_BY_NATURE = re.compile(
    r"\b(?:cuda|gpus?|cpu|mps|xpu|device|pid|eta|elapsed|took|times?|sec(?:onds?|s)?|minutes?|mins|hours?|ms|mem(?:ory)?|[kmg]i?b"
    r"|speed|throughput|\w+/s(?:ec)?)\b|s/it|\d(?:ms|s|min)\b",
    re.IGNORECASE,
)

#: What a real device may round otherwise: accuracies are ratios of counts, and losses are compared elsewhere.
_RELATIVE = 1e-2

#: What is kept of an output is its end: of a longer one, lines no longer stand side by side.
_KEPT = 60_000


def other_print(shown: Run, same: Run, reference: Run) -> str | None:
    """The first line in which ``shown`` prints other numbers than ``reference``, with both; None where none is.

    ``same`` is a run with nothing but the repair between it and ``reference``: lines in which those two differ already
    (times, unseeded numbers) say nothing.  Where one of the three printed other lines altogether, nothing is said.
    """
    if any(len(run.output) >= _KEPT for run in (shown, same, reference)):
        return None
    outputs = [run.output.splitlines() for run in (shown, same, reference)]
    if len({len(lines) for lines in outputs}) > 1:
        return None
    for ours, theirs, meant in zip(*outputs):
        if theirs != meant or _BY_NATURE.search(meant):
            continue
        if _NUMBER.sub("#", ours) != _NUMBER.sub("#", meant):
            continue
        pairs = zip(_numbers(ours), _numbers(meant))
        if any(abs(one - other) > _RELATIVE * max(abs(one), abs(other)) for one, other in pairs):
            return f"it prints `{_short(ours)}` where {_name(reference)} prints `{_short(meant)}`"
    return None


def _name(reference: Run) -> str:
    return "the original without an accelerator" if reference.device == "cpu" else "the original"


def _numbers(line: str) -> list[float]:
    return [float(number) for number in _NUMBER.findall(line)]


def _short(line: str) -> str:
    line = line.strip()
    return line if len(line) <= 80 else line[:79] + "…"
