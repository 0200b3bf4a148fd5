"""Where inserted and moved statements go: lines of their own, or between semicolons."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

import libcst as cst

from codemods._rewrite.errors import RewriteError
from codemods._rewrite.layout import Carried, NewCode, Payload
from codemods._rewrite.splices import Copy, Part, Splice, Splices
from codemods._rewrite.tree import Block, Line, Row, Statement, Tree
from devfix.model import InsertStatement, MoveStatements, Where

__all__ = ["StatementPlan"]

# Comments that belong to the file, or to the notebook cell, and not to the statement below them.
_FILE_HEADER = re.compile(r"#!|#.*(?:coding[:=]|copyright|licen[cs]e|spdx)", re.IGNORECASE)
_CELL_MARKER = re.compile(r"#\s*(?:%%|In\s?\[|<codecell>|<markdowncell>|COMMAND -----)")


@dataclass
class _Gaps:
    """What happens inside one row: statements that leave it, payloads by gap (``2`` is left of the third statement).

    Payloads sort by side, so that what comes after a statement stands ahead of what comes before the next one.
    """

    removed: set[int] = field(default_factory=set)
    payloads: dict[int, list[tuple[int, Payload]]] = field(default_factory=dict)
    as_block: bool = False

    def put(self, gap: int, side: int, payload: Payload) -> None:
        self.payloads.setdefault(gap, []).append((side, payload))

    def at(self, gap: int) -> list[Payload]:
        return [payload for _, payload in sorted(self.payloads.get(gap, ()), key=lambda entry: entry[0])]


class StatementPlan:
    """Collects insertions and moves of statements, and writes their splices."""

    def __init__(self, tree: Tree, splices: Splices) -> None:
        self._tree = tree
        self._splices = splices
        self._gaps: dict[Row, _Gaps] = {}
        self._row_splices: dict[Row, Splice] = {}
        self._moved: set[Statement] = set()

    def add(self, edit: InsertStatement | MoveStatements) -> None:
        """Plan one edit."""
        if isinstance(edit, MoveStatements):
            self._move(edit)
        elif edit.where is Where.BODY_START:
            self._insert_in_body(self._tree.body(edit.anchor), NewCode.read(edit.code))
        elif edit.where is Where.BEFORE:
            self._before(self._tree.statement(edit.anchor), NewCode.read(edit.code))
        else:
            self._after(self._tree.statement(edit.anchor), NewCode.read(edit.code))

    def finish(self) -> None:
        """Write the rows that change between their semicolons."""
        for row, gaps in self._gaps.items():
            self._write_row(row, gaps)

    def _before(self, anchor: Statement, payload: Payload) -> None:
        row = anchor.row
        if row.block.inline or anchor.index:
            self._gaps_of(row).put(anchor.index, 1, payload)
        else:
            first = row.statements[0]
            self._splices.before(_attached_top(row), first.end, self._lines(payload, row, row.top))

    def _after(self, anchor: Statement, payload: Payload) -> None:
        row = anchor.row
        if row.block.inline or anchor is not row.statements[-1]:
            self._gaps_of(row).put(anchor.index + 1, 0, payload)
        else:
            self._splices.after(row.bottom, anchor.start, self._lines(payload, row, anchor.end))

    def _insert_in_body(self, block: Block, payload: Payload) -> None:
        first = block.rows[0]
        documented = isinstance(block.header, (cst.FunctionDef, cst.ClassDef)) and _is_docstring(first.statements[0])
        if block.inline:
            gaps = self._gaps_of(first)
            gaps.put(int(documented), 0, payload)
            gaps.as_block = True
        elif documented and len(first.statements) > 1:
            self._after(first.statements[0], payload)
        elif documented:
            offset = _below_blank_lines(first)
            self._splices.after(offset, first.statements[0].start, self._lines(payload, first, first.top))
        else:
            self._splices.after(block.start, first.top, self._lines(payload, first, first.top))

    def _lines(self, payload: Payload, row: Row, near: int) -> Sequence[Part]:
        return payload.as_lines(row.prefix, row.block.unit, self._tree.newline_near(near))

    def _gaps_of(self, row: Row) -> _Gaps:
        return self._gaps.setdefault(row, _Gaps())

    # Moves

    def _move(self, edit: MoveStatements) -> None:
        after = self._tree.statement(edit.after)
        moved = sorted({self._tree.statement(span) for span in edit.statements}, key=lambda found: found.start)
        if after in moved:
            raise RewriteError("a statement cannot move to after itself")
        if any(statement.row.block is not after.row.block for statement in moved):
            raise RewriteError("statements can only move inside their block")
        if not self._moved.isdisjoint(moved):
            raise RewriteError("the edits move a statement twice")
        self._moved.update(moved)
        if not moved or _follow_already(moved, after):
            return
        for payload in self._taken_out(moved, after):
            self._after(after, payload)

    def _taken_out(self, moved: Sequence[Statement], after: Statement) -> Iterator[Payload]:
        """Take statements out of their places: whole rows with their comments, single ones from between semicolons."""
        going = set(moved)
        run: list[Row] = []
        for row in dict.fromkeys(statement.row for statement in moved):
            whole = not row.block.inline and going.issuperset(row.statements)
            if run and not (whole and row.index == run[-1].index + 1):
                yield self._cut(run, after.row)
                run = []
            if whole:
                run.append(row)
                continue
            for statement in row.statements:
                if statement in going:
                    self._gaps_of(row).removed.add(statement.index)
                    yield Carried(Copy(self._row_splice(row), statement.start, statement.end), whole=False)
        if run:
            yield self._cut(run, after.row)

    def _cut(self, run: Sequence[Row], after: Row) -> Carried:
        """Cut a run of rows, and of the blank lines around it those that would pile up where it was.

        A run that stood alone between blank lines brings one such gap along, where there is room for it.
        """
        block = run[0].block
        top, bottom = _attached_top(run[0]), run[-1].bottom
        above, below = _blank_lines_above(run[0], top), _blank_lines_below(run[-1])
        if above is None:
            cut = self._splices.replace(top, below[-1].end if below else bottom)
            return Carried(Copy(cut, top, bottom), whole=True)
        is_last = run[-1] is block.rows[-1] and not any(line.comment for line in block.footer)
        surplus = above if is_last else above[: len(below)]
        start = surplus[-1].start if surplus else top
        cut = self._splices.replace(start, bottom)
        room = len(surplus) if after is block.rows[-1] else len(_blank_lines_below(after))
        brought = surplus[:room] if not is_last else []
        blank = self._tree.text[brought[-1].start : brought[0].end] if brought else ""
        return Carried(Copy(cut, top, bottom), whole=True, blank=blank)

    # Rows with several statements, and rows behind a colon

    def _row_splice(self, row: Row) -> Splice:
        """The splice that replaces a row's statements; its parts are written by `finish`."""
        if row not in self._row_splices:
            start = row.block.start if row.block.inline else row.statements[0].start
            self._row_splices[row] = self._splices.replace(start, row.statements[-1].end)
        return self._row_splices[row]

    def _write_row(self, row: Row, gaps: _Gaps) -> None:
        splice = self._row_splice(row)
        as_block = gaps.as_block or any(not payload.inline for gap in gaps.payloads for payload in gaps.at(gap))
        write = self._as_lines if as_block else self._in_line
        splice.parts = list(write(row, gaps, splice))

    def _in_line(self, row: Row, gaps: _Gaps, splice: Splice) -> Iterator[Part]:
        """All statements in the row, between semicolons."""
        if row.block.inline:
            yield self._tree.text[splice.start : row.statements[0].start]
        last: Statement | None = None
        written = False
        for index in range(len(row.statements) + 1):
            for payload in gaps.at(index):
                yield from ("; ",) if written else ()
                yield from payload.in_line()
                written, last = True, None
            if index == len(row.statements) or index in gaps.removed:
                continue
            statement = row.statements[index]
            if written:
                adjacent = last is not None and last.index == index - 1
                yield self._tree.text[last.end : statement.start] if adjacent and last else "; "
            yield Copy(splice, statement.start, statement.end)
            written, last = True, statement

    def _as_lines(self, row: Row, gaps: _Gaps, splice: Splice) -> Iterator[Part]:
        """Payloads on lines of their own; statements that stay neighbours keep sharing a line.

        What follows the last statement goes below the row, so that the row's trailing comment stays where it was.
        """
        newline = self._tree.newline_near(splice.end)
        kept = [statement for statement in row.statements if statement.index not in gaps.removed]
        if not kept:
            raise RewriteError("no statement would be left between the semicolons")
        if row.block.inline:
            yield newline
        last: Statement | None = None
        for index in range(kept[-1].index + 1):
            payloads = gaps.at(index)
            if payloads and last is not None:
                yield newline
                last = None
            for number, payload in enumerate(payloads):
                yield from self._own_line(payload, row, newline, is_first=not (number or row.block.inline or index))
            if index in gaps.removed:
                continue
            statement = row.statements[index]
            if last is None:
                yield row.prefix if row.block.inline or index else ""
            else:
                yield self._tree.text[last.end : statement.start] if last.index == index - 1 else "; "
            yield Copy(splice, statement.start, statement.end)
            last = statement
        for index in range(kept[-1].index + 1, len(row.statements) + 1):
            for payload in gaps.at(index):
                parts = payload.as_lines(row.prefix, row.block.unit, newline)
                self._splices.after(row.bottom, row.statements[0].start, parts)

    def _own_line(self, payload: Payload, row: Row, newline: str, *, is_first: bool) -> Sequence[Part]:
        parts = payload.as_lines(row.prefix, row.block.unit, newline)
        if is_first and isinstance(parts[0], str):  # the row's own prefix stands there already
            parts = (parts[0].removeprefix(row.prefix), *parts[1:])
        return parts


