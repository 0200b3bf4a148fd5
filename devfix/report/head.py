"""The head that all pages share: what was run, the verdict, counts, and the command behind the page."""

from __future__ import annotations

import os
import platform
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version

from devfix import __version__
from devfix.report.source_links import Checkout

__all__ = ["UNKNOWN", "About", "Head", "Total", "about_command", "counted", "duration_text"]


@dataclass(frozen=True)
class Total:
    """A count in the head of a page.

    Attributes:
        name: what is counted, in lower case.
        value: the number as text.
        note: a short clause below the number.
        tone: ``good``, ``bad``, ``unsure`` or nothing.
        key, filter_value: the filter that a click sets; empty for none.

    """

    name: str
    value: str
    note: str = ""
    tone: str = ""
    key: str = ""
    filter_value: str = ""


@dataclass(frozen=True)
class About:
    """The command behind a page.

    Attributes:
        command: the command line; empty if it is not known.
        checkout: the commit that was read, and the repository's address.
        date: when the page was written, in ISO 8601; empty if it is not known.
        duration: of the command, as text; empty if it is not known.
        versions: names and versions of the programs that took part.

    """

    command: str = ""
    checkout: Checkout = field(default_factory=Checkout)
    date: str = ""
    duration: str = ""
    versions: tuple[tuple[str, str], ...] = (("devfix", __version__),)

    @property
    def day(self) -> str:
        """The date for people: day and minute in UTC."""
        return self.date[:16].replace("T", " ") + " UTC" if self.date else ""

    def with_torch(self, number: str) -> About:
        """Return these facts with another version of torch; unchanged if it is not known."""
        if not number:
            return self
        others = tuple(each for each in self.versions if each[0] != "torch")
        return replace(self, versions=(*others, ("torch", number)))


#: Nothing is known about the command.
UNKNOWN = About()


@dataclass(frozen=True)
class Head:
    """The head of a page.

    Attributes:
        command: ``check``, ``verify``, ``trace``, ``map`` or ``migrate``.
        title: what was run.
        tone: ``good``, ``bad`` or ``unsure``.
        label: the verdict in one or two words.
        sentence: the verdict in one sentence.
        totals: counts, the most important first.
        facts: further facts about the run, each with a name.
        about: the command behind the page.

    """

    command: str
    title: str
    tone: str
    label: str
    sentence: str
    totals: tuple[Total, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    about: About = UNKNOWN


def about_command(arguments: Sequence[str] | None, started: float | None, root: str | os.PathLike[str]) -> About:
    """Return the facts about a command of devfix that ends now.

    ``SOURCE_DATE_EPOCH`` fixes the date and omits the duration, so that pages can be reproduced byte for byte.

    Args:
        arguments: of ``devfix``, without the program's name; None if they are not known.
        started: the time of its start, in seconds since the epoch; None if it is not known.
        root: a folder of the repository.

    """
    from devfix.vcs.redaction import redacted

    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = float(fixed) if fixed.isdecimal() else time.time()
    has_duration = started is not None and not fixed.isdecimal()
    versions = (
        ("devfix", __version__),
        ("Python", platform.python_version()),
        ("torch", _installed_torch()),
    )
    return About(
        command="" if arguments is None else redacted(shlex.join(["devfix", *arguments])),
        checkout=Checkout.of(os.fspath(root)),
        date=datetime.fromtimestamp(now, timezone.utc).isoformat(timespec="seconds"),
        duration=duration_text(now - started) if has_duration and started is not None else "",
        versions=tuple((name, number) for name, number in versions if number),
    )


def counted(number: int, one: str, many: str) -> str:
    """Return a number with its noun: ``1 file``, ``2,000 files``."""
    return f"{number:,} {one if number == 1 else many}"


def duration_text(seconds: float) -> str:
    """Return a duration in the unit that suits it: ``4.2 s``, ``3 min 5 s``, ``2.5 h``."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 120 else f"{seconds / 3600:.1f} h"


def _installed_torch() -> str:
    try:
        return version("torch")
    except PackageNotFoundError:
        return ""
