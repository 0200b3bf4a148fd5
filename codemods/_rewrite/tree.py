"""Where things are in a text: LibCST's tree, seen as blocks of rows of statements with offsets."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from codemods._rewrite.errors import RewriteError
from devfix.model import AddKeyword, AppendCode, ReplaceExpression, Span

__all__ = ["Block", "Extent", "Line", "Row", "Statement", "Tree"]

_NEWLINE = re.compile(r"\r\n?|\n")
# The tokenizer forgets the indentation left of a form feed, and LibCST drops both.
_FORM_FEED = re.compile(r"(?:^|(?<=[\r\n]))[ \t\f]*\f")
_SUITE_FIELDS = ("body", "handlers", "cases", "orelse", "finalbody")

Extent = tuple[int, int]


@dataclass(frozen=True)
class Line:
    """A line with nothing but a comment, or a blank one (``comment`` is empty)."""

    start: int
    end: int
    comment: str


@dataclass(eq=False)
class Statement:
    """A statement; ``index`` counts in its row."""

    node: cst.CSTNode
    start: int
    end: int
    row: Row
    index: int


@dataclass(eq=False)
class Row:
    """A compound statement, or the small statements that share a line; ``index`` counts in its block.

    ``lead`` are the comments and blank lines above, ``top`` is the start of the first line (with decorators),
    ``bottom`` the start of the line that follows, and ``prefix`` the whitespace in front.
    """

    block: Block
    index: int
    lead: Sequence[Line]
    top: int
    prefix: str
    bottom: int = 0
    statements: list[Statement] = field(default_factory=list)

    @property
    def is_compound(self) -> bool:
        """A statement with a block of its own."""
        return isinstance(self.statements[0].node, cst.BaseCompoundStatement)


@dataclass(eq=False)
class Block:
    """Statements that run one after the other; ``header`` is the statement, or clause, that holds the block.

    In an inline block (``if x: y``) all statements stand in one row, behind the colon at ``start``.  In any other,
    ``start`` is the start of its first line.  ``prefix`` is the whitespace in front of its statements (in an inline
    block: what it would be on lines of their own), and ``unit`` one level of indentation.
    """

    header: cst.CSTNode | None
    inline: bool
    start: int
    prefix: str
    unit: str
    rows: list[Row] = field(default_factory=list)
    footer: Sequence[Line] = ()


class Tree:
    """One text, its offsets, and the places that edits name.

    ``text`` always ends with a newline: where the file does not, one is added, and `restore_end` takes it away.
    Raises `RewriteError` where LibCST cannot read the text.
    """

    def __init__(self, text: str) -> None:
        shadow = _FORM_FEED.sub("", text)
        module = _parse(shadow)
        self.newline = module.default_newline
        self._lacks_end = not text.endswith(("\n", "\r"))
        self.text = text + self.newline if self._lacks_end else text
        self._line_starts = [0, *(match.end() for match in _NEWLINE.finditer(self.text))]
        self._skipped = {self._line_of(match.start()): len(match[0]) for match in _FORM_FEED.finditer(text)}
        self._positions = _positions(module, shadow)
        self.unit = module.default_indent
        self._statements: dict[Extent, Statement] = {}
        self._bodies: dict[Extent, Block] = {}
        self._expressions: dict[Extent, cst.BaseExpression] = {}
        self._read_module(module)

    def restore_end(self, text: str) -> str:
        """Take away the newline at the end that the file did not have."""
        return text.removesuffix(self.newline) if self._lacks_end else text

    def statement(self, span: Span) -> Statement:
        """The statement at ``span``."""
        found = self._statements.get(self._extent_of(span))
        if found is None:
            raise RewriteError(f"there is no statement at {_describe(span)}")
        return found

    def body(self, span: Span) -> Block:
        """The body of the compound statement, or of the ``elif`` or ``except``, at ``span``."""
        found = self._bodies.get(self._extent_of(span))
        if found is None:
            raise RewriteError(f"there is no statement with a body at {_describe(span)}")
        return found

    def expression(self, span: Span) -> cst.BaseExpression:
        """The expression at ``span``, after `look_up`."""
        found = self._expressions.get(self._extent_of(span))
        if found is None:
            raise RewriteError(f"there is no expression at {_describe(span)}")
        return found

    def look_up(self, edits: Iterable[AppendCode | AddKeyword | ReplaceExpression]) -> None:
        """Find the expressions that ``edits`` name; one pass over the tree for all of them."""
        spans = {edit.call if isinstance(edit, AddKeyword) else edit.expression for edit in edits}
        wanted = {self._extent_of(span) for span in spans}
        if not wanted:
            return
        for node in self._positions:
            for found in _expressions_at(node):
                extent = self._ast_extent(found, node)
                if extent in wanted:
                    self._expressions[extent] = found

    def extent(self, node: cst.CSTNode) -> Extent:
        """Start and end of a node; of an expression without its own parentheses."""
        position = self._positions[node]
        return (
            self._offset(position.start.line, position.start.column),
            self._offset(position.end.line, position.end.column),
        )

    def outer_extent(self, node: cst.BaseExpression) -> Extent:
        """Start and end of an expression with all its own parentheses."""
        start, end = self.extent(node)
        if node.lpar:
            start, end = self.extent(node.lpar[0])[0], self.extent(node.rpar[-1])[1]
        return start, end

    def extent_in_ast(self, node: cst.BaseExpression) -> Extent:
        """Start and end of an expression that was looked up, as ``ast`` has them."""
        return next(extent for extent, found in self._expressions.items() if found is node)

    def line_end(self, offset: int) -> int:
        """Start of the line that follows the one ``offset`` is on."""
        line = self._line_of(offset)
        return self._line_starts[line] if line < len(self._line_starts) else len(self.text)

    def line_start(self, offset: int) -> int:
        """Start of the line that ``offset`` is on."""
        return self._line_starts[self._line_of(offset) - 1]

    def newline_near(self, offset: int) -> str:
        """The newline at the end of the line that ``offset`` is on."""
        found = _NEWLINE.search(self.text, offset)
        return found[0] if found else self.newline

    def _line_of(self, offset: int) -> int:
        return bisect_right(self._line_starts, offset)

    def _offset(self, line: int, column: int) -> int:
        if line > len(self._line_starts):
            return len(self.text)
        return min(self._line_starts[line - 1] + self._skipped.get(line, 0) + column, len(self.text))

    def _extent_of(self, span: Span) -> Extent:
        if not (1 <= span.line <= len(self._line_starts) and 1 <= span.end_line <= len(self._line_starts)):
            raise RewriteError(f"there is no {_describe(span)}")
        return self._line_starts[span.line - 1] + span.column, self._line_starts[span.end_line - 1] + span.end_column

    def _ast_extent(self, node: cst.BaseExpression, holder: cst.CSTNode) -> Extent:
        """Start and end of an expression as ``ast`` has them: tuples and generators own their parentheses."""
        if isinstance(node, (cst.Tuple, cst.GeneratorExp)):
            if node.lpar:
                return self.extent(node.lpar[-1])[0], self.extent(node.rpar[0])[1]
            if isinstance(holder, cst.Call):
                return self.opening_parenthesis(holder), self.extent(holder)[1]
        return self.extent(node)

    def opening_parenthesis(self, call: cst.Call) -> int:
        """Where the parenthesis of a call's arguments is."""
        return self.extent(call.whitespace_after_func)[1]

    def _read_module(self, module: cst.Module) -> None:
        block = Block(None, False, 0, "", self.unit, footer=self._lines(module.footer))
        self._read_rows(block, module.body, self._lines(module.header))

    def _read_rows(self, block: Block, nodes: Sequence[cst.CSTNode], header: Sequence[Line] = ()) -> None:
        for index, node in enumerate(nodes):
            node = cast("cst.SimpleStatementLine | cst.BaseCompoundStatement", node)
            lead = [*(header if index == 0 else ()), *self._lead(node)]
            small = node.body if isinstance(node, cst.SimpleStatementLine) else [node]
            start = self.extent(small[0])[0]
            line_start = self.line_start(start)
            prefix = self.text[line_start:start].rpartition("\f")[2]
            decorators = getattr(node, "decorators", ())
            top = self.line_start(self.extent(decorators[0])[0]) if decorators else line_start
            row = Row(block, index, lead, top, prefix)
            self._add_statements(row, small)
            if isinstance(node, cst.SimpleStatementLine):
                row.bottom = self._line_after(node.trailing_whitespace)
            else:
                row.bottom = self._read_bodies(node, prefix, block.unit)
            block.rows.append(row)

    def _add_statements(self, row: Row, nodes: Sequence[cst.CSTNode]) -> None:
        for index, node in enumerate(nodes):
            start, end = self.extent(node)
            statement = Statement(node, start, end, row, index)
            row.statements.append(statement)
            self._statements[start, end] = statement

    def _read_bodies(self, node: cst.CSTNode, prefix: str, unit: str) -> int:
        """Read the blocks of a compound statement or clause; returns where the line below the last one starts."""
        bottom = 0
        for suite in _suites(node):
            if isinstance(suite, cst.BaseSuite):
                block, bottom = self._read_suite(suite, node, prefix, unit)
                self._bodies[self.extent(node)] = block
            else:
                bottom = self._read_bodies(suite, prefix, unit)
        if isinstance(node, cst.Match) and node.footer:
            bottom = max(bottom, self._line_after(node.footer[-1]))
        return bottom

    def _read_suite(self, suite: cst.BaseSuite, header: cst.CSTNode, prefix: str, unit: str) -> tuple[Block, int]:
        if isinstance(suite, cst.SimpleStatementSuite):
            start = self.extent(suite.leading_whitespace)[0]
            block = Block(header, True, start, prefix + unit, unit)
            row = Row(block, 0, (), self.line_start(start), block.prefix, self._line_after(suite.trailing_whitespace))
            self._add_statements(row, suite.body)
            block.rows.append(row)
            return block, row.bottom
        indented = cast(cst.IndentedBlock, suite)
        unit = self.unit if indented.indent is None else indented.indent
        block = Block(header, False, self._line_after(indented.header), "", unit, footer=self._lines(indented.footer))
        self._read_rows(block, indented.body)
        block.prefix = block.rows[0].prefix
        return block, block.footer[-1].end if block.footer else block.rows[-1].bottom

    def _line_after(self, node: cst.CSTNode) -> int:
        """Start of the line that follows a node which ends with a newline."""
        return self.line_start(self.extent(node)[1])

    def _lead(self, node: cst.SimpleStatementLine | cst.BaseCompoundStatement) -> list[Line]:
        lines = self._lines(node.leading_lines)
        decorators = getattr(node, "decorators", ())
        return [*lines, *self._lines(decorators[0].leading_lines)] if decorators else lines

    def _lines(self, lines: Sequence[cst.EmptyLine]) -> list[Line]:
        found = []
        for line in lines:
            start = self.line_start(self.extent(line)[0])
            found.append(Line(start, self._line_after(line), line.comment.value if line.comment else ""))
        return found


