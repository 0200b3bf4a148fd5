"""The table of the attempts, for the terminal and for docs/development/agents.md."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from benchmarks.agents.client import Attempt

__all__ = ["SECTION", "markdown", "totals"]

SECTION = "agents"
_COMMAND = "python -m benchmarks.agents --table docs/development/agents.md"


def totals(attempts: Sequence[Attempt]) -> str:
    """Return the three figures: share repaired, tokens and seconds of an answer."""
    sizes = [size for each in attempts for size in each.tokens]
    seconds = [took for each in attempts for took in each.seconds]
    fixed = sum(each.verdict == "fixed" for each in attempts)
    if not sizes:
        return f"{fixed} of {len(attempts)} programs are repaired; no program failed with a message."
    return (
        f"{fixed} of {len(attempts)} programs are repaired and verified. "
        f"An answer has {median(sizes):.0f} tokens in the median, {max(sizes)} at most, and takes "
        f"{median(seconds):.1f} s in the median, {max(seconds):.1f} s at most ({len(sizes)} answers)."
    )


def markdown(attempts: Sequence[Attempt], torch_version: str) -> str:
    """Return the section: the figures, and a row for each program."""
    lines = [
        "",
        f"`{_COMMAND}`, torch {torch_version}, simulated device:",
        "",
        totals(attempts),
        "",
        "| program | files | answers | tokens | seconds | verdict |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for each in attempts:
        sizes, seconds = (", ".join(values) for values in (map(str, each.tokens), (f"{s:.1f}" for s in each.seconds)))
        verdict = each.verdict or "no edit"
        lines.append(f"| {each.name} | {each.files} | {len(each.tokens)} | {sizes} | {seconds} | {verdict} |")
    return "\n".join([*lines, ""])
