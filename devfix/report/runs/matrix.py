"""A matrix of machines as a table for terminals, and as JSON.

``schema/matrix-1.json`` documents the JSON.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from devfix import __version__
from devfix.report.runs.verdict import console, number
from devfix.report.sanitize import printable

if TYPE_CHECKING:
    from rich.console import Console

    from devfix.verify.matrix import Matrix, Row
    from devfix.verify.records import Run

__all__ = ["SCHEMA_VERSION", "compared", "document", "dumps", "ending", "failures", "machine_name", "sentence", "show"]

SCHEMA_VERSION = 1


def machine_name(row: Row) -> str:
    """Return the name of a machine, and whether it is simulated."""
    return (
        f"{row.machine.kind if row.machine.must_simulate else row.machine.name}{' (sim)' if row.is_simulated else ''}"
    )


def ending(run: Run | None) -> str:
    """Return how a run ended, without the message of its exception; empty if there is none."""
    if run is None:
        return ""
    if run.failure is None or run.stopped is not None:
        return printable(run.outcome)
    return printable(f"{run.failure.type} at {run.failure.where}" if run.failure.file else run.failure.type)


def compared(matrix: Matrix, row: Row) -> str:
    """Return how the patched script compares with the reference on a machine."""
    if not row.after.ok:
        return ""
    if row.after is matrix.reference:
        return "reference"
    if row.comparison is None:
        return "no reference"
    if row.is_other_precision and not row.comparison.is_same:
        return "other precision"
    if row.is_good:
        return "same losses" if row.after.losses else "same"
    return "other losses" if row.comparison.status == "loss-differs" else "other output"


def failures(matrix: Matrix) -> list[str]:
    """Return a sentence for each failure and difference, with the machines that it occurs on."""
    found: dict[str, list[str]] = {}
    for row in matrix.rows:
        sides = (("before", row.before), ("after" if row.before is not None else "now", row.after))
        for side, run in sides:
            if run is not None and not run.ok:
                told = run.failure.summary if run.failure is not None and run.stopped is None else run.outcome
                found.setdefault(f", {side}: {printable(told)}", []).append(machine_name(row))
        if row.comparison is not None and not row.comparison.is_same and not row.is_other_precision:
            found.setdefault(f": {printable(row.comparison.description)}", []).append(machine_name(row))
    return [", ".join(names) + told for told, names in found.items()]


def sentence(matrix: Matrix) -> str:
    """Return the result in one sentence."""
    rows, bad = len(matrix.rows), [machine_name(row) for row in matrix.rows if not row.is_good]
    machines = "machine" if rows == 1 else "machines"
    if bad:
        return f"not portable: {len(bad)} of {rows} {machines} failed: {', '.join(bad)}."
    if matrix.reference is None:
        return f"portable: the script completes on {rows} {machines}."
    return f"portable: the script completes on {rows} {machines}, as {matrix.reference_name} does."


def show(matrix: Matrix, to: Console | None = None) -> None:
    """Print the table, the failures, the notes and the result."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    to = to or console()
    columns = ["machine", *(["before"] if matrix.changes else []), "after" if matrix.changes else "now"]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in columns:
        table.add_column(heading, overflow="fold", no_wrap=heading == "machine")
    table.add_column("last loss", justify="right", no_wrap=True)
    table.add_column("compared", no_wrap=True)
    for row in matrix.rows:
        ends = [ending(row.before)] if matrix.changes else []
        loss = number(row.after.losses[-1]) if row.after.losses else "–"
        style = "" if row.is_good else "red"
        cells = (machine_name(row), *ends, ending(row.after), loss, compared(matrix, row))
        table.add_row(*(Text(cell) for cell in cells), style=style)
    torch = next((row.after.torch for row in matrix.rows if row.after.torch), "")
    to.print(Text(f"torch {torch}, {matrix.experiment.python}", style="dim"), soft_wrap=True)
    to.print(table)
    for line in (*failures(matrix), *(f"note: {printable(note)}" for note in matrix.notes)):
        to.print(Text(line), soft_wrap=True)
    to.print(Text(sentence(matrix), style="bold green" if matrix.is_good else "bold red"), soft_wrap=True)


def dumps(matrix: Matrix) -> str:
    """Return the document as ASCII text with an indentation of two spaces and a final newline."""
    return json.dumps(document(matrix), indent=2) + "\n"


def document(matrix: Matrix) -> dict[str, Any]:
    """Return the matrix as JSON values; a non-finite loss is a string."""
    experiment = matrix.experiment
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "devfix", "version": __version__},
        "portable": matrix.is_good,
        "summary": sentence(matrix),
        "exit_code": matrix.exit_code,
        "reference": matrix.reference_name,
        "script": experiment.project.script,
        "arguments": list(experiment.args),
        "project": str(experiment.project.root),
        "python": experiment.python,
        "changed": list(matrix.changed),
        "notes": list(matrix.notes),
        "machines": [_row(matrix, row) for row in matrix.rows],
    }


def _row(matrix: Matrix, row: Row) -> dict[str, Any]:
    return {
        "machine": row.machine.name,
        "kind": row.machine.kind,
        "devices": row.machine.devices,
        "simulated": row.is_simulated,
        "good": row.is_good,
        "compared": compared(matrix, row),
        "difference": None if row.comparison is None or row.comparison.is_same else row.comparison.description,
        "before": None if row.before is None else _run(row.before),
        "after": _run(row.after),
    }


def _run(run: Run) -> dict[str, Any]:
    failure = run.failure
    return {
        "outcome": run.outcome,
        "ok": run.ok,
        "failure": failure
        and {
            "type": failure.type,
            "message": failure.text,
            "path": failure.file,
            "line": failure.line if failure.place is None else failure.place[1],
            **({} if failure.place is None else {"cell": failure.place[0]}),
        },
        "steps": run.steps,
        "losses": [loss if abs(loss) < float("inf") else str(loss) for loss in run.losses],
        "wall_s": run.wall,
        "torch": run.torch,
    }
