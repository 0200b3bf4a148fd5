"""Tensors that the program's variables hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor

from ..provenance.histories import Node
from .batches import came_of, fate
from .tensors import describe, memory_of

__all__ = ["Variables"]

_FOLDED = 3  # more tensors than this in one container and one place are one row
_MOST_ROWS = 60
_Rank = tuple[int, int, int]


class Variables:
    """Tensors by their names, the best name of each."""

    def __init__(self, history: Callable[[Tensor], Node | None]) -> None:
        self._history = history
        self._found: dict[int, tuple[_Rank, str, Tensor]] = {}

    def add(self, text: str, tensor: Tensor, rank: _Rank) -> None:
        """A name of a tensor; the lowest rank is the best name."""
        known = self._found.get(id(tensor))
        if known is None or rank < known[0]:
            self._found[id(tensor)] = rank, text, tensor

    def with_history(self, node: Node) -> list[str]:
        """The names of the tensors in the memory that has this history."""
        return [text for _, text, tensor in self._ordered() if self._history(tensor) is node]

    def _ordered(self) -> list[tuple[_Rank, str, Tensor]]:
        return sorted(self._found.values(), key=lambda entry: (entry[0][1], entry[1]))

    def tell(
        self,
        place_of: Callable[[Tensor], str],
        apart: Iterable[Tensor],
        fields: dict[int, Node],
        operands: set[int],
    ) -> list[dict[str, Any]]:
        """Tensors as JSON, but for those in memory of ``apart`` and the fields of batches themselves.

        Each has ``batch`` (it came of a field of a batch), ``sent`` (the device that a copy of it went to), ``operand``
        (the call that failed worked on it) and ``count``; alike ones of one container are one, with ``[…]`` for a name.
        """
        known = {memory_of(tensor)[0] for tensor in apart} - {0}
        rows: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for _, text, tensor in self._ordered():
            node = self._history(tensor)
            if memory_of(tensor)[0] in known or id(node) in fields:
                continue
            row = {
                "name": text,
                "count": 1,
                **describe(tensor, place_of),
                "batch": came_of(node, fields),
                **fate(node, operands),
            }
            rows.setdefault((_container(text), row["place"], row["batch"], row["operand"]), []).append(row)
        return [row for (name, *_), group in rows.items() for row in _folded(name, group)][:_MOST_ROWS]


def _container(text: str) -> str:
    return re.sub(r"\[[^\]]*\]", "[…]", text)


def _folded(name: str, group: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if len(group) <= _FOLDED:
        return group
    total = sum(row["bytes"] for row in group)
    return [{**group[0], "name": name, "count": len(group), "bytes": total, "shape": None, "sent": None}]
