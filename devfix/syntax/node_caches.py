"""Caches of facts about syntax nodes.  They keep the nodes in memory, and are emptied with the trees."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar, cast

__all__ = ["empty_node_caches", "node_cache"]

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
_empty: list[Callable[[], None]] = []


def node_cache(maxsize: int) -> Callable[[Callable[_Given, _Result]], Callable[_Given, _Result]]:
    """Cache the results of a function of nodes, trees or what refers to them, until :func:`empty_node_caches`."""

    def decorate(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
        cached = lru_cache(maxsize)(function)
        _empty.append(cached.cache_clear)
        return cast("Callable[_Given, _Result]", cached)

    return decorate


def empty_node_caches() -> None:
    """Empty the caches, so that trees that nothing else needs are freed."""
    for empty in _empty:
        empty()
