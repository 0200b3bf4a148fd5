"""Parser of unified diffs, and syntax highlighting of their lines.

Only the hunks are available, not the files: a hunk that begins inside a multi-line string is detected and highlighted
as such.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from devfix.vcs.git import unquoted

if TYPE_CHECKING:
    from pygments.lexer import Lexer

__all__ = ["DiffFile", "DiffLine", "Hunk", "Piece", "highlight", "highlight_python", "read"]

_HUNK_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")
_CELL = re.compile(r"\.ipynb:cell \d+$")
_LEXERS = {".py": "python", ".pyi": "python", ".ipynb": "json"}
#: Characters; larger hunks are data and are not highlighted.
_MAX_CODE = 100_000
#: What may precede a hunk: code, or the start of a multi-line string.
_CONTEXTS = ("", '"""\n', "'''\n")


class Piece(NamedTuple):
    """Characters of one kind: ``keyword``, ``name``, ``builtin``, ``string``, ``number``, ``comment`` or none."""

    kind: str
    text: str


class DiffLine(NamedTuple):
    """A line of a hunk: its mark (blank, ``+``, ``-``, or ``\\`` for a note of the diff), and its code."""

    mark: str
    code: str


@dataclass
class Hunk:
    """Consecutive lines, the number of the first in the old and the new file, and the text after ``@@``."""

    old: int
    new: int
    heading: str
    lines: list[DiffLine] = field(default_factory=list)


@dataclass
class DiffFile:
    """The diff of one file; ``other_lines`` are neither file names nor hunks, such as mode changes."""

    path: str = ""
    other_lines: list[str] = field(default_factory=list)
    hunks: list[Hunk] = field(default_factory=list)

    def count(self, mark: str) -> int:
        """Return the number of lines with a mark."""
        return sum(line.mark == mark for hunk in self.hunks for line in hunk.lines)


def read(diff: str) -> list[DiffFile]:
    """Parse a diff of devfix or git.  Hunk headers determine how many lines belong to a hunk."""
    files: list[DiffFile] = []
    lines = diff.removesuffix("\n").split("\n") if diff else []
    index = 0
    while index < len(lines):
        line = lines[index]
        header = _HUNK_HEADER.match(line)
        is_new_file = line.startswith("diff --git ") or (
            line.startswith("--- ") and bool(files) and bool(files[-1].hunks)
        )
        if not files or is_new_file:
            files.append(DiffFile())
        if header:
            hunk, index = _read_hunk(header, lines, index + 1)
            files[-1].hunks.append(hunk)
            continue
        _read_header(files[-1], line)
        index += 1
    return files


def highlight(path: str, hunk: Hunk) -> list[list[Piece]]:
    """Return the highlighted code of each line; the file's suffix determines the language."""
    lexer = _lexer(".py" if _CELL.search(path) else PurePosixPath(path).suffix)
    if lexer is None or sum(len(line.code) for line in hunk.lines) > _MAX_CODE:
        return [[Piece("", line.code)] for line in hunk.lines]
    before, after = (_side(lexer, hunk, mark) for mark in "-+")
    found = []
    for line in hunk.lines:
        if line.mark == " ":
            next(before)  # consume it on both sides
        if line.mark == "-":
            found.append(next(before))
        else:
            found.append(next(after) if line.mark in " +" else [Piece("", line.code)])
    return found


def highlight_python(lines: list[str]) -> list[list[Piece]]:
    """Return the highlighted code of each line of a Python file."""
    lexer = _lexer(".py")
    if lexer is None or sum(map(len, lines)) > _MAX_CODE:
        return [[Piece("", line)] for line in lines]
    return _lines(lexer, "", lines)


def _read_hunk(header: re.Match[str], lines: list[str], index: int) -> tuple[Hunk, int]:
    """Return the hunk after a header, and the index of the line after it."""
    old, new = (1 if length is None else int(length) for length in header.group(2, 4))
    hunk = Hunk(int(header[1]), int(header[3]), header[5])
    while index < len(lines) and (old > 0 or new > 0 or lines[index].startswith("\\")):
        line = lines[index].removesuffix("\r")
        mark = line[:1] or " "
        if mark not in " +-\\":
            break  # shorter than its header says
        old -= mark in " -"
        new -= mark in " +"
        hunk.lines.append(DiffLine(mark, line[1:]))
        index += 1
    return hunk, index


def _read_header(file: DiffFile, line: str) -> None:
    if line.startswith(("--- ", "+++ ")):
        path = _path(line[4:])
        file.path = path or file.path
    elif not line.startswith(("diff --git ", "index ")):
        file.other_lines.append(line)


def _path(name: str) -> str:
    """Return the path of a ``---`` or ``+++`` line; empty for ``/dev/null``."""
    name = name.removesuffix("\r").removesuffix("\t")
    if name == "/dev/null":
        return ""
    name = os.fsencode(unquoted(name)).decode("utf-8", "replace")
    return name[2:] if name.startswith(("a/", "b/")) else name


@functools.cache
def _lexer(suffix: str) -> Lexer | None:
    name = _LEXERS.get(suffix)
    if name is None:
        return None
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(name)


def _side(lexer: Lexer, hunk: Hunk, mark: str) -> Iterator[list[Piece]]:
    """Yield the lines of the old (``-``) or new (``+``) side, in the context in which the changed lines are code."""
    lines = [line for line in hunk.lines if line.mark in (" ", mark)]
    first: list[list[Piece]] | None = None
    for context in _CONTEXTS:
        pieces = _lines(lexer, context, [line.code for line in lines])
        first = first or pieces
        if not any(line.mark == mark and _inside_string(found) for line, found in zip(lines, pieces, strict=True)):
            return iter(pieces)
    return iter(first or [])


def _inside_string(pieces: list[Piece]) -> bool:
    """Whether the line is inside a multi-line string: only string text, without a quotation mark."""
    text = "".join(piece.text for piece in pieces)
    return {piece.kind for piece in pieces if piece.text.strip()} == {"string"} and not re.search("[\"']", text)


def _lines(lexer: Lexer, context: str, lines: list[str]) -> list[list[Piece]]:
    text = context + "\n".join(lines) + "\n"
    found: list[list[Piece]] = [[]]
    for _, token, value in lexer.get_tokens_unprocessed(text):
        kind = _kind(token)
        for number, part in enumerate(value.split("\n")):
            if number:
                found.append([])
            if part:
                _extend(found[-1], kind, part)
    start = context.count("\n")
    return found[start : start + len(lines)]


def _extend(line: list[Piece], kind: str, text: str) -> None:
    """Append a piece to a line; merge it with the last one if both have the same kind or one is blank."""
    last = line.pop() if line else Piece(kind, "")
    if last.kind == kind or not text.strip():
        line.append(Piece(last.kind, last.text + text))
    elif not last.text.strip():
        line.append(Piece(kind, last.text + text))
    else:
        line.extend((last, Piece(kind, text)))


@functools.cache
def _kind(token: object) -> str:
    from pygments.token import Comment, Keyword, Name, Number, Operator, String

    kinds = (
        (Comment, "comment"),
        (Keyword, "keyword"),
        (Operator.Word, "keyword"),
        (String, "string"),
        (Number, "number"),
        (Name.Builtin, "builtin"),
        (Name.Function, "name"),
        (Name.Class, "name"),
        (Name.Decorator, "name"),
    )
    return next((kind for family, kind in kinds if token in family), "")
