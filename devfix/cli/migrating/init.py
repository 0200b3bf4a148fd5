"""``devfix migrate init``."""

from __future__ import annotations

import os
import sys

import click

from devfix.cli._errors import CommandError

__all__ = ["write_plan"]


def write_plan(source: str, output: str) -> int:
    """Write a plan for the repositories of a folder or list; return the exit code."""
    from devfix.migrate.plan import read_plan
    from devfix.migrate.plan_template import template

    text = template(read_plan(source), "" if output == "-" else os.path.dirname(os.path.abspath(output)))
    if output == "-":
        sys.stdout.write(text)
        return 0
    try:
        with open(output, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise CommandError(f"{output} already exists: choose another --output") from None
    except OSError as error:
        raise CommandError(f"{output}: {error.strerror}") from error
    click.echo(f"wrote {output}: edit it, then run devfix migrate {output}", err=True)
    return 0
