"""``devfix migrate report``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import click

from devfix.cli._output_pages import require_jinja2
from devfix.cli.migrating.states import opened, write_report
from devfix.migrate.record import Record
from devfix.migrate.results import complete
from devfix.migrate.state import State

__all__ = ["report"]


def report(given: str, *, output: str, output_format: str) -> int:
    """Write the records of a state as HTML, JSON lines or SARIF; return the exit code."""
    if output_format == "html":
        require_jinja2("--output-format html")
    with opened(given) as state:
        if output_format == "html":
            write_report(output, _records(state), os.path.basename(str(state.run.get("plan", ""))))
            click.echo(f"wrote {output}", err=True)
        elif output_format == "jsonl":
            for record in _records(state):
                sys.stdout.write(record.line() + "\n")
        else:
            _write_sarif(_records(state))
    return 0


def _records(state: State) -> Iterator[Record]:
    found = (state.record(entry) for entry in state.latest())
    return (complete(record) for record in found if record is not None)


def _write_sarif(records: Iterator[Record]) -> None:
    from devfix.report.migrations import sarif

    sys.stdout.write(sarif.opening())
    for number, record in enumerate(records):
        sys.stdout.write((sarif.BETWEEN if number else "") + sarif.run(record))
    sys.stdout.write(sarif.CLOSING)
