"""A proof as a table and a sentence for terminals, and as JSON.

``schema/verdict-2.json`` documents the JSON.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from devfix import __version__
from devfix.report.sanitize import printable
from devfix.verify.result import Proof

if TYPE_CHECKING:
    from rich.console import Console

    from devfix.verify.records import Run

__all__ = [
    "SCHEMA_VERSION",
    "cells",
    "console",
    "difference_lines",
    "document",
    "dumps",
    "number",
    "sentence",
    "show",
]

SCHEMA_VERSION = 2

#: Differences between outputs in the JSON document.
MOST_DIFFERENCES = 1000

#: Rows of the table of outputs, and differences between them.
MOST_SHOWN = 10

_FILE_WIDTH = 120
_STYLES = {"fixed": "bold green", "no-error": "bold green", "inconclusive": "bold yellow"}


def cells(proof: Proof, name: str) -> tuple[str, str, str, str, str]:
    """Return outcome, steps, first loss, last loss, and largest difference of a run as text."""
    run = proof.verdict.runs[name]
    difference = proof.difference(name)
    return (
        printable(_ending(run)),
        str(run.steps) if run.has_report else "unknown",
        number(run.losses[0]) if run.losses else "–",
        number(run.losses[-1]) if run.losses else "–",
        "–" if difference is None else number(difference),
    )


def _ending(run: Run) -> str:
    """Return a run's outcome without the message of its exception."""
    if run.failure is None or run.stopped is not None:
        return run.outcome
    return f"{run.failure.type} at {run.failure.where}" if run.failure.file else run.failure.type


def sentence(proof: Proof) -> str:
    """Return the verdict in one sentence."""
    reason = proof.verdict.reason
    return f"{proof.verdict.status}: {printable(reason)}" + ("" if reason.endswith((".", "!", "?")) else ".")


def console(stderr: bool = False) -> Console:
    """Return a console that is wide enough for the table if the output's width is unknown."""
    from rich.console import Console

    result = Console(highlight=False, stderr=stderr)
    if not result.is_terminal and "COLUMNS" not in os.environ:
        result.width = _FILE_WIDTH
    return result


def show(proof: Proof, to: Console | None = None) -> None:
    """Print table, notes and verdict."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    to = to or console()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("run", "outcome", "steps", "first loss", "last loss", "largest\ndifference"):
        numbers = heading not in ("run", "outcome")
        table.add_column(heading, justify="right" if numbers else "left", no_wrap=heading != "outcome", overflow="fold")
    for name in proof.rows:
        table.add_row(*(Text(cell) for cell in (name, *cells(proof, name))))
    to.print(Text(f"on {proof.where}", style="dim"), soft_wrap=True)
    to.print(table)
    _show_curves(proof, to)
    _show_outputs(proof, to)
    for remark in proof.remarks:
        to.print(Text(f"note: {printable(remark)}"), soft_wrap=True)
    style = _STYLES.get(proof.verdict.status, "bold red")
    to.print(Text(sentence(proof), style=style), soft_wrap=True)


def _show_outputs(proof: Proof, to: Console) -> None:
    """Print the outputs that were compared, and the first differences."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    if not proof.outputs:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in ("output", "contents"):
        table.add_column(heading, overflow="fold")
    table.add_column("differences", justify="right", no_wrap=True)
    for name, contents, count in _first_outputs(proof.outputs):
        table.add_row(*(Text(printable(cell)) for cell in (name, contents, str(count))))
    to.print(table)
    to.print()
    for line in difference_lines(proof):
        to.print(Text(f"output: {line}"), soft_wrap=True)


def _first_outputs(outputs: Sequence[tuple[str, str, int]]) -> Sequence[tuple[str, str, int]]:
    """Return the rows of the table: of many outputs those that differ first, and how many are left."""
    if len(outputs) <= MOST_SHOWN:
        return outputs
    shown = sorted(outputs, key=lambda row: not row[2])[:MOST_SHOWN]
    left = [row for row in outputs if row not in shown]
    return [*shown, (f"and {len(left)} more", "", sum(count for _, _, count in left))]


def difference_lines(proof: Proof) -> list[str]:
    """Return the first differences between the outputs, one sentence each, and how many are left."""
    found = proof.output_differences
    lines = [printable(str(difference)) for difference in found[:MOST_SHOWN]]
    return lines + ([f"and {len(found) - MOST_SHOWN} more"] if len(found) > MOST_SHOWN else [])


def _show_curves(proof: Proof, to: Console) -> None:
    """Print the chart if the output can display it and plotext is installed."""
    from rich.text import Text

    if "utf" not in to.encoding.lower():
        return
    from devfix.report.runs import curves

    try:
        chart = curves.terminal_chart(proof, to.width, to.is_terminal and not to.no_color)
    except ImportError:
        if to.is_terminal:
            to.print(Text("for loss curves: pip install 'devfix[verify]'", style="dim"), soft_wrap=True)
        return
    if chart is not None:
        to.print(Text.from_ansi(chart), soft_wrap=True)
        to.print()


def dumps(proof: Proof) -> str:
    """Return the document as ASCII text with an indentation of two spaces and a final newline."""
    return json.dumps(document(proof), indent=2) + "\n"


def document(proof: Proof) -> dict[str, Any]:
    """Return the proof as JSON values; a non-finite loss is a string."""
    experiment, verdict = proof.experiment, proof.verdict
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "devfix", "version": __version__},
        "verdict": verdict.status,
        "reason": verdict.reason,
        "exit_code": proof.exit_code,
        "silent": verdict.silent,
        "reference": verdict.reference,
        "script": experiment.project.script,
        "arguments": list(experiment.args),
        "project": str(experiment.project.root),
        "python": experiment.python,
        "device": experiment.device,
        "device_type": experiment.kind,
        "device_reason": experiment.why,
        "module": experiment.project.module,
        "changed": list(proof.changed),
        "notes": list(proof.remarks),
        "outputs": {
            "compared": [
                {"name": name, "contents": contents, "differences": count} for name, contents, count in proof.outputs
            ],
            "differences": [difference._asdict() for difference in proof.output_differences[:MOST_DIFFERENCES]],
        },
        "runs": {name: _run(proof, name) for name in verdict.runs},
    }


def _run(proof: Proof, name: str) -> dict[str, Any]:
    run = proof.verdict.runs[name]
    failure = run.failure
    difference = proof.difference(name)
    return {
        "outcome": run.outcome,
        "ok": run.ok,
        "exit_code": run.exit_code,
        "timed_out": run.timed_out,
        "stopped": run.stopped,
        "recorded": run.has_report,
        "failure": failure
        and {
            "type": failure.type,
            "message": failure.text,
            "family": failure.family,
            "path": failure.file,
            **({} if failure.place is None else {"cell": failure.place[0]}),
            "line": failure.line if failure.place is None else failure.place[1],
            "source": failure.code,
            "traceback": failure.traceback,
        },
        "steps": run.steps,
        "losses": [_finite(loss) for loss in run.losses],
        "largest_difference": None if difference is None else _finite(difference),
        "optimizers": list(run.optimizers),
        "parameters": run.parameters,
        "forgotten": [list(shape) for shape in run.forgotten],
        "accelerator_share": run.accelerator_share,
        "wall_s": run.wall,
        "memory_mb": run.memory_mb,
        "offline": run.offline,
        "exposed": list(run.exposed),
        "unsupported": list(run.unsupported),
        "torch": run.torch,
        "output": run.output,
    }


def _finite(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def number(value: float) -> str:
    """Return a loss or a difference with six significant digits."""
    return "0" if value == 0 else f"{value:.6g}"
