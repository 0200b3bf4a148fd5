"""The programs and libraries of a run with their present scans, which repairs keep up to date."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from devfix.engine.scan import Scan, scan_again
from devfix.engine.workspace import Workspace

__all__ = ["Programs"]

_MOST_RESCANS = 3  # of other programs, for each program
_MOST_KNOWN = 6  # scans of one program that are remembered


@dataclass(frozen=True)
class _Known:
    """A scan and the changed texts at that time."""

    scan: Scan
    changed: Mapping[str, str]

    def holds_for(self, present: Mapping[str, str]) -> bool:
        """Return whether the files that the scan has read have the same texts now."""
        files = self.scan.files
        return all(self.changed.get(path) == present.get(path) for path in files & (self.changed.keys() | present))


class Programs:
    """The programs of a run.

    Args:
        space: the texts.
        scans: their scans, which hold for the present texts.

    """

    def __init__(self, space: Workspace, scans: Iterable[Scan]) -> None:
        self.space = space
        present = dict(space.changed)
        self._scans = [_Known(scan, present) for scan in scans]
        self._rescans = _MOST_RESCANS * len(self._scans)
        self._known: dict[tuple[str, bool], deque[_Known]] = {}  # the latest scans of each program

    def __len__(self) -> int:
        return len(self._scans)

    def scan(self, number: int) -> Scan:
        """Return the scan of a program as it was when its texts last changed with :meth:`keep`."""
        return self._scans[number].scan

    def present(self, number: int) -> Scan:
        """Return the scan of a program for the present texts."""
        if self._is_stale(number):
            self.keep({number: self.again(self.scan(number))})
        return self.scan(number)

    def readers(self, paths: Iterable[str]) -> list[int]:
        """Return the programs that read one of the files at some absolute paths."""
        wanted = set(paths)
        return [number for number in range(len(self)) if not self.scan(number).files.isdisjoint(wanted)]

    def others(self, number: int) -> Iterator[tuple[int, Scan]]:
        """Scan again the other programs that read a changed file; beyond a limit, none."""
        for other in range(len(self)):
            if other != number and self._rescans > 0 and self._is_stale(other):
                self._rescans -= 1
                yield other, self.again(self.scan(other))

    def again(self, scan: Scan) -> Scan:
        """Repeat a scan for the present texts, unless one is remembered for which its files had the same texts."""
        known = self._known.setdefault((scan.path, scan.is_program), deque(maxlen=_MOST_KNOWN))
        for each in known:
            if each.holds_for(self.space.changed):
                return each.scan
        after = scan_again(self.space, scan)
        known.appendleft(_Known(after, dict(self.space.changed)))
        return after

    def keep(self, scans: Mapping[int, Scan]) -> None:
        """Replace scans by those of the present texts."""
        for number, scan in scans.items():
            self._scans[number] = _Known(scan, dict(self.space.changed))

    def _is_stale(self, number: int) -> bool:
        return not self._scans[number].holds_for(self.space.changed)
