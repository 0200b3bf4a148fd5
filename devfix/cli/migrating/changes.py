"""``devfix migrate open``, ``merge`` and ``close``: the pull requests of a migration."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

import click

from devfix.cli._interrupts import interruptible
from devfix.cli.migrating.states import loaded_forges, opened
from devfix.migrate.changes import Change, ChangeState
from devfix.migrate.proposing import ForgeError, Forges, MergeMethod, Proposals, Refused
from devfix.migrate.record import Record
from devfix.migrate.state import Entry, State
from devfix.migrate.task import Limits
from devfix.report.sanitize import printable

__all__ = ["close_changes", "merge_changes", "open_changes", "show_changes"]


def open_changes(
    given: str, *, max_open: int | None, max_hourly: int | None, retry_refused: bool, dry_run: bool
) -> int:
    """Open the waiting pull requests, as far as the limits allow; return the exit code."""
    failed = False
    with opened(given, writable=not dry_run) as state, interruptible():
        waiting = {ChangeState.WAITING, *([ChangeState.REFUSED] if retry_refused else [])}
        limits = Limits(
            max_open or int(state.run.get("max_open", Limits.max_open)),
            max_hourly or int(state.run.get("max_hourly", Limits.max_hourly)),
            str(state.run.get("window", "")),
        )
        proposals = None if dry_run else Proposals(state, loaded_forges(), limits)
        for entry, record, change in _each_change(state, waiting):
            if proposals is None:
                _print("would open", record, change)
                continue
            _, record, change = proposals.offer(entry, record, replace(change, state=ChangeState.WAITING))
            if proposals.stopped and change.state is ChangeState.WAITING:
                click.echo(proposals.stopped, err=True)
                return 1
            failed |= change.state is not ChangeState.OPEN
            _print("opened" if change.state is ChangeState.OPEN else change.state.value, record, change)
    return int(failed)


def merge_changes(given: str, *, method: MergeMethod, unchecked: bool, dry_run: bool) -> int:
    """Merge the open pull requests whose checks passed; return the exit code."""

    def merge(forges: Forges, record: Record, change: Change) -> ChangeState:
        found = forges.progress(record, change)
        if found.state is not ChangeState.OPEN:
            return found.state
        if found.review == "changes requested":
            raise Refused("a review requests changes")
        if found.checks != "passed" and not unchecked:
            raise Refused(f"its checks: {found.checks or 'none'}")
        if not dry_run:
            forges.merge(record, change, method)
        return ChangeState.MERGED

    return _for_open(given, "would merge" if dry_run else "merged", merge, dry_run)


def close_changes(given: str, *, comment: str, dry_run: bool) -> int:
    """Close the open pull requests and delete their branches; return the exit code."""

    def close(forges: Forges, record: Record, change: Change) -> ChangeState:
        if not dry_run:
            forges.close(record, change, comment)
        return ChangeState.CLOSED

    return _for_open(given, "would close" if dry_run else "closed", close, dry_run)


def _for_open(given: str, done: str, action: Callable[[Forges, Record, Change], ChangeState], dry_run: bool) -> int:
    """Apply an action to each open pull request; one that fails does not stop the others."""
    failed = False
    with opened(given, writable=not dry_run) as state, interruptible():
        forges = loaded_forges()
        for entry, record, change in _each_change(state, {ChangeState.OPEN}):
            try:
                change = replace(change, state=action(forges, record, change))
            except (ForgeError, Refused) as error:
                failed = True
                _print(f"not {done.removeprefix('would ')}", record, replace(change, reason=str(error)))
                continue
            if not dry_run:
                state.replace_change(entry, record, change)
            _print(done, record, change)
    return int(failed)


def show_changes(given: str) -> None:
    """Print each pull request with its checks and reviews."""
    with opened(given) as state, interruptible():
        forges = None
        for _, record, change in _each_change(state, set(ChangeState)):
            if change.state is not ChangeState.OPEN:
                _print(change.state.value, record, change)
                continue
            forges = forges or loaded_forges()
            try:
                found = forges.progress(record, change)
            except ForgeError as error:
                _print("open", record, replace(change, reason=str(error)))
                continue
            facts = [found.state.value, "draft" if found.draft else "", found.review]
            facts.append(f"checks {found.checks}" if found.checks else "")
            _print(", ".join(fact for fact in facts if fact), record, change)


def _each_change(state: State, wanted: Collection[ChangeState]) -> Iterator[tuple[Entry, Record, Change]]:
    """Yield the pull requests in some states, with the record as it is when they are reached."""
    for first in state.latest():
        for change in state.changes(first):
            entry = state.current(first)
            record = state.record(entry) if change.state in wanted else None
            if record is not None:
                yield entry, record, change


def _print(what: str, record: Record, change: Change) -> None:
    reason = f": {change.reason}" if change.reason else ""
    click.echo(printable(f"{what} {record.name} {change.url or change.branch}{reason}".replace("\n", " ")))
