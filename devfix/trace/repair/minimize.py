"""Minimize a patch: yield it without one hunk, for each hunk."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence

from devfix.trace.repair.edited_sources import EditedSources

__all__ = ["without_each"]


def without_each(edited: EditedSources, base: Mapping[str, bytes]) -> Iterator[EditedSources]:
    """Yield the program with all changes except one hunk; nothing if there is only one.

    Args:
        edited: the program.
        base: changes to keep, by path: hunks are differences from them.

    """
    based = EditedSources(edited.root, base, edited.originals)
    changed = {path: new for path, new in sorted(edited.changes.items()) if new != based.content(path)}
    hunks = [(path, n) for path, new in changed.items() for n in range(_hunk_count(based.content(path), new))]
    if len(hunks) < 2:
        return
    for path, number in hunks:
        old = based.content(path)
        reduced = _without_hunk(old, changed[path], number)
        changes = {name: content for name, content in edited.changes.items() if name != path}
        if reduced != old or path in base:
            changes[path] = reduced
        yield EditedSources(edited.root, changes, edited.originals)


def _opcodes(old: bytes, new: bytes) -> Sequence[tuple[str, int, int, int, int]]:
    return difflib.SequenceMatcher(None, old.splitlines(True), new.splitlines(True), autojunk=False).get_opcodes()


def _hunk_count(old: bytes, new: bytes) -> int:
    return sum(tag != "equal" for tag, *_ in _opcodes(old, new))


def _without_hunk(old: bytes, new: bytes, number: int) -> bytes:
    before, after = old.splitlines(True), new.splitlines(True)
    lines: list[bytes] = []
    hunk = 0
    for tag, start, end, new_start, new_end in _opcodes(old, new):
        if tag == "equal" or hunk == number:
            lines += before[start:end]
        else:
            lines += after[new_start:new_end]
        hunk += tag != "equal"
    return b"".join(lines)
