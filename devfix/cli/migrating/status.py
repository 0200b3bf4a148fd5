"""``devfix migrate status``."""

from __future__ import annotations

import json

import click

from devfix.cli.migrating.changes import show_changes
from devfix.cli.migrating.states import opened
from devfix.migrate.overview import overview
from devfix.report.migrations.status import status_document, status_lines

__all__ = ["show"]


def show(given: str, *, with_changes: bool, output_format: str) -> int:
    """Print progress, failures and pull requests; return the exit code."""
    with opened(given) as state:
        found = overview(state)
    if output_format == "json":
        click.echo(json.dumps(status_document(found), indent=2))
    else:
        for line in status_lines(found):
            click.echo(line)
    if with_changes and output_format == "text":
        show_changes(given)
    return 0
