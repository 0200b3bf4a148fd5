"""Batches: the fields that data loaders yield, and the tensors computed from them."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch.utils.data.dataloader
from torch import Tensor

from ..parameters import untracked
from ..provenance.histories import Histories, Node
from ..provenance.naming import reachable
from .tensors import describe_tensor

__all__ = ["Batches", "derives_from", "uses"]

_MAX_FIELDS = 50


class Batches:
    """The last batch of each data loader: its fields and their histories, without the tensors."""

    def __init__(self, histories: Histories, patch: Callable[[Any, str, Callable[[Any], Any]], None]) -> None:
        self._histories = histories
        self._loaders: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self._last: dict[int, tuple[Any, list[tuple[dict[str, Any], Node | None]]]] = {}
        patch(torch.utils.data.DataLoader, "__iter__", self._watch_iter)
        patch(torch.utils.data.dataloader._BaseDataLoaderIter, "__next__", self._watch_next)

    def _watch_iter(self, real: Any) -> Any:
        def iterate(loader: Any) -> Any:
            iterator = real(loader)
            with suppress(TypeError):  # a user iterator that does not support weak references
                self._loaders[iterator] = weakref.ref(loader)
            return iterator

        return iterate

    def _watch_next(self, real: Any) -> Any:
        def next_batch(iterator: Any) -> Any:
            batch = real(iterator)
            loader = self._loaders.get(iterator)
            if loader is not None:
                self._last[id(loader())] = loader, self._fields(batch)
            return batch

        return next_batch

    def _fields(self, batch: Any) -> list[tuple[dict[str, Any], Node | None]]:
        found: list[tuple[dict[str, Any], Node | None]] = []
        with untracked():
            for text, value, _ in reachable({"": batch}):
                if isinstance(value, Tensor) and len(found) < _MAX_FIELDS:
                    about = {"field": text, **describe_tensor(value, self._histories.device_of)}
                    found.append((about, self._histories.of(value)))
        return found

    def nodes(self) -> dict[int, Node]:
        """Return the histories of all fields by their ids."""
        pairs = [pair for _, fields in self._last.values() for pair in fields]
        return {id(node): node for _, node in pairs if node is not None}

    def describe(
        self, names: dict[int, str], variables: Callable[[Node], list[str]], operands: set[int]
    ) -> list[dict[str, Any]]:
        """Return loaders as JSON: ``name`` and ``fields``, each with ``variables``, ``sent`` and ``operand``."""
        return [
            {
                "name": names.get(id(loader()), "DataLoader") if loader() is not None else "DataLoader",
                "fields": [
                    {
                        **about,
                        "variables": [] if node is None else variables(node),
                        **uses(node, operands),
                    }
                    for about, node in fields
                ],
            }
            for loader, fields in self._last.values()
        ]


def uses(node: Node | None, operands: set[int]) -> dict[str, Any]:
    """Return the uses of a value: ``sent``, the device of its last copy, and ``operand`` of the failing call.

    ``operands`` are the ids of the histories of that call's operands.
    """
    return {"sent": None if node is None else node.sent, "operand": id(node) in operands}


def derives_from(node: Node | None, nodes: dict[int, Node]) -> bool:
    """Whether a value is one of ``nodes``, or was computed from one alone: a transfer, a cast, a scaling."""
    while node is not None:
        if id(node) in nodes:
            return True
        node = node.parents[0] if len(node.parents) == 1 else None
    return False