def _parse(text: str) -> cst.Module:
    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        raise RewriteError(f"LibCST cannot parse line {error.raw_line}") from error
    except (RecursionError, UnicodeError, ValueError) as error:
        raise RewriteError(f"LibCST cannot parse the file ({type(error).__name__})") from error


def _positions(module: cst.Module, text: str) -> Mapping[cst.CSTNode, CodeRange]:
    """Positions of all nodes; they count only where the tree gives back the text that it was made from."""
    try:
        positions = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
        code = module.code
    except (RecursionError, KeyError) as error:  # KeyError: LibCST's own clean-up after a RecursionError
        raise RewriteError("the code is nested too deeply for LibCST") from error
    if code != text:
        raise RewriteError("LibCST does not reproduce the file")
    return positions


def _suites(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Suites and clauses of a compound statement or clause, in order."""
    for name in _SUITE_FIELDS:
        value = getattr(node, name, None)
        if isinstance(value, cst.CSTNode):
            yield value
        elif value is not None:
            yield from value


def _expressions_at(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """The expression that a node is, and the generator that a call holds without parentheses of its own."""
    if isinstance(node, cst.BaseExpression):
        bare = isinstance(node, cst.GeneratorExp) and not node.lpar
        if not bare and not isinstance(node, cst.StarredElement):
            yield node
        if isinstance(node, cst.Call) and len(node.args) == 1:
            value = node.args[0].value
            if isinstance(value, cst.GeneratorExp) and not value.lpar:
                yield value


def _describe(span: Span) -> str:
    return f"line {span.line}, column {span.column} to line {span.end_line}, column {span.end_column}"
