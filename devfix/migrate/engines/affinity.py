"""Which host of a cluster gets which repository: the one that has its mirror, as far as hosts have time.

A host is chosen by consistent hashing of the repository, so that the choice needs no memory, is the same in the next
run, and changes for few repositories when hosts come and go.
"""

from __future__ import annotations

from bisect import bisect
from collections import deque
from collections.abc import Collection, Iterator

from devfix.migrate.task import Task
from devfix.sources.digest import digest

__all__ = ["Affinity"]

_POINTS = 64  # of each host on the ring: more divide it more evenly
_LOOKAHEAD = 16  # waiting tasks for each place in flight


class Affinity:
    """The tasks that are next, by host.

    Args:
        tasks: all tasks, consumed as far as needed.

    """

    def __init__(self, tasks: Iterator[Task]) -> None:
        self._tasks = tasks
        self._waiting: dict[str, deque[Task]] = {}
        self._ring: list[tuple[int, str]] = []

    def set_hosts(self, hosts: Collection[str]) -> None:
        """Set the hosts that have workers."""
        if set(hosts) == set(self._waiting):
            return
        waiting = sorted((task for tasks in self._waiting.values() for task in tasks), key=lambda task: task.number)
        self._waiting = {host: deque() for host in sorted(hosts)}
        self._ring = sorted((_position(host, str(point)), host) for host in hosts for point in range(_POINTS))
        for task in waiting:
            self._waiting[self.host(task)].append(task)

    def host(self, task: Task) -> str:
        """Return the host of a repository; all its refs and sub-folders have the same."""
        place = bisect(self._ring, (_position(task.repository), ""))
        return self._ring[place % len(self._ring)][1]

    def take(self, host: str, capacity: int) -> Task | None:
        """Return the next task for a host: its own, else one of the host with the most; ``None`` if there is none.

        Args:
            host: a host of :meth:`set_hosts`.
            capacity: the number of tasks that may be in flight on all hosts.

        """
        count = sum(map(len, self._waiting.values()))
        while not self._waiting[host] and count < _LOOKAHEAD * capacity:
            task = next(self._tasks, None)
            if task is None:
                break
            self._waiting[self.host(task)].append(task)
            count += 1
        own = self._waiting[host] or max(self._waiting.values(), key=len)
        return own.popleft() if own else None


def _position(*parts: str) -> int:
    return int(digest(*parts)[:16], 16)
