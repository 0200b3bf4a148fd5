"""Positions of inserted and moved statements: on their own lines, or between semicolons."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

import libcst as cst

from devfix.model import InsertStatement, MoveStatements, ReplaceStatement, Where
from devfix.rewrite.blocks import Block, Blocks, Line, Row, Statement
from devfix.rewrite.errors import RewriteError
from devfix.rewrite.layout import MovedCode, NewCode, Payload
from devfix.rewrite.rows import RowPlan
from devfix.rewrite.source import NEWLINE, Source
from devfix.rewrite.splices import Copy, Part, Splices

__all__ = ["write_statements"]

# Comments of the file or of the notebook cell, not of the statement below them.
_FILE_HEADER = re.compile(r"#!|#.*(?:coding[:=]|copyright|licen[cs]e|spdx)", re.IGNORECASE)
_CELL_MARKER = re.compile(r"#\s*(?:%%|In\s?\[|<codecell>|<markdowncell>|COMMAND -----)")


def write_statements(
    source: Source, splices: Splices, edits: Sequence[InsertStatement | MoveStatements | ReplaceStatement]
) -> None:
    """Add the splices of ``edits``."""
    plan = _Plan(source, splices)
    for edit in edits:
        if isinstance(edit, MoveStatements):
            plan.move(edit)
        elif isinstance(edit, ReplaceStatement):
            plan.replace(edit)
        else:
            plan.insert(edit)
    plan.finish()


class _Plan:
    """Collects insertions and moves; changes inside rows are written last, because several edits may share a row."""

    def __init__(self, source: Source, splices: Splices) -> None:
        self._source = source
        self._splices = splices
        self._blocks = Blocks(source)
        self._rows: dict[Row, RowPlan] = {}
        self._moved: set[Statement] = set()
        self._staying: set[Statement] = set()
        self._taken: set[Statement] = set()
        self._anchors: set[Statement] = set()

    def insert(self, edit: InsertStatement) -> None:
        code = NewCode.read(edit.code)
        if edit.where is Where.BODY_START:
            self._body_start(self._blocks.body(edit.anchor), code)
        elif edit.where is Where.BEFORE:
            self._before(self._blocks.statement(edit.anchor), code)
        else:
            self._after(self._blocks.statement(edit.anchor), code)

    def replace(self, edit: ReplaceStatement) -> None:
        statement = self._blocks.statement(edit.statement)
        row = statement.row
        compound = not isinstance(statement.node, cst.BaseSmallStatement)
        if compound and "#" in self._source.text[statement.start : statement.end]:
            raise RewriteError("the statement contains a comment")
        newline = self._source.newline_near(statement.start)
        alone = not row.block.inline and len(row.statements) == 1
        if not edit.code and alone and len(row.block.rows) > 1:
            self._splices.replace(row.top, row.bottom)
            return
        code = (newline + row.prefix if alone else "; ").join(edit.code or ("pass",))
        self._splices.replace(statement.start, statement.end, [NEWLINE.sub(newline, code)])

    def finish(self) -> None:
        if not (self._moved.isdisjoint(self._staying) and self._taken.isdisjoint(self._anchors)):
            raise RewriteError("the edits overlap")
        for row in self._rows.values():
            row.write()

    def _before(self, anchor: Statement, payload: Payload) -> None:
        self._anchors.add(anchor)
        row = anchor.row
        if row.block.inline or anchor.index:
            self._in(row).put_before(anchor.index, payload)
        else:
            self._splices.before(_attached_top(row), row.bottom, self._lines(payload, row, row.top))

    def _after(self, anchor: Statement, payload: Payload) -> None:
        self._anchors.add(anchor)
        row = anchor.row
        if row.block.inline or anchor is not row.statements[-1]:
            self._in(row).put_after(anchor.index, payload)
        else:
            self._splices.after(row.bottom, anchor.start, self._lines(payload, row, anchor.end))

    def _body_start(self, block: Block, payload: Payload) -> None:
        first = block.rows[0]
        has_docstring = isinstance(block.header, (cst.FunctionDef, cst.ClassDef)) and _is_docstring(first.statements[0])
        if block.inline:
            self._in(first).put_after(0 if has_docstring else -1, payload)
            self._in(first).as_lines = True
        elif has_docstring and len(first.statements) > 1:
            self._after(first.statements[0], payload)
        elif has_docstring:
            offset = _below_blank_lines(first)
            self._splices.after(offset, first.statements[0].start, self._lines(payload, first, first.top))
        else:
            self._splices.after(block.start, first.top, self._lines(payload, first, first.top))

    def _lines(self, payload: Payload, row: Row, near: int) -> Sequence[Part]:
        return payload.as_lines(row.prefix, row.block.unit, self._source.newline_near(near))

    def _in(self, row: Row) -> RowPlan:
        if row not in self._rows:
            self._rows[row] = RowPlan(self._source, self._splices, row)
        return self._rows[row]

    # Moves

    def move(self, edit: MoveStatements) -> None:
        after = self._blocks.statement(edit.after)
        moved = sorted({self._blocks.statement(span) for span in edit.statements}, key=lambda found: found.start)
        if after in moved:
            raise RewriteError("a statement cannot move after itself")
        if any(statement.row.block is not after.row.block for statement in moved):
            raise RewriteError("statements can only move within their block")
        if not self._moved.isdisjoint(moved):
            raise RewriteError("two edits move the same statement")
        self._moved.update(moved)
        if _already_follow(moved, after):
            self._staying.add(after)
            return
        for payload in self._remove(moved, after):
            self._after(after, payload)

    def _remove(self, moved: Sequence[Statement], after: Statement) -> Iterator[Payload]:
        """Remove statements: entire rows with their comments, or single statements from between semicolons."""
        selected = set(moved)
        run: list[Row] = []
        for row in dict.fromkeys(statement.row for statement in moved):
            is_lines = not row.block.inline and selected.issuperset(row.statements)
            if run and not (is_lines and row.index == run[-1].index + 1):
                yield self._cut(run, after.row)
                run = []
            if is_lines:
                run.append(row)
                continue
            for statement in row.statements:
                if statement in selected:
                    self._taken.add(statement)
                    yield self._in(row).take(statement)
        if run:
            yield self._cut(run, after.row)

    def _cut(self, run: Sequence[Row], after: Row) -> MovedCode:
        """Cut consecutive rows, and the surrounding blank lines that would otherwise pile up.

        If the rows were separated by blank lines and the target has room, one such gap moves with them.
        """
        block = run[0].block
        top, bottom = _attached_top(run[0]), run[-1].bottom
        above, below = _blank_lines_above(run[0], top), _blank_lines_below(run[-1])
        if above is None:
            cut = self._splices.replace(top, below[-1].end if below else bottom)
            return MovedCode(Copy(cut, top, bottom), is_lines=True)
        is_last = run[-1] is block.rows[-1] and not any(line.comment for line in block.footer)
        surplus = above if is_last else above[: len(below)]
        start = surplus[-1].start if surplus else top
        cut = self._splices.replace(start, bottom)
        room = len(surplus) if after is block.rows[-1] else len(_blank_lines_below(after))
        moved_blank = surplus[:room] if not is_last else []
        blank = self._source.text[moved_blank[-1].start : moved_blank[0].end] if moved_blank else ""
        return MovedCode(Copy(cut, top, bottom), is_lines=True, blank=blank)


def _attached_top(row: Row) -> int:
    """Return the start of a row including the comments directly above it, but not the file's header."""
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
    """Return the blank lines directly above ``top``, nearest first; ``None`` if nothing else is above in the block."""
    lines = [line for line in row.lead if line.end <= top]
    blank = list(takewhile(lambda line: not line.comment, reversed(lines)))
    return None if row.index == 0 and len(blank) == len(lines) else blank


def _blank_lines_below(row: Row) -> list[Line]:
    """Return the blank lines directly below a row, inside its block."""
    rows = row.block.rows
    lines = row.block.footer if row is rows[-1] else rows[row.index + 1].lead
    return list(takewhile(lambda line: not line.comment, lines))


def _below_blank_lines(docstring: Row) -> int:
    """Return the start of the code below a docstring; before a definition, keep the blank lines."""
    rows = docstring.block.rows
    blank = _blank_lines_below(docstring) if len(rows) > 1 else []
    if not blank or isinstance(rows[1].statements[0].node, (cst.FunctionDef, cst.ClassDef)):
        return docstring.bottom
    return blank[-1].end


def _is_docstring(statement: Statement) -> bool:
    node = statement.node
    return isinstance(node, cst.Expr) and _is_string(node.value)


def _is_string(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.ConcatenatedString):
        return _is_string(node.left) and _is_string(node.right)
    return isinstance(node, cst.SimpleString) and "b" not in node.prefix


def _already_follow(moved: Sequence[Statement], after: Statement) -> bool:
    statements = [statement for row in after.row.block.rows for statement in row.statements]
    position = statements.index(after) + 1
    return statements[position : position + len(moved)] == list(moved)
