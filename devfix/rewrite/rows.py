"""Changes inside one row of small statements: edited between its semicolons, or split into lines."""

from __future__ import annotations

from collections.abc import Iterator

from devfix.rewrite.blocks import Row, Statement
from devfix.rewrite.errors import RewriteError
from devfix.rewrite.layout import MovedCode, Payload
from devfix.rewrite.source import Source
from devfix.rewrite.splices import Copy, Part, Splices

__all__ = ["RowPlan"]


class RowPlan:
    """The changes of one row: statements removed from it, payloads inserted.

    The row stays one line if all payloads can be written between semicolons. Otherwise payloads get their own lines,
    and adjacent remaining statements keep sharing a line.
    """

    def __init__(self, source: Source, splices: Splices, row: Row) -> None:
        self._source = source
        self._splices = splices
        self._row = row
        self._inline = row.block.inline
        self._splice = splices.replace(row.block.start if self._inline else row.top, row.statements[-1].end)
        self._removed: set[int] = set()
        self._after: dict[int, list[Payload]] = {}
        self._before: dict[int, list[Payload]] = {}
        self.as_lines = False

    def put_after(self, index: int, payload: Payload) -> None:
        """Insert ``payload`` after the statement with this index; -1 means after the colon."""
        self._after.setdefault(index, []).append(payload)

    def put_before(self, index: int, payload: Payload) -> None:
        """Insert ``payload`` before the statement with this index."""
        self._before.setdefault(index, []).append(payload)

    def take(self, statement: Statement) -> MovedCode:
        """Remove a statement from the row and return it."""
        self._removed.add(statement.index)
        return MovedCode(Copy(self._splice, statement.start, statement.end), is_lines=False)

    def write(self) -> None:
        """Set the parts of the row's splice."""
        payloads = [payload for gap in (*self._after.values(), *self._before.values()) for payload in gap]
        as_lines = self.as_lines or not all(payload.inline for payload in payloads)
        self._splice.parts = list(self._write_lines() if as_lines else self._write_line())

    def _gap(self, index: int) -> list[Payload]:
        """Return the payloads between the statement with this index and its left neighbor, in order."""
        return [*self._after.get(index - 1, ()), *self._before.get(index, ())]

    def _between(self, left: Statement | None, right: Statement) -> str:
        """Return the original semicolon between two neighbors, or a new one."""
        if left is None or left.index != right.index - 1:
            return "; "
        return self._source.text[left.end : right.start]

    def _write_line(self) -> Iterator[Part]:
        statements = self._row.statements
        yield self._source.text[self._splice.start : statements[0].start]
        empty = True
        left: Statement | None = None
        for index in range(len(statements) + 1):
            for payload in self._gap(index):
                if not empty:
                    yield "; "
                yield from payload.in_line()
                empty, left = False, None
            if index == len(statements) or index in self._removed:
                continue
            if not empty:
                yield self._between(left, statements[index])
            yield Copy(self._splice, statements[index].start, statements[index].end)
            empty, left = False, statements[index]

    def _write_lines(self) -> Iterator[Part]:
        """Yield the row as lines.

        Payloads after the last statement go below the row, so its trailing comment stays in place.
        """
        row, newline = self._row, self._source.newline_near(self._splice.end)
        remaining = [statement for statement in row.statements if statement.index not in self._removed]
        if not remaining:
            raise RewriteError("the edits would leave no statement between the semicolons")
        first = row.statements[0].start
        yield newline if self._inline else self._source.text[self._splice.start : first].removesuffix(row.prefix)
        left: Statement | None = None
        for index in range(remaining[-1].index + 1):
            payloads = self._gap(index)
            if payloads and left:
                yield newline
                left = None
            for payload in payloads:
                yield from payload.as_lines(row.prefix, row.block.unit, newline)
            if index in self._removed:
                continue
            statement = row.statements[index]
            yield self._between(left, statement) if left else row.prefix
            yield Copy(self._splice, statement.start, statement.end)
            left = statement
        for index in range(remaining[-1].index + 1, len(row.statements) + 1):
            for payload in self._gap(index):
                parts = payload.as_lines(row.prefix, row.block.unit, newline)
                self._splices.after(row.bottom, row.statements[0].start, parts)
