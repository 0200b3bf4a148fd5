"""Blocks, rows and statements of a text, with their offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

import libcst as cst

from devfix.model import Span
from devfix.rewrite.errors import RewriteError
from devfix.rewrite.source import Extent, Source, describe

__all__ = ["Block", "Blocks", "Line", "Row", "Statement"]

# `ast` counts a semicolon at the very end as part of a compound statement.
_SEMICOLON = re.compile(r"(?:[ \t\f]|\\(?:\r\n?|\n))*;")
_SUITE_FIELDS = ("body", "handlers", "cases", "orelse", "finalbody")


@dataclass(frozen=True)
class Line:
    """A blank line (empty ``comment``) or a line that holds only a comment."""

    start: int
    end: int
    comment: str


@dataclass(eq=False)
class Statement:
    """A statement; ``index`` is its position in the row."""

    node: cst.CSTNode
    start: int
    end: int
    row: Row
    index: int


@dataclass(eq=False)
class Row:
    """A compound statement, or the small statements that share a line; ``index`` is its position in the block.

    ``lead`` holds the comments and blank lines above. ``top`` is the start of the first line, decorators included;
    ``bottom`` is the start of the line after the row. ``prefix`` is the indentation.
    """

    block: Block
    index: int
    lead: Sequence[Line]
    top: int
    prefix: str
    bottom: int = 0
    statements: list[Statement] = field(default_factory=list)


@dataclass(eq=False)
class Block:
    """A suite: statements that run one after the other; ``header`` is the statement or clause that owns it.

    In an inline block (``if x: y``) all statements are in one row and ``start`` is the offset after the colon.
    Otherwise ``start`` is the start of the block's first line. ``unit`` is one level of indentation.
    """

    header: cst.CSTNode | None
    inline: bool
    start: int
    unit: str
    rows: list[Row] = field(default_factory=list)
    footer: Sequence[Line] = ()


class Blocks:
    """All blocks of a source; looks up statements and bodies by span."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._unit = source.module.default_indent
        self._statements: dict[Extent, Statement] = {}
        self._bodies: dict[Extent, Block] = {}
        block = Block(None, False, 0, self._unit)
        *body, end = source.module.body  # the last statement is the sentinel added by `Source`
        self._read_rows(block, body, self._lines(source.module.header))
        if block.rows:
            block.footer = self._lead(end, block.rows[-1].bottom, source.line_start(source.extent(end)[0]))

    def statement(self, span: Span) -> Statement:
        """Return the statement at ``span``; raise `RewriteError` if there is none."""
        found = self._statements.get(self._source.extent_of(span))
        if found is None:
            raise RewriteError(f"there is no statement at {describe(span)}")
        return found

    def body(self, span: Span) -> Block:
        """Return the body of the statement, ``elif`` or ``except`` at ``span``.

        Raise `RewriteError` if there is none.
        """
        found = self._bodies.get(self._source.extent_of(span))
        if found is None:
            raise RewriteError(f"there is no statement with a body at {describe(span)}")
        return found

    def _read_rows(self, block: Block, nodes: Sequence[cst.CSTNode], header: Sequence[Line] = ()) -> None:
        source = self._source
        for index, node in enumerate(nodes):
            small = node.body if isinstance(node, cst.SimpleStatementLine) else [node]
            start = source.extent(small[0])[0]
            decorators = getattr(node, "decorators", ())
            top = source.line_start(source.extent(decorators[0])[0] if decorators else start)
            lead = (
                self._lead(node, block.rows[-1].bottom, top) if block.rows else [*header, *self._lead(node, top, top)]
            )
            row = Row(block, index, lead, top, source.prefix(start))
            self._add_statements(row, small)
            if isinstance(node, cst.SimpleStatementLine):
                row.bottom = source.line_after(node.trailing_whitespace)
            else:
                row.bottom = self._read_bodies(node, block.unit)
            block.rows.append(row)

    def _add_statements(self, row: Row, nodes: Sequence[cst.CSTNode]) -> None:
        for index, node in enumerate(nodes):
            start, end = self._source.extent(node)
            statement = Statement(node, start, end, row, index)
            row.statements.append(statement)
            for extent in self._extents_in_ast(node):
                self._statements[extent] = statement

    def _extents_in_ast(self, node: cst.CSTNode) -> Iterator[Extent]:
        """Yield the extents that ``ast`` may report for a statement or clause."""
        start, end = self._source.extent(node)
        yield start, end
        semicolon = None if isinstance(node, cst.BaseSmallStatement) else _SEMICOLON.match(self._source.text, end)
        if semicolon:
            yield start, semicolon.end()

    def _read_bodies(self, node: cst.CSTNode, unit: str) -> int:
        """Read the blocks of a compound statement or clause; return the start of the line below the last one."""
        bottom = 0
        for suite in _suites(node):
            if isinstance(suite, cst.BaseSuite):
                block, bottom = self._read_suite(suite, node, unit)
                self._bodies.update(dict.fromkeys(self._extents_in_ast(node), block))
            else:
                bottom = self._read_bodies(suite, unit)
        return _below_comments(bottom, self._lines(node.footer)) if isinstance(node, cst.Match) else bottom

    def _read_suite(self, suite: cst.BaseSuite, header: cst.CSTNode, unit: str) -> tuple[Block, int]:
        source = self._source
        if isinstance(suite, cst.SimpleStatementSuite):
            start = source.extent(suite.leading_whitespace)[0]
            block = Block(header, True, start, unit)
            prefix = source.prefix(source.extent(header)[0]) + unit
            row = Row(block, 0, (), source.line_start(start), prefix, source.line_after(suite.trailing_whitespace))
            self._add_statements(row, suite.body)
            block.rows.append(row)
            return block, row.bottom
        indented = cast(cst.IndentedBlock, suite)
        unit = self._unit if indented.indent is None else indented.indent
        block = Block(header, False, source.line_after(indented.header), unit)
        self._read_rows(block, indented.body)
        bottom = block.rows[-1].bottom
        footer = self._lines(indented.footer)
        block.footer = [*self._blank_lines(bottom, footer[0].start), *footer] if footer else []
        return block, _below_comments(bottom, footer)

    def _blank_lines(self, start: int, end: int) -> list[Line]:
        """Return the lines from ``start`` to ``end``: blank lines that LibCST attaches to a nested block."""
        lines = []
        while start < end:
            lines.append(Line(start, self._source.line_end(start), ""))
            start = lines[-1].end
        return lines

    def _lead(self, node: cst.CSTNode, start: int, end: int) -> list[Line]:
        """Return the lines from ``start`` to ``end`` above a statement and its decorators."""
        decorators = getattr(node, "decorators", ())
        owners = (node, decorators[0]) if decorators else (node,)
        lines = [line for owner in owners for line in self._lines(getattr(owner, "leading_lines", ()))]
        return [*self._blank_lines(start, lines[0].start if lines else end), *lines]

    def _lines(self, lines: Sequence[cst.EmptyLine]) -> list[Line]:
        source = self._source
        found = []
        for line in lines:
            start = source.line_start(source.extent(line)[0])
            found.append(Line(start, source.line_after(line), line.comment.value if line.comment else ""))
        return found


def _below_comments(bottom: int, footer: Sequence[Line]) -> int:
    """Return the end of a block including the comments in its footer, without the blank lines below them."""
    return max([bottom, *(line.end for line in footer if line.comment)])


def _suites(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the suites and clauses of a compound statement or clause, in order."""
    for name in _SUITE_FIELDS:
        value = getattr(node, name, None)
        if isinstance(value, cst.CSTNode):
            yield value
        elif value is not None:
            yield from value
