"""Opening, merging and closing the pull requests of a migration, on the main machine: workers need no token.

The forges are known to the bot, which imports migrate, so its implementation is loaded by name.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from devfix.migrate.changes import Change, ChangeState
from devfix.migrate.parts.records import record_of, with_published
from devfix.migrate.record import Published, Record
from devfix.migrate.results import complete
from devfix.migrate.state import Entry, State
from devfix.migrate.task import Limits
from devfix.migrate.window import Window

__all__ = ["ForgeError", "Forges", "MergeMethod", "Opened", "Progress", "Proposals", "Refused", "load_forges"]

_IMPLEMENTATION = "devfix.bot.migration"
_MAX_ERRORS = 3  # in sequence: the token or the network is at fault
_HOUR_S = 3600.0
_Key = tuple[bytes, tuple[str, ...] | None]  # identity of the entry, owners of the change

MergeMethod = Literal["merge", "squash", "rebase"]


class ForgeError(Exception):
    """The forge is unknown or unreachable, or there is no token: the message says why."""


class Refused(Exception):
    """A person stopped or closed the pull request, the branch belongs to others, or the forge refused it."""


@dataclass(frozen=True)
class Progress:
    """A pull request on its forge.

    Attributes:
        state: ``OPEN``, ``MERGED`` or ``CLOSED``.
        checks: ``passed``, ``failed``, ``running``, or empty if there are none.
        review: ``approved``, ``changes requested``, or empty.
        draft: whether it is a draft.

    """

    state: ChangeState
    checks: str = ""
    review: str = ""
    draft: bool = False


@dataclass(frozen=True)
class Opened:
    """A pull request that was opened or updated.

    Attributes:
        url: its address.
        commit: the commit that was pushed.
        repository: the fork that has the branch; empty for the repository itself.
        problem: why it has not all labels and reviewers; empty otherwise.

    """

    url: str
    commit: str
    repository: str = ""
    problem: str = ""


class Forges(Protocol):
    """The forges of a migration.

    All methods raise :class:`ForgeError` if the forge cannot be reached.
    """

    def check(self, source: str) -> None:
        """Check that there is a token for the forge of a repository."""

    def open(self, record: Record, change: Change) -> Opened:
        """Push the patch, to a fork if the change asks for one, and open the pull request, or update the open one.

        Raises:
            Refused: see :class:`Refused`.

        """

    def progress(self, record: Record, change: Change) -> Progress:
        """Return the state of a pull request."""

    def merge(self, record: Record, change: Change, method: MergeMethod) -> None:
        """Merge a pull request.

        Raises:
            Refused: it is a draft, somebody else pushed to its branch, a person stopped devfix, or the forge refuses.

        """

    def close(self, record: Record, change: Change, comment: str) -> None:
        """Comment, close the pull request, and delete its branch unless somebody else pushed to it; a fork stays.

        Raises:
            Refused: a person stopped devfix in this pull request.

        """


def load_forges() -> Forges:
    """Load the implementation.

    Raises:
        ImportError: a package of the ``bot`` extra is missing.

    """
    found: Forges = importlib.import_module(_IMPLEMENTATION).HostedForges()
    return found


class Proposals:
    """Opens pull requests within limits; the others wait for a later run or for ``devfix migrate open``.

    Args:
        state: the state, which contains the pull requests of earlier runs.
        forges: the forges.
        limits: the limits.
        now: returns seconds since 1970.

    Attributes:
        stopped: why no more are opened: a limit was reached, the window is closed, or the forge failed several times;
            empty otherwise.

    """

    def __init__(self, state: State, forges: Forges, limits: Limits, now: Callable[[], float] = time.time) -> None:
        self._state, self._forges, self._limits, self._now = state, forges, limits, now
        self._errors = 0
        self._refreshed = False
        self._open: set[_Key] = set()
        self._opened: list[float] = []  # moments within the last hour
        self.stopped = ""
        for entry in state.latest():
            for change in state.changes(entry):
                if change.state is ChangeState.OPEN:
                    self._open.add((entry.identity, change.owners))
                if change.opened > now() - _HOUR_S:
                    self._opened.append(change.opened)

    def offer(self, entry: Entry, record: Record, change: Change) -> tuple[Entry, Record, Change]:
        """Open or update a pull request if the limits allow it; return what is stored afterwards.

        Raises:
            devfix.migrate.state.StateError: the state cannot be written.

        """
        is_settled = change.state in (ChangeState.MERGED, ChangeState.CLOSED, ChangeState.REFUSED)
        offered = record_of(record, change)
        if offered is None:  # its files need no fix any more
            return entry, record, change
        before = offered.published
        is_current = before is not None and before.url and before.commit
        if is_settled or is_current or (change.state is ChangeState.WAITING and not self._may_open()):
            return entry, record, change
        try:
            opened = self._forges.open(record_of(complete(record), change) or offered, change)
        except Refused as error:
            change = replace(change, state=ChangeState.REFUSED, reason=str(error))
        except ForgeError as error:
            self._errors += 1
            if self._errors >= _MAX_ERRORS:
                self.stopped = str(error)
            change = replace(change, reason=str(error))
        else:
            self._errors = 0
            if change.state is ChangeState.WAITING:
                self._open.add((entry.identity, change.owners))
                self._opened.append(self._now())
                change = replace(change, opened=self._now())
            change = replace(
                change,
                state=ChangeState.OPEN,
                url=opened.url,
                commit=opened.commit,
                repository=opened.repository,
                reason=opened.problem,
            )
            path = "" if before is None else before.path
            published = Published("pull-request", path, change.branch, opened.commit, url=opened.url)
            record = with_published(record, change, published)
        return self._state.replace_change(entry, record, change), record, change

    def _may_open(self) -> bool:
        if self.stopped:
            return False
        if self._limits.window and not Window.parse(self._limits.window).contains(self._now()):
            self.stopped = f"pull requests are opened {self._limits.window} only (window)"
            return False
        self._opened = [moment for moment in self._opened if moment > self._now() - _HOUR_S]
        if len(self._opened) >= self._limits.max_hourly:
            self.stopped = (
                f"{len(self._opened)} pull requests were opened within the last hour; "
                f"max-hourly is {self._limits.max_hourly}"
            )
        elif len(self._open) >= self._limits.max_open:
            self._refresh()
            if len(self._open) >= self._limits.max_open:
                self.stopped = f"{len(self._open)} pull requests are open; max-open is {self._limits.max_open}"
        return not self.stopped

    def _refresh(self) -> None:
        """Ask the forges, once, which pull requests are still open."""
        if not self._refreshed:
            self._refreshed = True
            self._open.clear()
            for entry, _, change in self.refreshed():
                if change.state is ChangeState.OPEN:
                    self._open.add((entry.identity, change.owners))

    def refreshed(self) -> list[tuple[Entry, Record, Change]]:
        """Return all pull requests, with the state that the forge reports for open ones; store what changed."""
        found = []
        for entry in self._state.latest():
            record = self._state.record(entry) if entry.has_change else None
            if record is None:
                continue
            for change in self._state.changes(entry):
                refreshed = self._refreshed_change(record, change)
                if refreshed != change:
                    entry = self._state.replace_change(entry, record, refreshed)
                found.append((entry, record, refreshed))
        return found

    def _refreshed_change(self, record: Record, change: Change) -> Change:
        if change.state is not ChangeState.OPEN:
            return change
        try:
            return replace(change, state=self._forges.progress(record, change).state)
        except ForgeError:
            return change
