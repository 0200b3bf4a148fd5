"""A migration as one self-contained HTML file: totals, a table of repositories, and details of each on demand.

The rows and the details of repositories are compressed JSON in ``script`` elements that do not run: one for the rows,
and one for the details of each block of repositories.  The page's script shows some rows at a time, and unpacks the
details of a row when it is opened, which keeps pages of 100,000 repositories small and fast.  It renders them as text,
so that untrusted names, diffs and logs never become markup.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from devfix.migrate.record import Record, RepositoryOutcome
from devfix.model import Severity, Status
from devfix.report.head import UNKNOWN, About, Head, Total, counted, duration_text
from devfix.report.html import packed, render_page, visible
from devfix.report.migrations.details import details

__all__ = ["MAX_ROWS", "page"]

#: Maximum number of listed repositories, by outcome; the others are only counted.
MAX_ROWS = 100_000

_ROWS_PER_PAGE = 200  # as in migration.js
_BLOCK = 100  # repositories whose details are compressed together
_MAX_COLOURED = 20_000  # lines of patches with colours for syntax, which take most of the time

#: Outcomes in the order of the table.
_ORDER = (
    RepositoryOutcome.FAILED,
    RepositoryOutcome.NOT_FIXED,
    RepositoryOutcome.FIXED,
    RepositoryOutcome.CLEAN,
)


@dataclass(frozen=True)
class _Row:
    """A row of the table, while its record is read.

    Attributes:
        record: the result of the repository.
        findings: the findings that are not suppressed.

    """

    record: Record
    findings: tuple[Mapping[str, Any], ...]

    @property
    def remaining(self) -> int:
        """Number of findings that are not fixed."""
        return sum(not self.is_fixed(finding) for finding in self.findings)

    def is_fixed(self, finding: Mapping[str, Any]) -> bool:
        """Return whether the finding is fixed and the patch was kept."""
        return bool(finding["status"] == Status.FIXED.value and self.record.patch)

    @property
    def rules(self) -> list[str]:
        return sorted({visible(finding["code"]) for finding in self.findings})

    @property
    def severity(self) -> int:
        """The rank of the highest severity of the findings; the number of severities if there are none."""
        found = {finding["severity"] for finding in self.findings}
        return next((rank for rank, severity in enumerate(Severity) if severity.value in found), len(Severity))

    def index(self, place: int) -> list[Any]:
        """Return the sort key of each column, then what the filters, the row and its details need."""
        pairs = {(visible(finding["code"]), visible(finding["severity"])) for finding in self.findings}
        return [
            visible(self.record.name),
            _ORDER.index(self.record.outcome),
            len(self.findings),
            self.remaining,
            " ".join(self.rules),
            self.severity,
            "" if self.record.verdict is None else visible(self.record.verdict.status),
            round(self.record.seconds, 2),
            sorted(pairs),
            visible(self.record.reason),
            place,
            self.record.number,
        ]


class _Blocks:
    """The details of repositories, compressed in blocks."""

    def __init__(self) -> None:
        self._open: list[Any] = []
        self._coloured = 0
        self.packed: list[str] = []

    def add(self, record: Record) -> int:
        """Add the details of a repository, and return their place."""
        self._coloured += record.patch.count("\n")
        self._open.append(details(record, coloured=self._coloured <= _MAX_COLOURED))
        place = len(self.packed) * _BLOCK + len(self._open) - 1
        if len(self._open) == _BLOCK:
            self.close()
        return place

    def close(self) -> None:
        """Compress the last block."""
        if self._open:
            self.packed.append(packed(self._open))
            self._open = []


@dataclass
class _Totals:
    """Counts over all repositories, and the listed rows."""

    limit: int
    repositories: int = 0
    findings: int = 0
    affected: int = 0
    remaining: int = 0
    suppressed: int = 0
    checked: int = 0
    patches: int = 0
    verified: int = 0
    seconds: float = 0.0
    verdicts: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[RepositoryOutcome] = field(default_factory=Counter)
    rules: dict[str, _Rule] = field(default_factory=dict)
    rows_by_outcome: dict[RepositoryOutcome, list[list[Any]]] = field(
        default_factory=lambda: {outcome: [] for outcome in _ORDER}
    )
    blocks: _Blocks = field(default_factory=_Blocks)

    def add(self, row: _Row) -> None:
        record = row.record
        self.repositories += 1
        self.outcomes[record.outcome] += 1
        self.findings += len(row.findings)
        self.affected += bool(row.findings)
        self.remaining += row.remaining
        self.suppressed += len(record.findings) - len(row.findings)
        self.checked += record.checked
        self.patches += bool(record.patch)
        self.seconds += record.seconds
        if record.verdict is not None:
            self.verified += record.verdict.good
            self.verdicts[visible(record.verdict.status)] += 1
        self._add_rules(row)
        if len(self.rows_by_outcome[record.outcome]) < self.limit:
            self.rows_by_outcome[record.outcome].append(row.index(self.blocks.add(record)))

    def _add_rules(self, row: _Row) -> None:
        for code in row.rules:
            self.rules.setdefault(code, _Rule()).repositories += 1
        for finding in row.findings:
            rule = self.rules[visible(finding["code"])]
            rule.name = visible(finding["name"])
            rule.findings += 1
            rule.fixed += row.is_fixed(finding)

    @property
    def rows(self) -> list[list[Any]]:
        """The listed rows, by outcome, then in the order of the plan."""
        groups = self.rows_by_outcome.values()
        ordered = (row[:-1] for rows in groups for row in sorted(rows, key=lambda row: row[-1]))
        return list(islice(ordered, self.limit))


@dataclass
class _Rule:
    """Counts of a rule: findings, fixed findings, and repositories with findings."""

    name: str = ""
    findings: int = 0
    fixed: int = 0
    repositories: int = 0


def page(records: Iterable[Record], plan: str = "", about: About = UNKNOWN, limit: int = MAX_ROWS) -> str:
    """Return the page.

    Args:
        records: one record per repository.
        plan: name of the plan.
        about: the command behind the page.
        limit: maximum number of listed repositories; at most this many rows per outcome are kept.

    Raises:
        ImportError: jinja2 is not installed.
        KeyError: a finding or a problem is not as in schema/report-2.json.

    """
    totals = _Totals(limit)
    for record in records:
        totals.add(_row(record))
    totals.blocks.close()
    rows = totals.rows
    return render_page(
        "migration.html",
        _head(totals, plan, about),
        styles=("chart.css", "migration.css"),
        scripts=("chart.js", "migration.js"),
        totals=totals,
        rows=rows,
        shown=rows[:_ROWS_PER_PAGE],
        outcomes=_outcomes(rows),
        severities=_severities(rows),
        rules=sorted(totals.rules.items()),
        labels={"outcomes": [each.value for each in _ORDER], "severities": [*(each.value for each in Severity), ""]},
        index=packed(rows),
        blocks=totals.blocks.packed,
    )


def _head(totals: _Totals, plan: str, about: About) -> Head:
    failed = totals.outcomes[RepositoryOutcome.FAILED]
    tone, label = ("good", "done") if not totals.remaining else ("unsure", "findings remain")
    if failed:
        tone, label = "bad", f"{failed:,} failed"
    verdicts = ", ".join(f"{count:,} {status}" for status, count in totals.verdicts.most_common())
    return Head(
        command="migrate",
        title=plan or counted(totals.repositories, "repository", "repositories"),
        tone=tone,
        label=label,
        sentence=(
            f"{counted(totals.repositories, 'repository', 'repositories')}, {counted(totals.checked, 'file', 'files')} "
            f"checked, {duration_text(totals.seconds)} of computation."
        ),
        totals=(
            Total("findings", f"{totals.findings:,}", f"in {counted(totals.affected, 'repository', 'repositories')}"),
            Total(
                "fixed",
                f"{totals.findings - totals.remaining:,}",
                f"by {counted(totals.patches, 'patch', 'patches')}",
                "good",
            ),
            Total(
                "remaining",
                f"{totals.remaining:,}",
                f"{totals.suppressed:,} suppressed",
                "bad" if totals.remaining else "",
            ),
            Total("verified", f"{totals.verified:,}", verdicts or "no runs"),
        ),
        about=about,
    )


def _row(record: Record) -> _Row:
    active = (finding for finding in record.findings if finding["status"] != Status.SUPPRESSED.value)
    return _Row(record, tuple(active))


def _outcomes(rows: list[list[Any]]) -> list[tuple[int, str, int]]:
    """Return index, value and number of repositories of each outcome that occurs."""
    counts = Counter(row[1] for row in rows)
    return [(index, outcome.value, counts[index]) for index, outcome in enumerate(_ORDER) if counts[index]]


def _severities(rows: list[list[Any]]) -> list[tuple[str, int]]:
    """Return each severity that occurs, with its number of repositories."""
    counts = Counter(severity for row in rows for severity in {severity for _, severity in row[8]})
    return [(severity.value, counts[severity.value]) for severity in Severity if counts[severity.value]]
