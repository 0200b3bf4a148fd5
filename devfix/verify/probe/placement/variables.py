"""Tensors in the program's variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor

from ..provenance.histories import Node
from .batches import derives_from, uses
from .tensors import describe_tensor, storage_of

__all__ = ["Variables"]

_FOLDED = 3  # more tensors than this in one container and on one device are one row
_MAX_ROWS = 60
_Rank = tuple[int, int, int]


class Variables:
    """Tensors with the best name of each."""

    def __init__(self, history: Callable[[Tensor], Node | None]) -> None:
        self._history = history
        self._found: dict[int, tuple[_Rank, str, Tensor]] = {}

    def add(self, text: str, tensor: Tensor, rank: _Rank) -> None:
        """Add a name of a tensor; the name with the lowest rank is used."""
        known = self._found.get(id(tensor))
        if known is None or rank < known[0]:
            self._found[id(tensor)] = rank, text, tensor

    def with_history(self, node: Node) -> list[str]:
        """Return the names of the tensors whose storage has this history."""
        return [text for _, text, tensor in self._ordered() if self._history(tensor) is node]

    def _ordered(self) -> list[tuple[_Rank, str, Tensor]]:
        return sorted(self._found.values(), key=lambda entry: (entry[0][1], entry[1]))

    def describe(
        self,
        device_of: Callable[[Tensor], str],
        separate: Iterable[Tensor],
        fields: dict[int, Node],
        operands: set[int],
    ) -> list[dict[str, Any]]:
        """Return tensors as JSON, except those that share a storage with ``apart`` and the fields of batches.

        Each has ``batch`` (computed from a field of a batch), ``sent`` (the device of its last copy), ``operand`` (of
        the failing call) and ``count``; similar tensors of one container are one row, with ``[…]`` in its name.
        """
        known = {storage_of(tensor)[0] for tensor in separate} - {0}
        rows: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for _, text, tensor in self._ordered():
            node = self._history(tensor)
            if storage_of(tensor)[0] in known or id(node) in fields:
                continue
            row = {
                "name": text,
                "count": 1,
                **describe_tensor(tensor, device_of),
                "batch": derives_from(node, fields),
                **uses(node, operands),
            }
            rows.setdefault((_container(text), row["place"], row["batch"], row["operand"]), []).append(row)
        return [row for (name, *_), group in rows.items() for row in _folded(name, group)][:_MAX_ROWS]


def _container(text: str) -> str:
    return re.sub(r"\[[^\]]*\]", "[…]", text)


def _folded(name: str, group: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if len(group) <= _FOLDED:
        return group
    total = sum(row["bytes"] for row in group)
    return [{**group[0], "name": name, "count": len(group), "bytes": total, "shape": None, "sent": None}]
