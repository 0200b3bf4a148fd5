"""``diagnose`` and ``trace --log``: read a log, and report the causes of its device error."""

from __future__ import annotations

import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

import click

from devfix.cli._agents import AGENT
from devfix.cli._errors import CommandError
from devfix.cli._verifying import convert_run_errors

if TYPE_CHECKING:
    from devfix.trace.log.ranking import LogTrace

__all__ = ["diagnose", "trace_log"]

_STDIN = "-"
_MOST_BYTES = 32 * 2**20  # of the end of a log


def diagnose(log: str, folder: str | None, output_format: str) -> int:
    """Find the program of the error in a log, rank the causes, print them, and return the exit code."""
    from devfix import sources
    from devfix.cli._interrupts import interruptible
    from devfix.cli._progress import progress
    from devfix.trace.log.ranking import diagnose_log

    if folder is not None and not Path(folder).is_dir():
        raise CommandError(f"--project {folder}: not a folder")
    with interruptible(), convert_run_errors():
        text = _text(log)
        with progress():
            found = diagnose_log(text, folder or sources.own_root("."))
    return _report(found, log, output_format)


def trace_log(script: str, log: str, output_format: str, cwd: str | None, project: str | None, *, module: bool) -> int:
    """Rank the causes of the error in a log of a script, print them, and return the exit code."""
    from devfix.trace.log.ranking import NoFrame, read_causes
    from devfix.verify.project import find_project

    with convert_run_errors():
        found_project = find_project(script, cwd, project, module=module)
        try:
            found = read_causes(found_project, _text(log))
        except NoFrame as error:
            raise CommandError(f"the log has no line of {script} or its project: {error}") from error
    return _report(found, log, output_format)


def _report(found: LogTrace | None, log: str, output_format: str) -> int:
    from devfix.report.runs import log as report

    if found is None:
        told = f"no device error in {'the log' if log == _STDIN else log}"
        click.echo(
            f"devfix: {told}; next: nothing to do" if output_format == AGENT else told, err=output_format == "json"
        )
        return 0
    if output_format == "json":
        sys.stdout.write(report.dumps(found))
    elif output_format == AGENT:
        from devfix.report.runs import log_agent

        sys.stdout.write(log_agent.dumps(found))
    else:
        report.show(found)
    sys.stdout.flush()
    return 1


def _text(log: str) -> str:
    if log == _STDIN:
        return _stdin().decode("utf-8", "replace")
    with open(log, "rb") as file:
        file.seek(0, 2)
        file.seek(max(0, file.tell() - _MOST_BYTES))
        return file.read().decode("utf-8", "replace")


def _stdin() -> bytes:
    """Return the end of standard input; what is piped is shown meanwhile if standard error is a terminal."""
    is_typed, is_shown = sys.stdin.isatty(), sys.stderr.isatty()
    if is_typed and is_shown:
        click.echo("Paste a traceback, then press Ctrl-D (Windows: Ctrl-Z and Enter).", err=True)
    lines: deque[bytes] = deque()
    size = 0
    for line in sys.stdin.buffer:
        if is_shown and not is_typed:
            sys.stderr.buffer.write(line)
            sys.stderr.buffer.flush()
        lines.append(line)
        size += len(line)
        while size > _MOST_BYTES and len(lines) > 1:
            size -= len(lines.popleft())
    return b"".join(lines)
