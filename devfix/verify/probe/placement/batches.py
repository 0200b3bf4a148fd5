"""Batches: what data loaders yield, and which tensors came of it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch.utils.data.dataloader
from torch import Tensor

from ..parameters import unwatched
from ..provenance.histories import Histories, Node
from ..provenance.naming import reachable
from .tensors import describe

__all__ = ["Batches", "came_of", "fate"]

_MOST_FIELDS = 50


class Batches:
    """The last batch of each data loader: what its fields were, and their histories, without the tensors."""

    def __init__(self, histories: Histories, patch: Callable[[Any, str, Callable[[Any], Any]], None]) -> None:
        self._histories = histories
        self._loaders: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self._last: dict[int, tuple[Any, list[tuple[dict[str, Any], Node | None]]]] = {}
        patch(torch.utils.data.DataLoader, "__iter__", self._watch_iter)
        patch(torch.utils.data.dataloader._BaseDataLoaderIter, "__next__", self._watch_next)

    def _watch_iter(self, real: Any) -> Any:
        def iterate(loader: Any) -> Any:
            iterator = real(loader)
            with suppress(TypeError):  # an iterator of the user's that takes no weak reference
                self._loaders[iterator] = weakref.ref(loader)
            return iterator

        return iterate

    def _watch_next(self, real: Any) -> Any:
        def following(iterator: Any) -> Any:
            batch = real(iterator)
            loader = self._loaders.get(iterator)
            if loader is not None:
                self._last[id(loader())] = loader, self._fields(batch)
            return batch

        return following

    def _fields(self, batch: Any) -> list[tuple[dict[str, Any], Node | None]]:
        found: list[tuple[dict[str, Any], Node | None]] = []
        with unwatched():
            for text, value, _ in reachable({"": batch}):
                if isinstance(value, Tensor) and len(found) < _MOST_FIELDS:
                    about = {"field": text, **describe(value, self._histories.device_of)}
                    found.append((about, self._histories.of(value)))
        return found

    def nodes(self) -> dict[int, Node]:
        """The histories of all fields, by their identity."""
        pairs = [pair for _, fields in self._last.values() for pair in fields]
        return {id(node): node for _, node in pairs if node is not None}

    def tell(
        self, names: dict[int, str], variables: Callable[[Node], list[str]], operands: set[int]
    ) -> list[dict[str, Any]]:
        """Loaders as JSON: ``name`` and ``fields``, each with ``variables`` that hold it, ``sent`` and ``operand``."""
        return [
            {
                "name": names.get(id(loader()), "DataLoader") if loader() is not None else "DataLoader",
                "fields": [
                    {
                        **about,
                        "variables": [] if node is None else variables(node),
                        **fate(node, operands),
                    }
                    for about, node in fields
                ],
            }
            for loader, fields in self._last.values()
        ]


def fate(node: Node | None, operands: set[int]) -> dict[str, Any]:
    """``sent``, the device that a copy of a value went to, and ``operand``, whether the call that failed worked on it.

    ``operands`` are the identities of the histories of what that call worked on.
    """
    return {"sent": None if node is None else node.sent, "operand": id(node) in operands}


def came_of(node: Node | None, nodes: dict[int, Node]) -> bool:
    """Whether a value is one of ``nodes``, or was made of one alone: a copy elsewhere, another type, a scaled one."""
    while node is not None:
        if id(node) in nodes:
            return True
        node = node.parents[0] if len(node.parents) == 1 else None
    return False
