"""Comments that suppress findings, and whether they were needed.

``# devfix: ignore[DEV201] reason`` (several codes or names, separated by commas; none means all) and ``# noqa: DEV201``
apply on the first or last line of a statement, on the line of a decorated definition, or on the line of the finding.
``# devfix: skip-file`` anywhere suppresses the whole file.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from devfix.engine.suppressions._adding import add_comments
from devfix.model import Span

__all__ = ["Suppressions", "add_comments", "collect", "own_comment"]

_SKIP_FILE = re.compile(r"#\s*devfix:\s*skip-file\b")
_IGNORE = re.compile(r"#\s*devfix:\s*ignore(?:\[(?P<codes>[^\[\]#]*)\]|(?![\w\[-]))")
_NOQA = re.compile(r"#\s*noqa(?:\s*:\s*(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)|(?!\w|\s*:))", re.IGNORECASE)
_OWN_CODE = re.compile(r"DEV[0-9]+")
_CODE = re.compile(r"[A-Z]{3,10}[0-9]+")  # of a plugin or of devfix
_END_OF_LINE = 1 << 30  # a column after every comment


@dataclass
class _Entry:
    """One comment: its codes and names (``None`` for all), and those that were needed."""

    line: int
    codes: tuple[str, ...] | None
    own: bool  # ``devfix: ignore``; a noqa belongs to every linter
    reason: str = ""  # the text after it
    used: set[str] = field(default_factory=set)

    def covers(self, code: str, name: str) -> bool:
        """Record and return whether the comment lists this rule, by code, code prefix or name."""
        matching = self.naming(code, name)
        self.used |= matching
        return bool(matching)

    def naming(self, code: str, name: str) -> set[str]:
        """Return the codes and names of the comment that match a rule; ``{""}`` if it lists none and means all."""
        if self.codes is None:
            return {""}
        return {item for item in self.codes if item == name or (_CODE.fullmatch(item) and code.startswith(item))}

    def unused(self, enabled: Callable[[str], bool] | None) -> tuple[str, ...] | None:
        """Return the codes that were not needed; ``()`` for a comment without codes, ``None`` if all were needed."""
        if self.codes is None:
            blanket = self.own and not self.used and enabled is None
            return () if blanket else None
        listed = self.codes if self.own else tuple(item for item in self.codes if _OWN_CODE.fullmatch(item))
        idle = tuple(item for item in listed if item not in self.used and (enabled is None or enabled(item)))
        return idle or None


@dataclass
class Suppressions:
    """The comments of one file; ``skip_file`` suppresses the whole file."""

    skip_file: bool = False
    _entries: dict[int, list[_Entry]] = field(default_factory=dict)
    _text: str = ""
    _tree: ast.Module | None = None

    @cached_property
    def _statements(self) -> list[tuple[Span, frozenset[int]]]:
        return list(_statements(self._tree or _parse(self._text), self._text))

    def match(self, code: str, span: Span, name: str = "") -> bool:
        """Return whether a finding at ``span`` is suppressed, and record the comments that were needed."""
        if not self._entries:
            return False
        entries = (entry for line in self.lines_of(span) for entry in self._entries.get(line, ()))
        answers = {entry.covers(code, name) for entry in entries}  # no short circuit: each comment records its use
        return True in answers

    def reason(self, code: str, span: Span, name: str = "") -> str:
        """Return the reason that the suppressing comment gives; empty if it gives none."""
        entries = (entry for line in sorted(self.lines_of(span)) for entry in self._entries.get(line, ()))
        return next((entry.reason for entry in entries if entry.reason and entry.naming(code, name)), "")

    def unused(self, enabled: Callable[[str], bool] | None = None) -> list[tuple[int, tuple[str, ...]]]:
        """Return line and codes of the comments that suppressed nothing, in the order of lines.

        ``enabled`` tests whether this run looked for a code or name; others are not judged, and then neither is a
        comment without codes.  For ``noqa`` comments only DEV codes are judged.
        """
        idle = ((line, entry.unused(enabled)) for line in sorted(self._entries) for entry in self._entries[line])
        return [(line, codes) for line, codes in idle if codes is not None]

    def lines_of(self, span: Span) -> set[int]:
        """Return the lines whose comments apply to ``span``: first and last line, also of its statement."""
        lines = {span.line, span.end_line}
        around = [(extent, ends) for extent, ends in self._statements if _holds(extent, span)]
        if around:  # the innermost starts last
            lines |= max(around, key=lambda item: (item[0].line, item[0].column))[1]
        return lines


def collect(text: str, tree: ast.Module | None = None) -> Suppressions:
    """Return the suppressions in ``text``; ``tree`` avoids parsing it again.

    Text without a marker is not tokenized.  If the text does not parse, comments apply by line.
    """
    if "devfix:" not in text and not any(_concerns_devfix(comment) for comment in _NOQA.finditer(text)):
        return Suppressions()
    found = Suppressions(_text=text, _tree=tree)
    for line, comment in _comments(text):
        found.skip_file = found.skip_file or _SKIP_FILE.search(comment) is not None
        found._entries.setdefault(line, []).extend(_entries(line, comment))
    found._entries = {line: entries for line, entries in found._entries.items() if entries}
    return found


def own_comment(line: str) -> re.Match[str] | None:
    """Return the match of ``devfix: ignore`` in a line; its group ``codes`` is ``None`` if it lists none."""
    return _IGNORE.search(line)


def _concerns_devfix(noqa: re.Match[str]) -> bool:
    """Return whether a ``noqa`` comment is unspecific or lists a code of devfix."""
    return noqa["codes"] is None or _CODE.search(noqa["codes"].upper()) is not None


def _comments(text: str) -> Iterator[tuple[int, str]]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    except (tokenize.TokenError, SyntaxError, RecursionError):  # comments before the error still apply
        return


def _entries(line: int, comment: str) -> Iterator[_Entry]:
    for pattern, own in ((_IGNORE, True), (_NOQA, False)):
        for found in pattern.finditer(comment):
            codes = found["codes"]
            reason = comment[found.end() :].split("#")[0].strip(" \t-–:")
            yield _Entry(line, None if codes is None else tuple(_split(codes)), own, reason)


def _split(codes: str) -> Iterator[str]:
    for item in re.split(r"[,\s]+", codes.strip()):
        if item:
            yield item.upper() if _CODE.fullmatch(item.upper()) else item


def _parse(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module(body=[], type_ignores=[])


def _statements(tree: ast.Module, text: str) -> Iterator[tuple[Span, frozenset[int]]]:
    """Yield the extent of each statement (the header of a compound one), and the lines whose comments apply to it."""
    lines = re.split(r"\r\n?|\n", text)
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.ExceptHandler):
            first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))])
            last = _last_line(node, lines)
            column = node.col_offset if first == node.lineno else 0
            yield Span(first, column, last, _END_OF_LINE), frozenset({first, node.lineno, last})


def _last_line(node: ast.stmt | ast.ExceptHandler, lines: list[str]) -> int:
    """Return the last line of a simple statement, or of the header of a compound one."""
    if isinstance(node, ast.Match):
        begins = node.cases[0].pattern.lineno
    elif body := getattr(node, "body", None):
        begins = min([body[0].lineno, *(item.lineno for item in getattr(body[0], "decorator_list", ()))])
    else:
        return node.end_lineno or node.lineno
    line = begins - 1
    while line > node.lineno and not lines[line - 1].split("#")[0].strip():  # blank lines and comments
        line -= 1
    return max(line, node.lineno)


def _holds(extent: Span, span: Span) -> bool:
    begins = (extent.line, extent.column) <= (span.line, span.column)
    return begins and (span.line, span.column) <= (extent.end_line, extent.end_column)
