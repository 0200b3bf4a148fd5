"""``trace``: run a script, and report the cause of a device error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from click.core import ParameterSource

from devfix.cli._errors import CommandError
from devfix.cli._output_pages import print_run, require_jinja2
from devfix.cli._verifying import convert_run_errors, prepare_experiment

__all__ = ["CHROME_TRACE", "map_script", "refuse_run_options", "trace_script"]

#: The output format of a timeline.
CHROME_TRACE = "chrome-trace"

_LOG_OPTIONS = ("script", "args", "log", "output_format", "module", "cwd", "project")


def trace_script(script: str, args: tuple[str, ...], output_format: str, **given: Any) -> int:
    """Run a script once, report the cause of its device error, and return the exit code."""
    from devfix.cli._interrupts import interruptible
    from devfix.cli._progress import progress
    from devfix.trace.tracing import trace

    if output_format == "html":
        require_jinja2("--output-format html")
    with interruptible(), convert_run_errors(), progress() as told:
        experiment = prepare_experiment(script, args, **given)
        experiment.report = told.of_runs()
        found = trace(experiment, timeline=output_format in ("html", CHROME_TRACE))
    if output_format == CHROME_TRACE and found.timeline is None:
        raise CommandError(f"the run has no timeline. {found.summary}")
    data = "chrome_trace" if output_format == CHROME_TRACE else "trace_json"
    print_run(found, output_format, text="trace", json=data, html="trace_html")
    return found.exit_code


def map_script(script: str, args: tuple[str, ...], output_format: str, **given: Any) -> int:
    """Run a script up to its first optimizer steps, print the device map, and return the exit code."""
    from devfix.cli._interrupts import interruptible
    from devfix.cli._progress import progress
    from devfix.trace.device_map.survey import survey

    if output_format == CHROME_TRACE:
        raise click.UsageError(f"--output-format {CHROME_TRACE} cannot be combined with --map; use text, json or html.")
    if output_format == "html":
        require_jinja2("--output-format html")
    with interruptible(), convert_run_errors(), progress() as told:
        experiment = prepare_experiment(script, args, **given)
        experiment.report = told.of_runs()
        found = survey(experiment)
    print_run(found, output_format, text="device_map", json="device_map", html="device_map_html")
    return found.exit_code


def refuse_run_options(context: click.Context, args: Sequence[str], output_format: str) -> None:
    """Raise ``click.UsageError`` if options for runs are combined with ``--log``."""
    if args:
        raise click.UsageError("script arguments cannot be combined with --log, which runs nothing.")
    if output_format not in ("text", "json"):
        raise click.UsageError(f"--output-format {output_format} cannot be combined with --log; use text or json.")
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") is not ParameterSource.DEFAULT
        if given and option.name not in _LOG_OPTIONS:
            raise click.UsageError(f"{option.opts[-1]} cannot be combined with --log, which runs nothing.")
