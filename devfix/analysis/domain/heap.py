"""The heap of a path: objects by identifier, in pages that forks share until one of them writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devfix.analysis.domain.objects import HeapObject

__all__ = ["Heap"]

_BITS = 6  # 64 objects a page: a copy of a heap of 4,000 objects copies 64 references


class Heap:
    """Objects by identifier.

    States are forked at branches and kept at program points, by the thousands in a training script: a copy costs
    nothing, the first write to either of the two one reference per page, and a write the page of the object unless the
    heap owns it.
    """

    __slots__ = ("_owned", "_pages")

    def __init__(self) -> None:
        self._pages: dict[int, dict[int, HeapObject]] = {}
        self._owned: set[int] | None = set()  # pages; None while the table of pages is shared

    def copy(self) -> Heap:
        """Return an independent copy."""
        other = Heap.__new__(Heap)
        other._pages = self._pages
        other._owned = self._owned = None
        return other

    def get(self, key: int) -> HeapObject | None:
        """Return the object with this identifier; ``None`` if there is none."""
        page = self._pages.get(key >> _BITS)
        return page.get(key) if page is not None else None

    def __setitem__(self, key: int, obj: HeapObject) -> None:
        """Add or replace an object."""
        number = key >> _BITS
        if self._owned is None:
            self._pages, self._owned = self._pages.copy(), set()
        elif number in self._owned:
            self._pages[number][key] = obj
            return
        self._owned.add(number)
        known = self._pages.get(number)
        self._pages[number] = {key: obj} if known is None else {**known, key: obj}

    def __contains__(self, key: int) -> bool:
        """Return whether there is an object with this identifier."""
        page = self._pages.get(key >> _BITS)
        return page is not None and key in page

    def pages(self) -> Iterable[Mapping[int, HeapObject]]:
        """Return the objects by identifier, in parts that forks share."""
        return self._pages.values()

    def items(self) -> Iterator[tuple[int, HeapObject]]:
        """Yield every object with its identifier."""
        for page in self._pages.values():
            yield from page.items()

    def update(self, other: Heap) -> None:
        """Add the objects of another heap, in place of those with the same identifiers."""
        for key, obj in other.items():
            self[key] = obj
