"""The table of the trials, for the terminal and for docs/development/verification.md."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Sequence

from benchmarks.trials.judgement import Result

SECTION = "trials"
_COMMAND = "python -m benchmarks.trials --table docs/development/verification.md"


def totals(results: Sequence[Result]) -> str:
    """Return two lines: wrong patches refused, right repairs accepted."""
    wrong = [result for result in results if result.trial.kind == "wrong"]
    right = [result for result in results if result.trial.kind == "right"]
    refused = sum(result.is_refused for result in wrong)
    accepted = sum(not result.is_off for result in right)
    limits = sum(not result.is_refused and bool(result.trial.limit) for result in wrong)
    explained = f" ({limits} of them for a documented reason)" if limits else ""
    return (
        f"{refused} of {len(wrong)} wrong patches are refused, {len(wrong) - refused} are called fixed{explained}.\n"
        f"{accepted} of {len(right)} right repairs are accepted."
    )


def markdown(results: Sequence[Result], torch_version: str, device: str) -> str:
    """Return the section: totals, a row for each program, and a row for each trial with an unexpected verdict."""
    wrong = [result for result in results if result.trial.kind == "wrong"]
    name = "a simulated CUDA device" if device == "sim" else "a CUDA device"
    lines = [
        f"Made by `{_COMMAND}` on {name}, torch {torch_version}, Python {platform.python_version()}.",
        "",
        *totals(results).split("\n"),
        "",
        "| program | wrong: refused | as | right: accepted |",
        "|---|---|---|---|",
        *(_row(program, results) for program in sorted({result.program for result in results})),
    ]
    limits = [result for result in wrong if not result.is_refused and result.trial.limit]
    if limits:
        lines += ["", "| called fixed | limit |", "|---|---|"]
        lines += [_line(f"{each.program}: {each.trial.name}", each.trial.limit) for each in limits]
    off = [result for result in results if result.is_off]
    if off:
        lines += ["", "| unexpected | patch | verdict | reason |", "|---|---|---|---|"]
        lines += [
            _line(result.trial.kind, f"{result.program}: {result.trial.name}", result.status, result.reason)
            for result in off
        ]
    return "\n".join(lines)


def _row(program: str, results: Sequence[Result]) -> str:
    wrong = [result for result in results if result.program == program and result.trial.kind == "wrong"]
    right = [result for result in results if result.program == program and result.trial.kind == "right"]
    verdicts = Counter(result.status for result in wrong if result.is_refused)
    return _line(
        program,
        f"{verdicts.total()} of {len(wrong)}",
        ", ".join(f"{count} {status}" for status, count in sorted(verdicts.items())),
        f"{sum(not result.is_off for result in right)} of {len(right)}",
    )


def _line(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|').split(chr(10))[0] for cell in cells)} |"
