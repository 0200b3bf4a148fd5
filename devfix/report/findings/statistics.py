"""Number of findings per rule, and of functions by what became of them.

As text, and as JSON (schema/statistics-2.json).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from devfix import __version__
from devfix.model import Applicability, Coverage, Resolution, Status

if TYPE_CHECKING:
    from devfix.report.view import View

__all__ = ["SCHEMA_VERSION", "Count", "counts", "dumps", "lines"]

SCHEMA_VERSION = 2


@dataclass(frozen=True)
class Count:
    """A rule with its number of findings, and of those with a safe fix."""

    code: str
    name: str
    count: int
    fixable: int

    @property
    def mark(self) -> str:
        """``[*]`` if all findings have a safe fix, ``[-]`` if some have, else ``[ ]``."""
        return "[*]" if self.fixable == self.count else "[-]" if self.fixable else "[ ]"


def counts(view: View) -> list[Count]:
    """Return the counts of the listed findings, the most frequent rule first."""
    found = Counter((item.finding.code, item.finding.name) for item in view.listed)
    fixable = Counter(item.finding.code for item in view.listed if _has_safe_fix(item))
    rows = [Count(code, name, number, fixable[code]) for (code, name), number in found.items()]
    return sorted(rows, key=lambda row: (-row.count, row.code))


def _has_safe_fix(item: Resolution) -> bool:
    fix = item.fix or next(iter(item.finding.fixes), None)
    is_fixable = item.status in (Status.FIXABLE, Status.FIXED)
    return is_fixable and fix is not None and fix.applicability is Applicability.SAFE


def lines(view: View) -> Iterator[str]:
    """Yield a line per rule: count, code, and mark with name, separated by tabs; then one per outcome of functions."""
    rows = [(row.count, row.code, f"{row.mark} {row.name}") for row in counts(view)]
    rows += [(count, "functions", _TOLD[covered]) for covered, count in view.report.outcome.coverage.items()]
    width = max((len(str(count)) for count, _, _ in rows), default=0)
    for count, code, told in rows:
        yield f"{count:>{width}}\t{code}\t{told}"


_TOLD = {
    Coverage.ANALYSED: "analysed",
    Coverage.GIVEN_UP: "analysed in part: more steps than a function is given",
    Coverage.ON_THE_CPU: "left out: a data set, worker, plot or metric on the CPU",
    Coverage.TEST: "left out: a test that no program runs",
    Coverage.TRANSPARENT: "left out: nothing in it can make a difference between devices",
    Coverage.NOT_CALLED: "left out: no program calls it, and nothing tells which arguments are tensors",
}


def dumps(view: View) -> str:
    """Return the document as ASCII JSON, indented, with a final newline."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "devfix", "version": __version__},
        "exit_code": view.report.exit_code,
        "statistics": [
            {"code": row.code, "name": row.name, "count": row.count, "fixable": row.fixable} for row in counts(view)
        ],
        "functions": {covered.value: count for covered, count in view.report.outcome.coverage.items()},
    }
    return json.dumps(document, indent=2) + "\n"
