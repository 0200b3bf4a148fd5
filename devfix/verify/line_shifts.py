"""Shifts of source lines by a patch, which a script may print as line numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from pathlib import Path

__all__ = ["line_shifts"]


def line_shifts(original: Path, patched: Path, changes: Mapping[str, bytes]) -> frozenset[int]:
    """Return by how many lines the patch moves lines of any Python source; 0 is always among them.

    Args:
        original: the original project's folder.
        patched: the patched project's folder; may be the same if ``changes`` are given.
        changes: new contents of files of ``patched``, by their path within it.

    """
    found = {0}
    for old, new in _changed_sources(original, patched, changes):
        matcher = SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False)
        for _, old_start, old_end, new_start, new_end in matcher.get_opcodes():
            found |= {new_start - old_start, new_end - old_end}
    return frozenset(found)


def _changed_sources(original: Path, patched: Path, changes: Mapping[str, bytes]) -> Iterator[tuple[bytes, bytes]]:
    names = set(changes)
    if patched.resolve() != original.resolve():
        names |= {str(path.relative_to(patched)) for path in patched.rglob("*.py")}
    for name in sorted(names):
        if name.endswith(".py") and (original / name).is_file():
            old = (original / name).read_bytes()
            new = changes.get(name)
            if new is None:
                new = (patched / name).read_bytes()
            if new != old:
                yield old, new
