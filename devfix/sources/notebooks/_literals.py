"""A cell's source as the file spells it, and the same with some lines replaced.

nbformat allows a string, or a list of strings that are joined
(https://nbformat.readthedocs.io/en/latest/format_description.html).  Unchanged lines keep their spelling: escapes, the
list's separators and indentation.  New lines are spelled like the cell's other characters.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from devfix.sources.notebooks._json import Extent

__all__ = ["Spelling", "characters", "respelled"]

#: A character of a literal: an escaped surrogate pair, an escape, or itself.
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL
)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def characters(text: str, literal: Extent) -> Iterator[tuple[int, int]]:
    """Yield the offset and length in the file of each character of a literal."""
    for found in _CHARACTER.finditer(text, literal.start + 1, literal.end - 1):
        yield found.start(), found.end() - found.start()


class Spelling:
    """How characters are written: as in the literals seen so far, otherwise as ``json`` writes them.

    Args:
        text: the whole file; characters beyond ASCII are escaped in new text if it has such escapes and no such
            characters.
    """

    def __init__(self, text: str) -> None:
        self._escapes = text.isascii() and re.search(r"\\u(?!00[0-7])[0-9a-fA-F]{4}", text) is not None
        self._seen: dict[str, str] = {}

    def learn(self, raw: str) -> None:
        """Record how a literal, without its quotation marks, writes characters with several spellings."""
        for found in _CHARACTER.finditer(raw):
            spelled = found[0]
            if spelled[0] == "\\" or not spelled.isascii():
                self._seen[json.loads(f'"{spelled}"')] = spelled

    def write(self, value: str) -> str:
        """Return a string as a literal without its quotation marks."""
        return "".join(self._seen.get(character) or self._plain(character) for character in value)

    def _plain(self, character: str) -> str:
        escape = self._escapes or "\ud800" <= character <= "\udfff"
        return json.dumps(character, ensure_ascii=escape)[1:-1]


class _Line(NamedTuple):
    value: str
    raw: str


def respelled(text: str, start: int, literals: Sequence[Extent], new: str, spelling: Spelling) -> tuple[Extent, str]:
    """Return the extent of a source value in the file, and its new text for the source ``new``.

    Args:
        text: the file.
        start: the offset of the value: a string or a list.
        literals: its strings.
        new: the whole new source.
        spelling: the spelling of the file.
    """
    inner = [text[each.start + 1 : each.end - 1] for each in literals]
    for raw in inner:
        spelling.learn(raw)
    if text[start] == '"':
        lines = _with_new_lines(list(_lines(inner[0])), new, spelling)
        return literals[0], '"' + "".join(line.raw for line in lines) + '"'
    values = [json.loads(f'"{raw}"', strict=False) for raw in inner]
    if not values or _LINE.findall("".join(values)) != values:
        return _in_odd_list(text, start, literals, values, new, spelling)
    old = [_Line(value, raw) for value, raw in zip(values, inner, strict=True)]
    lines = _with_new_lines(old, new, spelling)
    separator = _separator(text, start, literals)
    kept = Extent(literals[0].start, literals[-1].end)
    return kept, separator.join(f'"{line.raw}"' for line in lines) if lines else '""'


def _separator(text: str, start: int, literals: Sequence[Extent]) -> str:
    """Return the text between two strings of a list."""
    if len(literals) > 1:
        return text[literals[0].end : literals[1].start]
    blank = text[start + 1 : literals[0].start]
    return "," + blank if blank else ", "


def _with_new_lines(old: list[_Line], new: str, spelling: Spelling) -> list[_Line]:
    """Return the lines of ``new``; unchanged ones keep their spelling."""
    wanted = _LINE.findall(new)
    matcher = difflib.SequenceMatcher(None, [line.value for line in old], wanted, autojunk=False)
    lines: list[_Line] = []
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag == "equal":
            lines += old[start:end]
        else:
            lines += [_Line(value, spelling.write(value)) for value in wanted[new_start:new_end]]
    return lines


def _lines(raw: str) -> Iterator[_Line]:
    """Return the lines of one literal."""
    value, spelled = "", ""
    for found in _CHARACTER.finditer(raw):
        character = found[0] if found[0][0] != "\\" else json.loads(f'"{found[0]}"')
        value, spelled = value + character, spelled + found[0]
        if character == "\n":
            yield _Line(value, spelled)
            value, spelled = "", ""
    if value:
        yield _Line(value, spelled)


def _in_odd_list(
    text: str, start: int, literals: Sequence[Extent], values: Sequence[str], new: str, spelling: Spelling
) -> tuple[Extent, str]:
    """Return a list whose strings are not lines, with the difference in the first string that it touches."""
    if not literals:
        end = text.index("]", start) + 1
        return Extent(start, end), '["' + spelling.write(new) + '"]' if new else text[start:end]
    old = "".join(values)
    head = _shared(old, new, min(len(old), len(new)))
    tail = _shared(old[::-1], new[::-1], min(len(old), len(new)) - head)
    end, middle = len(old) - tail, new[head : len(new) - tail]
    parts, begins, told = [], 0, False
    for literal, value in zip(literals, values, strict=True):
        before, after = value[: max(head - begins, 0)], value[max(end - begins, 0) :]
        begins += len(value)
        takes, told = not told and begins >= head, told or begins >= head
        changed = before + (middle if takes else "") + after
        parts.append(text[literal.start : literal.end] if changed == value else f'"{spelling.write(changed)}"')
    gaps = [text[one.end : other.start] for one, other in pairwise(literals)]
    rendered = "".join(part + gap for part, gap in zip(parts, [*gaps, ""], strict=True))
    return Extent(literals[0].start, literals[-1].end), rendered


def _shared(one: str, other: str, limit: int) -> int:
    return next((at for at in range(limit) if one[at] != other[at]), limit)
