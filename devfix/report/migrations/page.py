"""A migration as one HTML file: totals, a table of repositories, and of each on demand what was found and proved.

The details of a repository are JSON in an element that does not run; the page's script builds them as text when they
are opened, so that a thousand repositories open at once, and names, diffs and logs stay text whatever is in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from devfix.migrate.record import Record, RepositoryOutcome
from devfix.model import Severity, Status
from devfix.report.html import rendered, visible
from devfix.report.migrations.details import details

__all__ = ["MOST_ROWS", "page"]

#: Repositories that a page lists; of more it lists those first that need attention, and counts the others.
MOST_ROWS = 5000

#: Outcomes in the order of the attention that they ask for.
_ATTENTION = (
    RepositoryOutcome.FAILED,
    RepositoryOutcome.NOT_FIXED,
    RepositoryOutcome.FIXED,
    RepositoryOutcome.CLEAN,
)


@dataclass(frozen=True)
class _Row:
    """What the table shows of a repository.

    Attributes:
        record: what became of it.
        findings: those that no comment suppresses.

    """

    record: Record
    findings: tuple[Mapping[str, Any], ...]

    @property
    def left(self) -> int:
        return sum(not self.is_fixed(finding) for finding in self.findings)

    def is_fixed(self, finding: Mapping[str, Any]) -> bool:
        """There is a repair, and the patch with it was kept."""
        return bool(finding["status"] == Status.FIXED.value and self.record.patch)

    @property
    def rules(self) -> list[str]:
        return sorted({visible(finding["code"]) for finding in self.findings})

    @property
    def severity(self) -> str:
        """The worst."""
        found = {finding["severity"] for finding in self.findings}
        return next((severity.value for severity in Severity if severity.value in found), "")

    @property
    def verdict(self) -> str:
        return "" if self.record.verdict is None else self.record.verdict.status

    def index(self) -> list[Any]:
        """What the script sorts by, column by column, and the rule and severity of each finding to filter by."""
        severity = [severity.value for severity in Severity].index(self.severity) if self.severity else len(Severity)
        pairs = {(visible(finding["code"]), visible(finding["severity"])) for finding in self.findings}
        return [
            visible(self.record.name),
            _ATTENTION.index(self.record.outcome),
            len(self.findings),
            self.left,
            " ".join(self.rules),
            severity,
            visible(self.verdict),
            round(self.record.seconds, 2),
            sorted(pairs),
        ]


@dataclass
class _Totals:
    """What is counted over all repositories; of the rows, those that are listed are kept."""

    most: int
    repositories: int = 0
    findings: int = 0
    affected: int = 0
    left: int = 0
    suppressed: int = 0
    checked: int = 0
    patches: int = 0
    proved: int = 0
    seconds: float = 0.0
    verdicts: Counter[str] = field(default_factory=Counter)
    rules: dict[str, _Rule] = field(default_factory=dict)
    kept: dict[RepositoryOutcome, list[_Row]] = field(default_factory=lambda: {word: [] for word in _ATTENTION})

    def add(self, row: _Row) -> None:
        record = row.record
        self.repositories += 1
        self.findings += len(row.findings)
        self.affected += bool(row.findings)
        self.left += row.left
        self.suppressed += len(record.findings) - len(row.findings)
        self.checked += record.checked
        self.patches += bool(record.patch)
        self.seconds += record.seconds
        if record.verdict is not None:
            self.proved += record.verdict.good
            self.verdicts[visible(record.verdict.status)] += 1
        self._add_rules(row)
        if len(self.kept[record.outcome]) < self.most:
            self.kept[record.outcome].append(row)

    def _add_rules(self, row: _Row) -> None:
        for code in row.rules:
            self.rules.setdefault(code, _Rule()).repositories += 1
        for finding in row.findings:
            rule = self.rules[visible(finding["code"])]
            rule.name = visible(finding["name"])
            rule.findings += 1
            rule.fixed += row.is_fixed(finding)

    @property
    def rows(self) -> list[_Row]:
        """Those to list, in the order of attention and of the plan."""
        ordered = (row for kept in self.kept.values() for row in sorted(kept, key=lambda row: row.record.number))
        return list(islice(ordered, self.most))


@dataclass
class _Rule:
    """A rule's name, its findings, those that are fixed, and the repositories that they are in."""

    name: str = ""
    findings: int = 0
    fixed: int = 0
    repositories: int = 0


def page(records: Iterable[Record], title: str = "devfix migrate", most: int = MOST_ROWS) -> str:
    """The whole file, of one record for each repository; of each outcome no more than ``most`` are held at once.

    Raises:
        ImportError: jinja2 is not installed.
        KeyError: a finding or a problem is not as in schema/report-2.json.

    """
    totals = _Totals(most)
    for record in records:
        totals.add(_row(record))
    rows = totals.rows
    return rendered(
        "migration.html",
        script="migration.js",
        title=title,
        totals=totals,
        time=_time(totals.seconds),
        rows=rows,
        outcomes=_outcomes(rows),
        severities=_severities(rows),
        rules=sorted(totals.rules.items()),
        index=[row.index() for row in rows],
        details=(details(row.record) for row in rows),
    )


def _row(record: Record) -> _Row:
    alive = (finding for finding in record.findings if finding["status"] != Status.SUPPRESSED.value)
    return _Row(record, tuple(alive))


def _outcomes(rows: list[_Row]) -> list[tuple[int, str, int]]:
    """Of each outcome that is there: its place in the order of attention, its word, and how many have it."""
    counts = Counter(row.record.outcome for row in rows)
    return [(place, outcome.value, counts[outcome]) for place, outcome in enumerate(_ATTENTION) if counts[outcome]]


def _severities(rows: list[_Row]) -> list[tuple[str, int]]:
    """Of each severity that is there: in how many repositories."""
    counts = Counter(severity for row in rows for severity in {finding["severity"] for finding in row.findings})
    return [(severity.value, counts[severity.value]) for severity in Severity if counts[severity.value]]


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes, hours = round(seconds / 60), seconds / 3600
    return f"{minutes} min" if minutes < 120 else f"{hours:.1f} h"