def _attached_top(row: Row) -> int:
    """Where a row begins with the comments that belong to it: those directly above, but not the file's header."""
    attached: list[Line] = []
    for line in reversed(row.lead):
        if not line.comment or _CELL_MARKER.match(line.comment):
            break
        attached.append(line)
    reaches_top = bool(attached) and attached[-1].start == 0
    if reaches_top and any(_FILE_HEADER.match(line.comment) for line in attached):
        return row.top
    return attached[-1].start if attached else row.top


def _blank_lines_above(row: Row, top: int) -> list[Line] | None:
    """Blank lines directly above ``top``, nearest first; ``None`` where the block has only blank lines above."""
    lines = [line for line in row.lead if line.end <= top]
    blank = list(takewhile(lambda line: not line.comment, reversed(lines)))
    return None if row.index == 0 and len(blank) == len(lines) else blank


def _blank_lines_below(row: Row) -> list[Line]:
    """Blank lines directly below a row, inside its block."""
    rows = row.block.rows
    lines = row.block.footer if row is rows[-1] else rows[row.index + 1].lead
    return list(takewhile(lambda line: not line.comment, lines))


def _below_blank_lines(docstring: Row) -> int:
    """Where the code below a docstring starts; a definition that follows keeps its distance."""
    rows = docstring.block.rows
    blank = _blank_lines_below(docstring) if len(rows) > 1 else []
    if not blank or isinstance(rows[1].statements[0].node, (cst.FunctionDef, cst.ClassDef)):
        return docstring.bottom
    return blank[-1].end


def _is_docstring(statement: Statement) -> bool:
    node = statement.node
    return isinstance(node, cst.Expr) and isinstance(node.value, (cst.SimpleString, cst.ConcatenatedString))


def _follow_already(moved: Sequence[Statement], after: Statement) -> bool:
    statements = [statement for row in after.row.block.rows for statement in row.statements]
    place = statements.index(after) + 1
    return statements[place : place + len(moved)] == list(moved)
