"""Rollout windows: the times of the week in which pull requests may be opened."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, time
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

__all__ = ["Window"]

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_FORM = re.compile(r"(?P<days>[a-z,-]+) (?P<start>\d\d:\d\d)-(?P<end>\d\d:\d\d)(?: (?P<zone>\S+))?", re.I)


@dataclass(frozen=True)
class Window:
    """A window of some days.

    Attributes:
        days: weekdays, 0 for Monday.
        start, end: the times of day; a window whose end is not after its start continues on the next day.
        zone: the time zone.

    """

    days: frozenset[int]
    start: time
    end: time
    zone: ZoneInfo

    @classmethod
    def parse(cls, text: str) -> Window:
        """Return the window of a text such as ``Mon-Fri 09:00-16:00 Europe/Berlin``; without a zone, UTC.

        Raises:
            ValueError: the text has another form, or the time zone is unknown.

        """
        found = _FORM.fullmatch(text.strip())
        if found is None:
            raise ValueError(f"{text!r} is not of the form 'Mon-Fri 09:00-16:00 Europe/Berlin'")
        try:
            zone = ZoneInfo(found["zone"] or "UTC")
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError(f"unknown time zone {found['zone']!r}") from error
        return cls(_days(found["days"]), time.fromisoformat(found["start"]), time.fromisoformat(found["end"]), zone)

    def contains(self, moment: float) -> bool:
        """Return whether a moment, in seconds since 1970, lies in the window."""
        local = datetime.fromtimestamp(moment, self.zone)
        now, day = local.time(), local.weekday()
        if self.start < self.end:
            return day in self.days and self.start <= now < self.end
        return (day in self.days and now >= self.start) or ((day - 1) % 7 in self.days and now < self.end)


def _days(text: str) -> frozenset[int]:
    """Return the days of a text such as ``Mon-Wed,Fri``."""
    found: set[int] = set()
    for part in text.lower().split(","):
        names = part.split("-")
        if len(names) > 2 or not all(name in _DAYS for name in names):
            raise ValueError(f"{part!r} is not a day or a range of days: {', '.join(_DAYS)}")
        first, last = (_DAYS.index(name) for name in (names[0], names[-1]))
        found.update((first + offset) % 7 for offset in range((last - first) % 7 + 1))
    return frozenset(found)
