"""A patch without one of its hunks, for each of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence

from devfix.trace.repair.edited_sources import Texts

__all__ = ["without_each"]


def without_each(texts: Texts, base: Mapping[str, bytes]) -> Iterator[Texts]:
    """The program with all changes but one hunk; nothing where there is only one.

    Args:
        texts: the program.
        base: the changes that are not in question, by path: hunks are differences from them.

    """
    begun = Texts(texts.root, base, texts.originals)
    changed = {path: new for path, new in sorted(texts.changes.items()) if new != begun.content(path)}
    hunks = [(path, n) for path, new in changed.items() for n in range(_count(begun.content(path), new))]
    if len(hunks) < 2:
        return
    for path, number in hunks:
        old = begun.content(path)
        left = _without(old, changed[path], number)
        changes = {name: content for name, content in texts.changes.items() if name != path}
        if left != old or path in base:
            changes[path] = left
        yield Texts(texts.root, changes, texts.originals)


def _blocks(old: bytes, new: bytes) -> Sequence[tuple[str, int, int, int, int]]:
    return difflib.SequenceMatcher(None, old.splitlines(True), new.splitlines(True), autojunk=False).get_opcodes()


def _count(old: bytes, new: bytes) -> int:
    return sum(tag != "equal" for tag, *_ in _blocks(old, new))


def _without(old: bytes, new: bytes, number: int) -> bytes:
    before, after = old.splitlines(True), new.splitlines(True)
    found: list[bytes] = []
    seen = 0
    for tag, start, end, new_start, new_end in _blocks(old, new):
        if tag == "equal" or seen == number:
            found += before[start:end]
        else:
            found += after[new_start:new_end]
        seen += tag != "equal"
    return b"".join(found)
