"""What a state tells: progress of the run, failures, and pull requests."""

from __future__ import annotations

import fcntl
import os
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

from devfix.migrate.changes import ChangeState
from devfix.migrate.progress import ActiveTask, active_tasks
from devfix.migrate.record import RepositoryOutcome
from devfix.migrate.run import scratch_folder
from devfix.migrate.state import State

__all__ = ["Overview", "overview"]

_MAX_CAUSES = 10
_LOCATION = re.compile(r"^[^\s:]+:\d+: ")  # of an entry in the plan


@dataclass(frozen=True)
class Overview:
    """Progress of a migration.

    Attributes:
        plan: the plan of the last run.
        total: the number of repositories of the last run.
        outcomes: the number of finished repositories by outcome, also of earlier runs.
        is_running: whether a run is in progress.
        started: when the last run started, in seconds since 1970.
        rate: repositories per second in the last run; 0 if unknown.
        active: the repositories in progress on this machine.
        causes: the most frequent stages and reasons of failures, with their numbers.
        changes: the number of pull requests by state.

    """

    plan: str
    total: int
    outcomes: Counter[RepositoryOutcome]
    is_running: bool
    started: float
    rate: float
    active: list[ActiveTask] = field(default_factory=list)
    causes: list[tuple[str, str, int]] = field(default_factory=list)
    changes: Counter[ChangeState] = field(default_factory=Counter)

    @property
    def left(self) -> int:
        """The number of repositories that are not finished."""
        return max(0, self.total - self.outcomes.total())

    @property
    def remaining_s(self) -> float | None:
        """The estimated time until the end of the run in seconds; ``None`` if unknown."""
        return self.left / self.rate if self.left and self.rate else None


def overview(state: State) -> Overview:
    """Return the progress of a migration; another process may be writing the state.

    Raises:
        devfix.migrate.state.StateError: the state cannot be read.

    """
    entries = state.latest()
    started = float(state.run.get("started", 0.0))
    recent = [entry.finished for entry in entries if started and entry.finished >= started]
    elapsed = max(recent) - started if recent else 0.0
    causes: Counter[tuple[str, str]] = Counter()
    changes: Counter[ChangeState] = Counter()
    for entry in entries:
        if entry.outcome is RepositoryOutcome.FAILED and (record := state.record(entry)) is not None:
            reason = _LOCATION.sub("", record.reason).replace(record.repository, "REPOSITORY")
            causes[record.stage, reason] += 1
        for change in state.changes(entry):
            changes[change.state] += 1
            if change.reason:
                causes["pull request", change.reason] += 1
    return Overview(
        plan=str(state.run.get("plan", "")),
        total=int(state.run.get("tasks", len(entries))),
        outcomes=Counter(entry.outcome for entry in entries),
        is_running=_is_locked(state.path),
        started=started,
        rate=len(recent) / elapsed if elapsed > 0 else 0.0,
        active=[each for each in active_tasks(scratch_folder(state.path)) if each.since >= started - 1],
        causes=[(*cause, count) for cause, count in causes.most_common(_MAX_CAUSES)],
        changes=changes,
    )


def _is_locked(path: str) -> bool:
    with suppress(OSError):
        lock = os.open(f"{path}.lock", os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(lock)
    return False
