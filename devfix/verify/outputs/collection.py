"""Everything that a run produced: what it printed, and the files that it wrote.

The files are read by devfix's own process after the run, without torch and without executing anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from devfix.verify.outputs.files import (
    Budget,
    Entry,
    Snapshot,
    Unreadable,
    changed_entries,
    open_content,
)
from devfix.verify.outputs.formats import parse
from devfix.verify.outputs.lines import has_computed_number, parse_line
from devfix.verify.outputs.text import split_lines
from devfix.verify.outputs.values import Array, Value

__all__ = ["PRINTED", "Captured", "File", "Outputs", "collect"]


#: Name of what a run prints, among its outputs.
PRINTED = "printed output"

_LARGEST_COPY = 4 << 20


class Captured(NamedTuple):
    """The text that a run printed.

    Attributes:
        head: its beginning, all of it unless it is very long.
        tail: the end of a very long text.
        omitted: number of bytes between them.
        digest: of these bytes.

    """

    head: str
    tail: str = ""
    omitted: int = 0
    digest: str = ""

    def mapped(self, change: Callable[[str], str]) -> Captured:
        """Return the text with a change in both parts."""
        return self._replace(head=change(self.head), tail=change(self.tail))


@dataclass(frozen=True)
class File:
    """A file that the script wrote, changed or deleted.

    Attributes:
        kind: ``text``, ``values``, ``image`` or ``binary``; ``copy`` of a file of the project; a symbolic ``link``;
            ``deleted``, or ``unreadable``.
        lines: of a text.
        values: of anything else, by path in the file.
        note: for a copy the copied file; for a link its target; for an unreadable file the reason.
        modified: time of the last change in nanoseconds; files of unstable names are paired in this order.

    """

    kind: str
    lines: tuple[str, ...] = ()
    values: Mapping[str, Value] = field(default_factory=dict)
    note: str = ""
    modified: int = 0

    @property
    def contents(self) -> str:
        """A description, as ``10 arrays, 2 other values``."""
        if self.kind == "copy":
            return f"a copy of {self.note}"
        if self.kind == "link":
            return f"a link to {self.note}"
        if self.kind in ("deleted", "unreadable"):
            return f"{self.kind}: {self.note}" if self.note else self.kind
        if self.kind == "text":
            return _count(len(self.lines), "line")
        if self.kind in ("image", "binary"):
            return f"{self.kind}, " + _count(sum(_size(value) for value in self.values.values()), "byte")
        arrays = sum(isinstance(value, Array) for value in self.values.values())
        parts = [_count(arrays, "array")] if arrays else []
        others = len(self.values) - arrays
        if others or not arrays:
            parts.append(_count(others, "other value" if arrays else "value"))
        return ", ".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _size(value: Value) -> int:
    return value.shape[0] if isinstance(value, Array) and value.shape else 0


@dataclass(frozen=True)
class Outputs:
    """What a run produced.

    Attributes:
        lines: what it printed on either stream, as a terminal shows it in the end.
        tail: the last lines of a very long output; there are others between ``lines`` and these.
        omitted: number of bytes in between.
        omitted_digest: of these bytes.
        files: the files that it wrote, changed or deleted, by name.
        shifts: by how many lines its source differs in place from that of the original, anywhere.

    """

    lines: tuple[str, ...] = ()
    tail: tuple[str, ...] = ()
    omitted: int = 0
    omitted_digest: str = ""
    files: Mapping[str, File] = field(default_factory=dict)
    shifts: frozenset[int] = frozenset({0})

    @property
    def is_evidence(self) -> bool:
        """Whether any of it depends on computed numbers: a printed float, an array, or a number in a file."""
        texts = (self.lines, self.tail, *(file.lines for file in self.files.values()))
        if any(has_computed_number(line) for lines in texts for line in lines):
            return True
        return any(
            isinstance(value, float) or (isinstance(value, Array) and value.dtype != "bytes")
            for file in self.files.values()
            for value in file.values.values()
        )

    @property
    def results(self) -> Counter[Hashable]:
        """The lines with computed numbers, apart from what differs by nature, and the arrays of each file."""
        texts = (self.lines, self.tail, *(file.lines for file in self.files.values()))
        found: Counter[Hashable] = Counter(
            parse_line(line).tokens for lines in texts for line in lines if has_computed_number(line)
        )
        found.update(
            value.digest
            for file in self.files.values()
            for value in file.values.values()
            if isinstance(value, Array) and value.dtype != "bytes"
        )
        return found

    @property
    def summary(self) -> tuple[tuple[str, str], ...]:
        """Name and description of each output."""
        printed = _count(sum(1 for line in (*self.lines, *self.tail) if line.strip()), "line")
        if self.omitted:
            printed += f", and {self.omitted} bytes in between"
        files = tuple((name, file.contents) for name, file in sorted(self.files.items()))
        return ((PRINTED, printed), *files) if any(map(str.strip, self.lines)) else files


def collect(before: Snapshot, printed: Captured) -> Outputs:
    """Return what a run produced, after its end.

    Args:
        before: the files before the script started.
        printed: what it printed, with paths relative to the project.

    """
    budget = Budget()
    files: dict[str, File] = {}
    for entry in changed_entries(before):
        if len(files) >= budget.files:
            break
        files[entry.name] = _read(entry, before, budget)
    return Outputs(
        tuple(split_lines(printed.head)),
        tuple(split_lines(printed.tail)) if printed.omitted else (),
        printed.omitted,
        printed.digest,
        files,
    )


def _read(entry: Entry, before: Snapshot, budget: Budget) -> File:
    if entry.path is None:
        return File("deleted")
    if entry.target is not None:
        return File("link", note=entry.target, modified=entry.modified)

    def original(data: bytes) -> str | None:
        return _original(data, entry.name, before, budget)

    try:
        with closing(open_content(entry.path, budget, entry.links)) as content:
            may_be_copy = content.size <= _LARGEST_COPY and content.size in before.names_by_size
            copied = original(content.read()) if may_be_copy else None
            if copied is not None:
                return File("copy", note=copied, modified=entry.modified)
            parsed = parse(content, original)
            return File(parsed.kind, parsed.lines, parsed.values, modified=entry.modified)
    except Unreadable as error:
        return File("unreadable", note=str(error), modified=entry.modified)


def _original(data: bytes, copy: str, before: Snapshot, budget: Budget) -> str | None:
    """Return the name of the project's file that these bytes are a copy of: scripts keep their source with the results.

    Args:
        data: the bytes.
        copy: name of the file that has them; it is no copy of itself.
        before: the project's files.
        budget: what may still be read.

    """
    if not 0 < len(data) <= _LARGEST_COPY:
        return None
    for name in before.names_by_size.get(len(data), ()):
        if name != copy:
            with suppress(Unreadable), closing(open_content(before.path_of(name), budget)) as original:
                if original.read() == data:
                    return name
    return None
