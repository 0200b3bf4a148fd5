"""The results by group, for the terminal and for a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rich.table import Table

from benchmarks import pages
from benchmarks.knowledge.catalogue import GROUPS
from benchmarks.knowledge.judgement import Result

__all__ = ["Row", "markdown", "rewrite", "rows", "terminal"]

_HEADS = ("group", "functions", "known", "share", "placements reported", "false findings in repaired", "in mixed")


class Row(NamedTuple):
    """The counts of one group."""

    group: str
    functions: int
    known: int
    placements: int
    reported: int
    repaired: int
    mixed: int

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of the row, in the order of the heads."""
        share = f"{100 * self.known / self.functions:.1f} %" if self.functions else "–"
        reported = f"{self.reported} of {self.placements}"
        return self.group, str(self.functions), str(self.known), share, reported, str(self.repaired), str(self.mixed)


def rows(results: Sequence[Result]) -> list[Row]:
    """Return one row for each group, and the sum."""
    groups = [group for group in GROUPS if any(result.confirmed.example.group == group for result in results)]
    named = {group: [result for result in results if result.confirmed.example.group == group] for group in groups}
    return [*(_row(group, chosen) for group, chosen in named.items()), _row("all", results)]


def _row(group: str, results: Sequence[Result]) -> Row:
    return Row(
        group,
        functions=len(results),
        known=sum(result.known for result in results),
        placements=sum(len(result.reported) for result in results),
        reported=sum(sum(result.reported) for result in results),
        repaired=sum(bool(result.repaired) for result in results),
        mixed=sum(bool(result.mixed) for result in results),
    )


def terminal(found: Sequence[Row]) -> Table:
    """Return the rows as a table for the terminal."""
    table = Table(*_HEADS)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in found:
        table.add_row(*row.cells, end_section=row is found[-2] if len(found) > 1 else False)
    return table


def markdown(found: Sequence[Row], version: str) -> str:
    """Return the rows as a Markdown table, with the version of PyTorch."""
    lines = [_line(_HEADS), _line(["---"] * len(_HEADS)), *(_line(row.cells) for row in found)]
    return "\n".join([f"Measured with torch {version}.", "", *lines])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def rewrite(page: Path, text: str) -> None:
    """Replace the text between the markers of a page.

    Raises:
        ValueError: if the page has no markers.

    """
    pages.rewrite(page, "knowledge", text)
