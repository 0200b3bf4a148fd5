"""The story of a trace as steps in annotated source: where the values were created and moved, and the failing line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from devfix.model import Patch
from devfix.report.listing import Listings, Row, Step
from devfix.report.positions import SourceTexts

if TYPE_CHECKING:
    from devfix.sources import SourceFile
    from devfix.trace.failure_trace import Position
    from devfix.trace.tracing import Trace

__all__ = ["Story"]

_TONES = {"moved": "move", "copied": "move", "module": "move", "attached": "move", "last": "call"}


class _Texts(SourceTexts):
    """The files of a run, as far as each line that the run reported is still the same.

    A run chooses the file names of its code: it cannot make a page show a file that it has not read.
    """

    def __init__(self, positions: Iterable[Position]) -> None:
        super().__init__(Patch())
        self._changed: set[str] = set()
        for position in positions:
            if not position.code or self.lines(position.file)[position.line].strip() != position.code.strip():
                self._changed.add(position.file)
        self._lines.clear()

    def file(self, path: str) -> SourceFile | None:
        """Return a file; None if it can no longer be read, or has changed."""
        return None if path in self._changed else super().file(path)


class Story:
    """The listings of a trace.

    Args:
        trace: the traced run.

    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        positions = list(self._positions())
        self._texts = _Texts(positions)
        self._cells = {(each.file, each.line): each.cell for each in positions if each.cell is not None}
        self._listings = Listings(self._texts, self._number)

    def rows(self) -> list[Row]:
        """Return the lines of the facts about the values, and the failing line; none without values."""
        return self._listings.rows(list(self._steps()))

    def stack_rows(self) -> list[Row]:
        """Return the lines of the call stack, the outermost call first."""
        return self._listings.rows(list(self._stack_steps()))

    def _positions(self) -> Iterator[Position]:
        if self._trace.failure is not None:
            yield from self._trace.failure.frames
        for value in self._trace.values:
            yield from (fact.position for fact in value.facts if fact.position is not None)

    def _steps(self) -> Iterator[Step]:
        failure = self._trace.failure
        if failure is None or not self._trace.values:
            return
        for value in self._trace.values:
            for fact in value.facts:
                if fact.position is not None:
                    tone = _TONES.get(fact.kind, "origin")
                    yield self._step(fact.kind, tone, fact.position, f"{value.name}: {fact.text}")
        yield self._step("fails", "failure", failure.where, failure.message.partition("\n")[0])

    def _stack_steps(self) -> Iterator[Step]:
        frames = () if self._trace.failure is None else self._trace.failure.frames
        for number, frame in reversed(list(enumerate(frames))):
            name = frame.function if frame.function.startswith("<") else f"{frame.function}()"
            kind, tone = ("calls", "call") if number else ("fails", "failure")
            yield self._step(kind, tone, frame, f"in {name}")

    def _number(self, path: str, line: int) -> str:
        cell = self._cells.get((path, line))
        return str(line) if cell is None else f"{cell[0]}:{cell[1]}"

    def _step(self, kind: str, tone: str, position: Position, note: str) -> Step:
        start, end = self._bounds(position)
        return Step(kind, tone, position.file, position.line, start, end, position.code, note)

    def _bounds(self, position: Position) -> tuple[int, int]:
        """Return the columns of the expression in code points; (0, 0) if it is not on one line, or not known."""
        if position.span is None or not position.line == position.span[0] == position.span[2]:
            return 0, 0
        line = self._texts.lines(position.file)[position.line].encode()
        start, end = (len(line[:column].decode(errors="replace")) for column in (position.span[1], position.span[3]))
        return start, end
