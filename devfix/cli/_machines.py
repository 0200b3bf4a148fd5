"""The machines of ``verify --on``, and the report on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from devfix.cli._agents import AGENT
from devfix.cli._output_pages import print_run, write_page

if TYPE_CHECKING:
    from devfix.verify.matrix import Machine, Matrix

__all__ = ["machines_of", "named_machines", "refuse_device", "report_matrix"]


def named_machines(text: str) -> tuple[Machine, ...]:
    """Return the machines of a list such as ``cpu,cuda,2xcuda``.

    Raises:
        click.BadParameter: a name is unknown.

    """
    from devfix.verify.matrix import UnknownMachine, parse_machines

    try:
        return parse_machines(text)
    except UnknownMachine as error:
        raise click.BadParameter(str(error), param_hint="'--on'") from error


def machines_of(kinds: Sequence[str]) -> tuple[Machine, ...]:
    """Return a machine for each kind of accelerator, and ``cpu`` for none."""
    from devfix.verify.matrix import Machine

    return tuple(Machine(kind, kind) for kind in kinds)


def refuse_device(context: click.Context, machines: str | None) -> None:
    """Refuse ``--device`` and ``--devices`` beside ``--on``.

    Raises:
        click.UsageError: both were given.

    """
    for name in ("device", "devices"):
        if machines is not None and context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise click.UsageError(f"--{name} and --on exclude each other.")


def report_matrix(matrix: Matrix, output_format: str, page: str | None, command: str) -> int:
    """Print the runs on all machines, and return the exit code; ``command`` is the next one for agents."""
    if page is not None:
        from devfix.cli._invocation import about
        from devfix.report.runs import matrix_html

        write_page(page, matrix_html.page(matrix, about(matrix.experiment.project.root)))
    if output_format == AGENT:
        from devfix.report.runs import matrix_agent

        click.echo(matrix_agent.dumps(matrix, command), nl=False)
    else:
        print_run(matrix, output_format, text="matrix", json="matrix", html="matrix_html")
    return matrix.exit_code
