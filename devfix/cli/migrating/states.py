"""The state of a migration, as the subcommands of ``devfix migrate`` open it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from devfix.cli._errors import CommandError

if TYPE_CHECKING:
    from devfix.migrate.proposing import Forges
    from devfix.migrate.record import Record
    from devfix.migrate.state import State

__all__ = ["STATE_FILE", "loaded_forges", "one_line_errors", "opened", "state_file", "warn_of_damage", "write_report"]

STATE_FILE = "state.log"


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Show errors of a migration as one line."""
    from devfix.migrate.engines import EngineError
    from devfix.migrate.proposing import ForgeError
    from devfix.migrate.state import StateError

    try:
        yield
    except (EngineError, ForgeError, StateError) as error:
        raise CommandError(str(error)) from error


def state_file(given: str) -> str:
    """Return the state of an output folder, or the given file; raise ``CommandError`` if there is none."""
    path = os.path.join(given, STATE_FILE) if os.path.isdir(given) else given
    if not os.path.isfile(path):
        raise CommandError(f"{path}: no such state: run devfix migrate PLAN --out {given} first")
    return path


@contextmanager
def opened(given: str, *, writable: bool = False) -> Iterator[State]:
    """Open a state; warn if it is damaged."""
    from devfix.migrate.state import State

    with one_line_errors(), closing(State(state_file(given), writable=writable)) as state:
        warn_of_damage(state)
        yield state


def warn_of_damage(state: State) -> None:
    """Say how many repositories will be processed again because their entries are damaged."""
    if state.damaged:
        count = "1 entry is" if state.damaged == 1 else f"{state.damaged} entries are"
        click.echo(f"devfix: {state.path}: {count} damaged; these repositories are processed again", err=True)


def loaded_forges() -> Forges:
    """Return the forges; raise ``CommandError`` if packages are missing."""
    from devfix.migrate.proposing import load_forges

    try:
        return load_forges()
    except ImportError as error:
        raise CommandError(f"pull requests need additional packages ({error}): pip install 'devfix[bot]'") from error


def write_report(path: str, records: Iterable[Record], plan: str) -> None:
    """Write the HTML report."""
    from devfix.cli._invocation import about
    from devfix.report.migrations.page import page
    from devfix.sources import write_whole

    facts = about(os.getcwd())
    content = page(records, plan, facts).encode("utf-8", "backslashreplace")
    try:
        write_whole(Path(path), [content])
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
