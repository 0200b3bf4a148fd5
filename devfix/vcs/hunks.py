"""A unified diff, read into files, hunks and lines; their code in pieces that say how each is coloured.

Only the hunks are known, not the files: where one begins inside a string of many lines, its code is read as such.
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

__all__ = ["DiffFile", "DiffLine", "Hunk", "Piece", "coloured", "lines_of", "read"]

_HEAD = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")
_CELL = re.compile(r"\.ipynb:cell \d+$")
_LEXERS = {".py": "python", ".pyi": "python", ".ipynb": "json"}
#: Code units of a hunk beyond which it is not coloured: it is data, and nobody reads it.
_MOST_CODE = 100_000
_KINDS = {"+": "added", "-": "removed"}
#: What a hunk may have begun in: code, or a string of many lines.
_BEGINNINGS = ("", '"""\n', "'''\n")


class Piece(NamedTuple):
    """A stretch of one line: ``keyword``, ``name``, ``builtin``, ``string``, ``number``, ``comment`` or nothing."""

    kind: str
    text: str


class DiffLine(NamedTuple):
    """A line of a hunk: its mark (blank, ``+``, ``-``, or ``\\`` for a remark of the diff), and its code."""

    mark: str
    code: str


@dataclass
class Hunk:
    """Lines that stand together, the numbers of the first one in the old and in the new file, and what git says."""

    old: int
    new: int
    about: str
    lines: list[DiffLine] = field(default_factory=list)


@dataclass
class DiffFile:
    """What happens to one file; ``remarks`` are the lines of the diff that are neither names nor hunks."""

    path: str = ""
    remarks: list[str] = field(default_factory=list)
    hunks: list[Hunk] = field(default_factory=list)

    def count(self, mark: str) -> int:
        """Lines with this mark."""
        return sum(line.mark == mark for hunk in self.hunks for line in hunk.lines)


def read(diff: str) -> list[DiffFile]:
    """The files of a diff as devfix and git write it. A line is read by its place: a hunk says how long it is."""
    files: list[DiffFile] = []
    lines = diff.removesuffix("\n").split("\n") if diff else []
    at = 0
    while at < len(lines):
        line = lines[at]
        head = _HEAD.match(line)
        begins = line.startswith("diff --git ") or (line.startswith("--- ") and bool(files) and bool(files[-1].hunks))
        if not files or begins:
            files.append(DiffFile())
        if head:
            hunk, at = _hunk(head, lines, at + 1)
            files[-1].hunks.append(hunk)
            continue
        _read_header(files[-1], line)
        at += 1
    return files


def coloured(path: str, hunk: Hunk) -> list[list[Piece]]:
    """The code of each line in pieces, by what the file's name says of its language."""
    lexer = _lexer(".py" if _CELL.search(path) else PurePosixPath(path).suffix)
    if lexer is None or sum(len(line.code) for line in hunk.lines) > _MOST_CODE:
        return [[Piece("", line.code)] for line in hunk.lines]
    before, after = (_side(lexer, hunk, mark) for mark in "-+")
    found = []
    for line in hunk.lines:
        if line.mark == " ":
            next(before)  # both sides have it
        if line.mark == "-":
            found.append(next(before))
        else:
            found.append(next(after) if line.mark in " +" else [Piece("", line.code)])
    return found


def lines_of(diff: str) -> list[tuple[str, list[Piece]]]:
    """The lines of a diff for a page: ``file``, ``hunk``, ``added``, ``removed`` or nothing, and their pieces."""
    found: list[tuple[str, list[Piece]]] = []
    for file in read(diff):
        found.append(("file", [Piece("", file.path)]))
        for hunk in file.hunks:
            found.append(("hunk", [Piece("", f"@@ line {hunk.new} {hunk.about}".rstrip())]))
            for line, pieces in zip(hunk.lines, coloured(file.path, hunk), strict=True):
                found.append((_KINDS.get(line.mark, ""), [Piece("", line.mark), *pieces]))
    return found


def _hunk(head: re.Match[str], lines: list[str], at: int) -> tuple[Hunk, int]:
    """The hunk under a head, and where what follows it begins."""
    old, new = (1 if length is None else int(length) for length in head.group(2, 4))
    hunk = Hunk(int(head[1]), int(head[3]), head[5])
    while at < len(lines) and (old > 0 or new > 0 or lines[at].startswith("\\")):
        line = lines[at].removesuffix("\r")
        mark = line[:1] or " "
        if mark not in " +-\\":
            break  # shorter than it says
        old -= mark in " -"
        new -= mark in " +"
        hunk.lines.append(DiffLine(mark, line[1:]))
        at += 1
    return hunk, at


def _read_header(file: DiffFile, line: str) -> None:
    if line.startswith(("--- ", "+++ ")):
        path = _path(line[4:])
        file.path = path or file.path
    elif not line.startswith(("diff --git ", "index ")):
        file.remarks.append(line)


def _path(name: str) -> str:
    """The path of a ``---`` or ``+++`` line; empty for ``/dev/null``."""
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
    """The lines of the old (``-``) or new (``+``) side, read in the beginning under which what changes is code."""
    lines = [line for line in hunk.lines if line.mark in (" ", mark)]
    first: list[list[Piece]] | None = None
    for beginning in _BEGINNINGS:
        pieces = _lines(lexer, beginning, [line.code for line in lines])
        first = first or pieces
        if not any(line.mark == mark and _inside_string(found) for line, found in zip(lines, pieces, strict=True)):
            return iter(pieces)
    return iter(first or [])


def _inside_string(pieces: list[Piece]) -> bool:
    """The line is text without a quotation mark: it stands in a string that begins before it and ends after it."""
    text = "".join(piece.text for piece in pieces)
    return {piece.kind for piece in pieces if piece.text.strip()} == {"string"} and not re.search("[\"']", text)


def _lines(lexer: Lexer, beginning: str, lines: list[str]) -> list[list[Piece]]:
    text = beginning + "\n".join(lines) + "\n"
    found: list[list[Piece]] = [[]]
    for _, token, value in lexer.get_tokens_unprocessed(text):
        kind = _kind(token)
        for number, part in enumerate(value.split("\n")):
            if number:
                found.append([])
            if part:
                _extend(found[-1], kind, part)
    start = beginning.count("\n")
    return found[start : start + len(lines)]


def _extend(line: list[Piece], kind: str, text: str) -> None:
    """Put a piece to the end of a line, into the last one where both look the same; blanks look like anything."""
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
