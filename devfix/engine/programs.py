"""The programs and libraries of a run with their present scans, which repairs keep up to date."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from devfix.engine.parallel_scan import Workers
from devfix.engine.scan import Scan
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
        workers: repeat scans; this process, if there are none.

    """

    def __init__(self, space: Workspace, scans: Iterable[Scan], workers: Workers | None = None) -> None:
        self.space = space
        self._workers = workers or Workers(space, jobs=1)
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

    def of_present_texts(self) -> list[Scan]:
        """Return the scans that hold for the present texts."""
        return [self.scan(number) for number in range(len(self)) if not self._is_stale(number)]

    def readers(self, paths: Iterable[str]) -> list[int]:
        """Return the programs that read one of the files at some absolute paths."""
        wanted = set(paths)
        return [number for number in range(len(self)) if not self.scan(number).files.isdisjoint(wanted)]

    def others(self, number: int) -> Iterator[tuple[int, Scan]]:
        """Scan again the other programs that read a changed file; beyond a limit, none."""
        for other in range(len(self)):
            if other != number and self._is_stale(other):
                if self._remembered(self.scan(other)) is None:
                    if self._rescans == 0:
                        continue
                    self._rescans -= 1
                yield other, self.again(self.scan(other))

    def again(self, scan: Scan) -> Scan:
        """Repeat a scan for the present texts, unless one is remembered for which its files had the same texts."""
        return self.all_again([scan])[0]

    def all_again(self, scans: Sequence[Scan]) -> list[Scan]:
        """Repeat several scans, as :meth:`again` does, in several processes if there are workers."""
        missing = [scan for scan in scans if self._remembered(scan) is None]
        for scan, after in zip(missing, self._workers.scan_again(missing), strict=True):
            known = self._known.setdefault(scan.key, deque(maxlen=_MOST_KNOWN))
            known.appendleft(_Known(after, dict(self.space.changed)))
        found = [self._remembered(scan) for scan in scans]
        return [scan for scan in found if scan is not None]

    def _remembered(self, scan: Scan) -> Scan | None:
        known = self._known.get(scan.key, ())
        return next((each.scan for each in known if each.holds_for(self.space.changed)), None)

    def keep(self, scans: Mapping[int, Scan]) -> None:
        """Replace scans by those of the present texts."""
        for number, scan in scans.items():
            self._scans[number] = _Known(scan, dict(self.space.changed))

    def _is_stale(self, number: int) -> bool:
        return not self._scans[number].holds_for(self.space.changed)
