"""A proof for people, as a table and a sentence, and for programs, as JSON.

schema/verdict-1.json documents the JSON.
"""

from __future__ import annotations

import json
import math
import os
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
    "document",
    "dumps",
    "number",
    "sentence",
    "show",
]

SCHEMA_VERSION = 1

_WIDTH_OF_A_FILE = 120
_STYLES = {"fixed": "bold green", "no-error": "bold green", "inconclusive": "bold yellow"}


def cells(proof: Proof, name: str) -> tuple[str, str, str, str, str]:
    """Outcome, steps, first loss, last loss, and largest difference of one run as text."""
    run = proof.verdict.runs[name]
    difference = proof.difference(name)
    return (
        printable(_ending(run)),
        str(run.steps),
        number(run.losses[0]) if run.losses else "–",
        number(run.losses[-1]) if run.losses else "–",
        "–" if difference is None else number(difference),
    )


def _ending(run: Run) -> str:
    """How a run ended, without the message, which is too long for a table."""
    if run.failure is None or run.stopped is not None:
        return run.outcome
    return f"{run.failure.type} at {run.failure.where}" if run.failure.file else run.failure.type


def sentence(proof: Proof) -> str:
    """The verdict in one sentence."""
    reason = proof.verdict.reason
    return f"{proof.verdict.status}: {printable(reason)}" + ("" if reason.endswith((".", "!", "?")) else ".")


def console(stderr: bool = False) -> Console:
    """Where a proof is shown: wide enough for its table where nothing says how wide it is."""
    from rich.console import Console

    made = Console(highlight=False, stderr=stderr)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = _WIDTH_OF_A_FILE
    return made


def show(proof: Proof, to: Console | None = None) -> None:
    """Print table, remarks and verdict."""
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
    for remark in proof.remarks:
        to.print(Text(f"note: {printable(remark)}"), soft_wrap=True)
    style = _STYLES.get(proof.verdict.status, "bold red")
    to.print(Text(sentence(proof), style=style), soft_wrap=True)


def _show_curves(proof: Proof, to: Console) -> None:
    """The chart, where the output can show it and plotext is there to draw it."""
    from rich.text import Text

    if "utf" not in to.encoding.lower():
        return
    from devfix.report.runs import curves

    try:
        chart = curves.terminal(proof, to.width, to.is_terminal and not to.no_color)
    except ImportError:
        if to.is_terminal:
            to.print(Text("for loss curves: pip install 'devfix[verify]'", style="dim"), soft_wrap=True)
        return
    if chart is not None:
        to.print(Text.from_ansi(chart), soft_wrap=True)
        to.print()


def dumps(proof: Proof) -> str:
    """The document as ASCII text, two spaces deep, with a newline at the end."""
    return json.dumps(document(proof), indent=2) + "\n"


def document(proof: Proof) -> dict[str, Any]:
    """The proof as dicts, lists, strings, and numbers; a loss that is no finite number is a string."""
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
    """A loss or a difference as people read it."""
    return "0" if value == 0 else f"{value:.6g}"
