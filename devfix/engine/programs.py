"""The programs and libraries of a run with their present scans, which repairs keep up to date."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from devfix.engine.scan import Scan, scan_again
from devfix.engine.workspace import Workspace

__all__ = ["Programs"]

_MOST_RESCANS = 3  # of other programs, for each program
_MOST_KNOWN = 12


class Programs:
    """The programs of a run.

    Args:
        space: the texts.
        scans: their scans, which hold for the present texts.

    """

    def __init__(self, space: Workspace, scans: Iterable[Scan]) -> None:
        self.space = space
        self._scans = list(scans)
        self._texts = [dict(space.changed)] * len(self._scans)  # the changed texts for which each scan holds
        self._rescans = _MOST_RESCANS * len(self._scans)
        self._known: dict[tuple[object, ...], Scan] = {}  # the latest scans, by program and changed texts

    def __len__(self) -> int:
        return len(self._scans)

    def scan(self, number: int) -> Scan:
        """Return the scan of a program as it was when its texts last changed with :meth:`keep`."""
        return self._scans[number]

    def present(self, number: int) -> Scan:
        """Return the scan of a program for the present texts."""
        if self._is_stale(number):
            self.keep({number: self.again(self._scans[number])})
        return self._scans[number]

    def others(self, number: int) -> dict[int, Scan]:
        """Scan again the other programs that read a changed file; beyond a limit, none."""
        found = {}
        for other, scan in enumerate(self._scans):
            if other != number and self._rescans > 0 and self._is_stale(other):
                self._rescans -= 1
                found[other] = self.again(scan)
        return found

    def again(self, scan: Scan) -> Scan:
        """Repeat a scan for the present texts; the latest results are remembered."""
        key = (scan.path, scan.is_program, *sorted(self.space.changed.items()))
        if key not in self._known:
            self._known[key] = scan_again(self.space, scan)
            while len(self._known) > _MOST_KNOWN:
                del self._known[next(iter(self._known))]
        return self._known[key]

    def keep(self, scans: Mapping[int, Scan]) -> None:
        """Replace scans by those of the present texts."""
        for number, scan in scans.items():
            self._scans[number], self._texts[number] = scan, dict(self.space.changed)

    def _is_stale(self, number: int) -> bool:
        known, present = self._texts[number], self.space.changed
        changed = (path for path in known.keys() | present.keys() if known.get(path) != present.get(path))
        return not self._scans[number].files.isdisjoint(changed)
