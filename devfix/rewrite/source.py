"""A text as LibCST sees it: its tree, and offsets instead of positions."""

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
# The tokenizer forgets the indentation left of a form feed.
_FORM_FEED = re.compile(r"(?:^|(?<=[\r\n]))[ \t\f]*\f")

Extent = tuple[int, int]


class Source:
    """One text, its tree, and the offsets of the tree's nodes.

    LibCST loses form feeds, some lone carriage returns, and some lines at the end of a file.  It reads a copy of the
    text without those, and with one more statement at its end: ``module.body[-1]`` is not in the file.

    ``text`` always ends with a newline: where the file does not, one is added, and `restore_end` takes it away.
    Raises `RewriteError` where LibCST cannot read the text.
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
        """Take away the newline at the end that the file did not have."""
        return text.removesuffix(self.newline) if self._lacks_end else text

    def extent(self, node: cst.CSTNode) -> Extent:
        """Start and end of a node; of an expression without its own parentheses."""
        position = self.positions[node]
        return (
            self._offset(position.start.line, position.start.column),
            self._offset(position.end.line, position.end.column),
        )

    def extent_of(self, span: Span) -> Extent:
        """Start and end of a span."""
        count = len(self._line_starts)
        if not (1 <= span.line <= count and 1 <= span.end_line <= count):
            raise RewriteError(f"there is no {describe(span)}")
        return self._line_starts[span.line - 1] + span.column, self._line_starts[span.end_line - 1] + span.end_column

    def line_start(self, offset: int) -> int:
        """Start of the line that ``offset`` is on."""
        return self._line_starts[self._line_of(offset) - 1]

    def line_end(self, offset: int) -> int:
        """Start of the line that follows the one ``offset`` is on."""
        line = self._line_of(offset)
        return self._line_starts[line] if line < len(self._line_starts) else len(self.text)

    def line_after(self, node: cst.CSTNode) -> int:
        """Start of the line that follows a node which ends with a newline."""
        return self.line_start(self.extent(node)[1])

    def prefix(self, start: int) -> str:
        """The whitespace in front of a statement or clause; what stands left of a form feed does not indent."""
        return self.text[self.line_start(start) : start].rpartition("\f")[2]

    def newline_near(self, offset: int) -> str:
        """The newline at the end of the line that ``offset`` is on."""
        found = NEWLINE.search(self.text, offset)
        return found[0] if found else self.newline

    def _line_of(self, offset: int) -> int:
        return bisect_right(self._line_starts, offset)

    def _offset(self, line: int, column: int) -> int:
        if line > len(self._line_starts):
            return len(self.text)
        return min(self._line_starts[line - 1] + self._skipped.get(line, 0) + column, len(self.text))


def describe(span: Span) -> str:
    """A span in words."""
    return f"line {span.line}, column {span.column} to line {span.end_line}, column {span.end_column}"


def _parse(text: str) -> cst.Module:
    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        raise RewriteError(f"LibCST cannot parse the file near line {error.raw_line}") from error
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
