"""Unified diffs for pages: numbered, highlighted lines, and the bytes to copy or download."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from devfix.vcs.hunks import DiffFile, Hunk, Piece, highlight, read

__all__ = ["DiffLine", "DiffView", "FileView", "diff_view"]

_KINDS = {"+": "added", "-": "removed", "\\": "note"}


class DiffLine(NamedTuple):
    """A line of a diff: its kind, its mark, its numbers in the old and the new file as text, and its code."""

    kind: str
    mark: str
    old: str
    new: str
    pieces: list[Piece]


@dataclass(frozen=True)
class FileView:
    """The diff of one file: its path, numbers of added and removed lines, and its lines with headings of hunks."""

    path: str
    added: int
    removed: int
    lines: list[DiffLine]


@dataclass(frozen=True)
class DiffView:
    """A diff on a page.

    Attributes:
        files: the changed files.
        patch: what the buttons copy and download; empty for no buttons.
        name: the file name of the download.

    """

    files: list[FileView]
    patch: bytes = b""
    name: str = "devfix.patch"

    def __bool__(self) -> bool:
        return bool(self.files)


def diff_view(diff: str, patch: bytes | None = None) -> DiffView:
    """Return a unified diff for a page.

    Args:
        diff: the diff that is shown.
        patch: the bytes to copy and download; None for those of ``diff``.

    """
    files = [
        FileView(
            file.path, file.count("+"), file.count("-"), [line for hunk in file.hunks for line in _hunk(file, hunk)]
        )
        for file in read(diff)
    ]
    whole = diff if diff.endswith("\n") else diff + "\n"
    return DiffView(files, (whole.encode("utf-8", "surrogateescape") if patch is None else patch) if files else b"")


def _hunk(file: DiffFile, hunk: Hunk) -> Iterator[DiffLine]:
    yield DiffLine("hunk", "", "", "", [Piece("", f"@@ line {hunk.new} {hunk.heading}".rstrip())])
    old, new = hunk.old, hunk.new
    for line, pieces in zip(hunk.lines, highlight(file.path, hunk), strict=True):
        in_old, in_new = line.mark in " -", line.mark in " +"
        numbers = str(old) if in_old else "", str(new) if in_new else ""
        yield DiffLine(_KINDS.get(line.mark, ""), line.mark, *numbers, pieces)
        old, new = old + in_old, new + in_new
