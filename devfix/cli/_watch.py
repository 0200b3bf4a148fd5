"""``--watch``: run again whenever a file changes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from datetime import datetime

import click

from devfix.cli._request import Request
from devfix.cli._session import run

__all__ = ["watch"]

_SUFFIXES = (".py", ".ipynb", ".pyi", ".yaml", ".yml", ".toml", ".json")
_DEBOUNCE = 200  # milliseconds that changes are collected
_POLL = 200  # milliseconds between looks at the queue of changes


def watch(request: Request) -> int:
    """Run a request now and after each change of a file, until Ctrl-C; return the exit code of the last run."""
    code = 0
    try:
        for changed in _changes(request.paths):
            _clear()
            code = _run_once(request)
            told = f"{os.path.relpath(changed)} changed" if changed else "started"
            click.echo(f"[{datetime.now():%H:%M:%S}] {told}; watching for changes, Ctrl-C ends", err=True)
    except (KeyboardInterrupt, click.Abort):
        click.echo(err=True)
    return code


def _run_once(request: Request) -> int:
    """Run once; an error of the configuration is shown, and may be corrected while watching."""
    from devfix.cli._errors import CommandError, report_errors
    from devfix.engine.parallel_scan import forget_listings

    forget_listings()
    try:
        with report_errors(click.get_current_context()):
            return run(request)
    except CommandError as error:
        error.show()
        return error.exit_code


def _changes(paths: tuple[str, ...]) -> Iterator[str]:
    """Yield an empty string as soon as files are watched, then a changed file after each change under the paths."""
    from watchfiles import Change, DefaultFilter, watch

    class Sources(DefaultFilter):
        def __call__(self, change: Change, path: str) -> bool:
            return path.endswith(_SUFFIXES) and super().__call__(change, path)

    folders = {path if os.path.isdir(path) else os.path.dirname(os.path.abspath(path)) for path in paths}
    watched = watch(
        *folders,
        watch_filter=Sources(),
        debounce=_DEBOUNCE,
        rust_timeout=_POLL,
        yield_on_timeout=True,
        raise_interrupt=True,
    )
    is_first = True
    for changes in watched:
        if changes or is_first:  # the first time without changes: it watches by now, so no change is missed
            yield min((path for _, path in changes), default="")
            is_first = False


def _clear() -> None:
    if sys.stdout.isatty():
        click.clear()
