"""A text parsed by LibCST: its tree, and offsets instead of line and column."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from devfix.model import Span
from devfix.rewrite.errors import RewriteError

__all__ = ["NEWLINE", "Extent", "Source", "describe"]

NEWLINE = re.compile(r"\r\n?|\n")
# The tokenizer ignores the indentation before a form feed.
_FORM_FEED = re.compile(r"(?:^|(?<=[\r\n]))[ \t\f]*\f")

Extent = tuple[int, int]


class Source:
    """One text, its tree, and the offsets of the tree's nodes.

    LibCST loses form feeds, some lone carriage returns, and some lines at the end of a file. It therefore parses a copy
    of the text without them and with one more statement at the end: ``module.body[-1]`` is not in the file.

    ``text`` always ends with a newline. If the file does not, one is added, and `restore_end` removes it.

    Raises:
        RewriteError: LibCST cannot parse the text.

    """

    def __init__(self, text: str) -> None:
        first_newline = NEWLINE.search(text)
        self.newline = first_newline[0] if first_newline else "\n"
        self._lacks_end = not text.endswith(("\n", "\r"))
        self.text = text + self.newline if self._lacks_end else text
        self._line_starts = [0, *(match.end() for match in NEWLINE.finditer(self.text))]
        self._skipped = {self._line_of(match.start()): len(match[0]) for match in _FORM_FEED.finditer(text)}
        copy = _FORM_FEED.sub("", NEWLINE.sub("\n", self.text)) + "pass\n"
        self.module = _parse(copy)
        self.positions = _positions(self.module, copy)

    def restore_end(self, text: str) -> str:
        """Remove the newline at the end if the file had none."""
        return text.removesuffix(self.newline) if self._lacks_end else text

    def extent(self, node: cst.CSTNode) -> Extent:
        """Return the start and end of a node, without the parentheses of an expression."""
        position = self.positions[node]
        return (
            self._offset(position.start.line, position.start.column),
            self._offset(position.end.line, position.end.column),
        )

    def extent_of(self, span: Span) -> Extent:
        """Return the start and end of a span; raise `RewriteError` if the text has no such lines."""
        count = len(self._line_starts)
        if not (1 <= span.line <= count and 1 <= span.end_line <= count):
            raise RewriteError(f"there is no {describe(span)}")
        return self._line_starts[span.line - 1] + span.column, self._line_starts[span.end_line - 1] + span.end_column

    def line_start(self, offset: int) -> int:
        """Return the start of the line that contains ``offset``."""
        return self._line_starts[self._line_of(offset) - 1]

    def line_end(self, offset: int) -> int:
        """Return the start of the line after the one that contains ``offset``."""
        line = self._line_of(offset)
        return self._line_starts[line] if line < len(self._line_starts) else len(self.text)

    def line_after(self, node: cst.CSTNode) -> int:
        """Return the start of the line after a node that ends with a newline."""
        return self.line_start(self.extent(node)[1])

    def prefix(self, start: int) -> str:
        """Return the indentation of a statement or clause; whitespace before a form feed does not count."""
        return self.text[self.line_start(start) : start].rpartition("\f")[2]

    def newline_near(self, offset: int) -> str:
        """Return the newline that ends the line containing ``offset``."""
        found = NEWLINE.search(self.text, offset)
        return found[0] if found else self.newline

    def _line_of(self, offset: int) -> int:
        return bisect_right(self._line_starts, offset)

    def _offset(self, line: int, column: int) -> int:
        if line > len(self._line_starts):
            return len(self.text)
        return min(self._line_starts[line - 1] + self._skipped.get(line, 0) + column, len(self.text))


def describe(span: Span) -> str:
    """Return a span as text."""
    return f"line {span.line}, column {span.column} to line {span.end_line}, column {span.end_column}"


def _parse(text: str) -> cst.Module:
    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        raise RewriteError(f"LibCST cannot parse the file near line {error.raw_line}") from error
    except (RecursionError, UnicodeError, ValueError) as error:
        raise RewriteError(f"LibCST cannot parse the file ({type(error).__name__})") from error


def _positions(module: cst.Module, text: str) -> Mapping[cst.CSTNode, CodeRange]:
    """Return the positions of all nodes; raise `RewriteError` if the tree does not reproduce the text."""
    try:
        positions = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
        code = module.code
    except (RecursionError, KeyError) as error:  # KeyError: LibCST's cleanup after a RecursionError
        raise RewriteError("the code is nested too deeply for LibCST") from error
    if code != text:
        raise RewriteError("LibCST does not reproduce the file")
    return positions
