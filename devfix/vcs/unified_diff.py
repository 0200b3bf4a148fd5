"""Unified diffs that ``git apply`` turns into exactly the bytes that ``devfix apply`` writes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from devfix.model import FileChange, Patch
from devfix.sources import diff_root, display

__all__ = ["unified"]

_CONTEXT = 3
_LONG = 5000  # lines from the first to the last difference
_NEAR, _AGREEMENT = 100, 3  # lines within which long texts agree again, and how many lines have to
_NO_NEWLINE = b"\n\\ No newline at end of file\n"
_QUOTED = re.compile(rb'[\x00-\x1f"\\\x7f]')
_ESCAPES = {b"\t": b"\\t", b"\n": b"\\n", b"\r": b"\\r", b'"': b'\\"', b"\\": b"\\\\"}

_Opcode = tuple[str, int, int, int, int]


def unified(patch: Patch, created: Collection[str] = ()) -> bytes:
    """Return a patch as a unified diff, with names relative to the repository.

    Args:
        patch: the changed files.
        created: the paths of new files.

    """
    root = diff_root(change.path for change in patch.files)
    return b"".join(
        b"".join(_file(change, display(change.path, root), new=change.path in created)) for change in patch.files
    )


def _file(change: FileChange, name: str, *, new: bool) -> Iterator[bytes]:
    lines, changed = _lines(change.old), _lines(change.new)
    before, after = _name("a/" + name), _name("b/" + name)
    yield b"diff --git " + before + b" " + after + b"\n"
    if new:
        yield b"new file mode 100644\n"
    yield b"--- " + (b"/dev/null\n" if new else _end_name(before))
    yield b"+++ " + _end_name(after)
    for hunk in _hunks(lines, changed):
        yield b"@@ -%s +%s @@\n" % (_range(hunk[0][1], hunk[-1][2]), _range(hunk[0][3], hunk[-1][4]))
        for tag, old_start, old_end, new_start, new_end in hunk:
            if tag == "equal":
                yield from _with_mark(b" ", lines[old_start:old_end])
            else:
                yield from _with_mark(b"-", lines[old_start:old_end])
                yield from _with_mark(b"+", changed[new_start:new_end])


def _hunks(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[list[_Opcode]]:
    """Yield groups of opcodes with context; common lines at both ends are skipped, not compared."""
    head = _shared(old, new, limit=min(len(old), len(new)))
    tail = _shared(old[::-1], new[::-1], limit=min(len(old), len(new)) - head)
    start, tail = max(head - _CONTEXT, 0), max(tail - _CONTEXT, 0)
    matcher = _Matcher(old[start : len(old) - tail], new[start : len(new) - tail])
    groups = [
        [(tag, a1 + start, a2 + start, b1 + start, b2 + start) for tag, a1, a2, b1, b2 in group]
        for group in matcher.get_grouped_opcodes(_CONTEXT)
    ]
    if groups:  # identical lines may match elsewhere than at the ends: add the context that was cut off
        groups[0][:0] = _context(groups[0][0], start, before=True)
        groups[-1] += _context(groups[-1][-1], tail, before=False)
    yield from groups


class _Matcher(difflib.SequenceMatcher[bytes]):
    """Compare long texts in linear time: a stranger may write one whose lines repeat, which takes quadratic time.

    The new text is the old one with a few edits, so after a difference the texts agree again soon.
    """

    def __init__(self, old: Sequence[bytes], new: Sequence[bytes]) -> None:
        super().__init__(None, old, new)
        self._old, self._new = old, new

    def get_opcodes(self) -> Any:
        if min(len(self._old), len(self._new)) < _LONG:
            return super().get_opcodes()
        return list(_nearby_opcodes(self._old, self._new))


def _nearby_opcodes(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[_Opcode]:
    a = b = 0
    while a < len(old) or b < len(new):
        limit = min(len(old) - a, len(new) - b)
        same = next((index for index in range(limit) if old[a + index] != new[b + index]), limit)
        if same:
            yield "equal", a, a + same, b, b + same
            a, b = a + same, b + same
        if a == len(old) and b == len(new):
            return
        removed, added = _next_agreement(old[a : a + _NEAR + _AGREEMENT], new[b : b + _NEAR + _AGREEMENT])
        if removed is None or added is None:
            removed, added = len(old) - a, len(new) - b
        tag = "insert" if not removed else "delete" if not added else "replace"
        yield tag, a, a + removed, b, b + added
        a, b = a + removed, b + added


def _next_agreement(old: Sequence[bytes], new: Sequence[bytes]) -> tuple[int, int] | tuple[None, None]:
    """Return how many lines to skip on each side, as few as possible, until several lines agree."""
    for total in range(1, 2 * _NEAR + 1):
        for removed in range(max(0, total - _NEAR), min(total, _NEAR) + 1):
            found = old[removed : removed + _AGREEMENT]
            if len(found) == _AGREEMENT and found == new[total - removed : total - removed + _AGREEMENT]:
                return removed, total - removed
    return None, None


def _context(opcode: _Opcode, available: int, *, before: bool) -> list[_Opcode]:
    """Return the missing context at one end: up to ``available`` lines, which both texts share."""
    tag, a1, a2, b1, b2 = opcode
    missing = min(_CONTEXT - (a2 - a1 if tag == "equal" else 0), available)
    if missing <= 0:
        return []
    return [("equal", a1 - missing, a1, b1 - missing, b1) if before else ("equal", a2, a2 + missing, b2, b2 + missing)]


def _shared(first: Sequence[bytes], second: Sequence[bytes], limit: int) -> int:
    return next((index for index in range(limit) if first[index] != second[index]), limit)


def _lines(content: bytes) -> list[bytes]:
    """Split into lines with their ends; like git, only at line feeds."""
    lines = content.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def _with_mark(mark: bytes, lines: Sequence[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield mark + (line if line.endswith(b"\n") else line + _NO_NEWLINE)


def _range(start: int, end: int) -> bytes:
    length = end - start
    begin = start + 1 if length else start
    return b"%d" % begin if length == 1 else b"%d,%d" % (begin, length)


def _name(name: str) -> bytes:
    """Return a file name as git writes it: quoted if it contains quotes, backslashes or control characters."""
    raw = name.encode("utf-8", "surrogateescape")
    if not _QUOTED.search(raw):
        return raw
    return b'"' + _QUOTED.sub(lambda found: _ESCAPES.get(found[0]) or b"\\%03o" % ord(found[0]), raw) + b'"'


def _end_name(name: bytes) -> bytes:
    """Return the end of a ``---`` or ``+++`` line: a tab after a name with a space."""
    return name + (b"\t\n" if b" " in name and not name.startswith(b'"') else b"\n")
