"""Splices: insertions, removals and moves in a text, checked for overlaps and rendered once.

A position in the text is more than an offset. Between ``a`` and ``b`` on adjacent lines, an insertion *after a* (side
`LEFT`) precedes an insertion *before b* (side `RIGHT`). Of two insertions after nested nodes that end together, the one
of the inner node comes first. A `Mark` encodes this order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from devfix.rewrite.errors import RewriteError

__all__ = ["Copy", "Part", "Splice", "Splices"]

LEFT = 0
RIGHT = 1

# offset, side, rank among nested nodes (inner first on the left side, outer first on the right side), sequence number
Mark = tuple[int, int, float, float]
_INFINITY = float("inf")


@dataclass(eq=False)
class Splice:
    """Replaces ``text[start:end]`` by ``parts``; an insertion if both offsets are equal."""

    start: int
    end: int
    low: Mark
    high: Mark
    parts: Sequence[Part] = ()
    children: list[Splice] = field(default_factory=list)
    rendered: int = 0


@dataclass(frozen=True)
class Copy:
    """The original text from ``start`` to ``end`` inside the range of ``owner``, with the splices it contains."""

    owner: Splice
    start: int
    end: int


Part = str | Copy


class Splices:
    """The splices of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._all: list[Splice] = []

    def after(self, offset: int, node_start: int, parts: Sequence[Part]) -> None:
        """Insert ``parts`` at ``offset``, the end of a node that starts at ``node_start``."""
        self._insert((offset, LEFT, -node_start, len(self._all)), parts)

    def before(self, offset: int, node_end: int, parts: Sequence[Part]) -> None:
        """Insert ``parts`` at ``offset``, the start of a node that ends at ``node_end``."""
        self._insert((offset, RIGHT, -node_end, len(self._all)), parts)

    def replace(self, start: int, end: int, parts: Sequence[Part] = ()) -> Splice:
        """Replace ``text[start:end]``.

        A splice inside the range must be part of a `Copy` in ``parts``; otherwise `render` raises.
        """
        splice = Splice(start, end, (start, RIGHT, -end, -1), (end, LEFT, -start, _INFINITY), parts)
        self._all.append(splice)
        return splice

    def render(self) -> str:
        """Return the new text; raise `RewriteError` if splices overlap, or one would be lost or duplicated."""
        children = self._nest()
        start, end = (0, LEFT, -_INFINITY, -1), (len(self._text), RIGHT, _INFINITY, _INFINITY)
        root = Splice(0, len(self._text), start, end, children=children)
        out: list[str] = []
        self._render(root, start, end, 0, len(self._text), out)
        if any(splice.rendered != 1 for splice in self._all):
            raise RewriteError("the edits overlap")
        return "".join(out)

    def _insert(self, mark: Mark, parts: Sequence[Part]) -> None:
        self._all.append(Splice(mark[0], mark[0], mark, mark, parts))

    def _nest(self) -> list[Splice]:
        """Attach each splice to the smallest one around it; return the outermost ones."""
        outermost: list[Splice] = []
        stack: list[Splice] = []
        for splice in sorted(self._all, key=lambda splice: (splice.low, -splice.end)):
            while stack and stack[-1].high < splice.low:
                stack.pop()
            if stack and splice.high > stack[-1].high:
                raise RewriteError("the edits overlap")
            (stack[-1].children if stack else outermost).append(splice)
            stack.append(splice)
        return outermost

    def _render(self, owner: Splice, low: Mark, high: Mark, start: int, end: int, out: list[str]) -> None:
        position = start
        for child in owner.children:
            if child.low < low or child.high > high:
                continue
            out.append(self._text[position : child.start])
            position = child.end
            child.rendered += 1
            if child.rendered > 1:
                raise RewriteError("the edits overlap")
            for part in child.parts:
                if isinstance(part, str):
                    out.append(part)
                else:
                    first = (part.start, RIGHT, -_INFINITY, -1)
                    last = (part.end, LEFT, _INFINITY, _INFINITY)
                    self._render(part.owner, first, last, part.start, part.end, out)
        out.append(self._text[position:end])
