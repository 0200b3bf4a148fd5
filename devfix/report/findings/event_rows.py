"""The events of a finding as source lines with notes, for a terminal of any width.

Where every note fits beside its line, the notes form a column.  On a narrow terminal, each note stands below its line,
after carets under the expression.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from devfix.model import Event, Finding, Outcome
from devfix.report.positions import SourceTexts
from devfix.report.sanitize import printable

__all__ = ["event_rows", "linked", "wrapped"]

_MAX_SOURCE = 72
_GUTTER = "cyan"
_FAILURE = "bold red"


def linked(path: str) -> Style:
    """Return a style that links to a file, on terminals that can (OSC 8)."""
    return Style(link=Path(os.path.abspath(path)).as_uri())


def wrapped(text: str, width: int | None, indent: str) -> Iterator[str]:
    """Yield a text in lines of at most ``width`` columns, broken between words only; on one line if it is None."""
    if width is None:
        yield indent + text
        return
    line = ""
    for word in text.split(" "):
        if line and cell_len(f"{indent}{line} {word}") > width:
            yield indent + line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield indent + line


@dataclass(frozen=True)
class _Row:
    """One line of source: its number, its text without indentation, and the expression in it."""

    path: str
    number: str
    source: str
    start: int
    end: int
    note: str
    fails: bool


def event_rows(finding: Finding, outcome: Outcome, texts: SourceTexts | None, width: int | None) -> Iterator[Text]:
    """Yield the events as numbered source lines with notes; a change of file gets a heading.

    Args:
        finding: the finding.
        outcome: the outcome, for the cells of notebooks.
        texts: the source files; without them, no expression is marked.
        width: columns of the terminal; None for unlimited.

    """
    rows = list(_merged(finding, outcome, texts))
    digits = max((len(row.number) for row in rows), default=0)
    widest = min(max((cell_len(row.source) for row in rows), default=0), _MAX_SOURCE)
    room = None if width is None else width - digits - 5
    beside = room is None or all(widest + 2 + cell_len(row.note) <= room for row in rows)
    path = finding.path
    for row in rows:
        if row.path != path:
            path = row.path
            yield Text.assemble("  ", ("-" * digits + "> ", _GUTTER), (printable(path), linked(path)))
        yield from _beside(row, digits, widest) if beside or room is None else _below(row, digits, room)


def _merged(finding: Finding, outcome: Outcome, texts: SourceTexts | None) -> Iterator[_Row]:
    """Yield a row per event; neighbours on the same line share one."""
    last: tuple[str, int] | None = None
    row: _Row | None = None
    for event in finding.events:
        fails = event is finding.failure
        if row is not None and last == (event.path, event.line):
            note = "; ".join(filter(None, (row.note, printable(event.note))))
            row = _Row(row.path, row.number, row.source, row.start, row.end, note, row.fails or fails)
            continue
        if row is not None:
            yield row
        last = event.path, event.line
        source, start, end = _marked(event, texts)
        row = _Row(event.path, _number(event, outcome), source, start, end, printable(event.note), fails)
    if row is not None:
        yield row


def _marked(event: Event, texts: SourceTexts | None) -> tuple[str, int, int]:
    """Return the line's text, and where the expression begins and ends in it; twice 0 if it is the whole line."""
    source = printable(event.source.replace("\t", " "))
    line = "" if texts is None else texts.lines(event.path)[event.line]
    if line.strip() != event.source or len(source) != len(event.source):
        return source, 0, 0
    indentation = len(line) - len(line.lstrip())
    start = max(event.column - indentation, 0)
    end = min(event.end_column - indentation if event.end_column else len(source), len(source))
    return (source, start, end) if start < end and (start, end) != (0, len(source)) else (source, 0, 0)


def _number(event: Event, outcome: Outcome) -> str:
    """Return the line number of an event, with its cell in a notebook."""
    cell_line = outcome.place(event.path, event.line)
    return str(event.line) if cell_line is None else f"cell {cell_line[0]}:{cell_line[1]}"


def _cut(row: _Row, width: int) -> tuple[str, int, int]:
    """Return what fits of the line, around the expression, and where the expression is in it.

    Args:
        row: the line.
        width: columns; a Chinese character or an emoji takes two.

    """
    text = row.source
    if cell_len(text) <= width:
        return text, row.start, row.end
    left = 0
    if cell_len(text[: row.end]) > width - 1:  # show the expression's beginning, after a part of what precedes it
        context = _fitting(reversed(text[: row.start]), width // 3)
        left = min(row.start - context, len(text) - _fitting(reversed(text), width))
    head, body = ("…", text[left + 1 :]) if left else ("", text)
    room = width - len(head)
    if cell_len(body) > room:
        body = body[: _fitting(body, room - 1)] + "…"
    shown = head + body
    return shown, max(row.start - left, 0), min(max(row.end - left, 0), len(shown))


def _fitting(characters: Iterable[str], columns: int) -> int:
    """Return how many of the first characters fit into a number of columns."""
    count = 0
    for character in characters:
        columns -= cell_len(character)
        if columns < 0:
            break
        count += 1
    return count


def _gutter(number: str, digits: int) -> tuple[str, str]:
    return f"{number:>{digits}} | ", _GUTTER


def _source(shown: str, start: int, end: int, style: str) -> Text:
    text = Text(shown)
    text.stylize(style, start, end)
    return text


def _beside(row: _Row, digits: int, widest: int) -> Iterator[Text]:
    shown, start, end = _cut(row, _MAX_SOURCE)
    source = _source(shown + " " * (widest - cell_len(shown)), start, end, "bold underline")
    note = (f"  {row.note}" if row.note else "", _FAILURE if row.fails else "italic")
    yield Text.assemble("  ", _gutter(row.number, digits), source, note)


def _below(row: _Row, digits: int, room: int) -> Iterator[Text]:
    shown, start, end = _cut(row, room)
    style = _FAILURE if row.fails else "italic"
    if start == end and cell_len(shown) + 2 + cell_len(row.note) <= room:
        yield Text.assemble("  ", _gutter(row.number, digits), shown, (f"  {row.note}" if row.note else "", style))
        return
    yield Text.assemble("  ", _gutter(row.number, digits), _source(shown, start, end, "bold"))
    empty = "  ", _gutter("", digits)
    indent, carets = " " * cell_len(shown[:start]), "^" * cell_len(shown[start:end])
    if carets and cell_len(f"{indent}{carets} {row.note}") <= room:
        yield Text.assemble(*empty, indent, (f"{carets} {row.note}", style))
        return
    if carets:
        yield Text.assemble(*empty, indent, (carets, style))
    for line in wrapped(row.note, room, "  ") if row.note else ():
        yield Text.assemble(*empty, (line, style))
