"""Comparison of printed numbers: they reveal a metric that a fix has changed, although the losses agree."""

from __future__ import annotations

import re

from devfix.verify.records import Run

__all__ = ["describe_changed_output"]

_NUMBER = re.compile(r"(?<![\w.:])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w:])")

# Lines about quantities that vary between runs or machines
_VARYING = re.compile(
    r"\b(?:cuda|gpus?|cpu|mps|xpu|device|pid|eta|elapsed|took|times?|sec(?:onds?|s)?|minutes?|mins|hours?|ms|mem(?:ory)?|[kmg]i?b"
    r"|speed|throughput|\w+/s(?:ec)?)\b|s/it|\d(?:ms|s|min)\b",
    re.IGNORECASE,
)

#: Relative tolerance for rounding on a real device; losses are compared separately.
_RELATIVE = 1e-2

#: Only the last part of the output is stored, so lines of longer outputs cannot be paired.
_OUTPUT_LIMIT = 60_000


def describe_changed_output(patched: Run, baseline: Run, reference: Run) -> str | None:
    """Return a description of the first line whose numbers differ between two runs; None if there is none.

    Args:
        patched: the run to check.
        baseline: the patched script on the reference's device.  Lines in which it differs from the reference (times,
            unseeded numbers) are ignored.
        reference: the run with the expected numbers.

    The result is None if the three runs print different text apart from the numbers.
    """
    if any(len(run.output) >= _OUTPUT_LIMIT for run in (patched, baseline, reference)):
        return None
    outputs = [run.output.splitlines() for run in (patched, baseline, reference)]
    if len({len(lines) for lines in outputs}) > 1:
        return None
    for ours, theirs, expected in zip(*outputs):
        if theirs != expected or _VARYING.search(expected):
            continue
        if _NUMBER.sub("#", ours) != _NUMBER.sub("#", expected):
            continue
        pairs = zip(_numbers(ours), _numbers(expected))
        if any(abs(one - other) > _RELATIVE * max(abs(one), abs(other)) for one, other in pairs):
            return f"it prints `{_short(ours)}`, but {_name(reference)} prints `{_short(expected)}`"
    return None


def _name(reference: Run) -> str:
    return "the original without an accelerator" if reference.device == "cpu" else "the original"


def _numbers(line: str) -> list[float]:
    return [float(number) for number in _NUMBER.findall(line)]


def _short(line: str) -> str:
    line = line.strip()
    return line if len(line) <= 80 else line[:79] + "…"
