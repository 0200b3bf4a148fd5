"""Whether a program replicates its modules: ``parameters()`` of a replica is empty.

https://github.com/pytorch/pytorch/issues/36035
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.syntax.tree import SourceTree

__all__ = ["has_replicas", "names_replication"]

_REPLICATES = frozenset({"DataParallel", "data_parallel"})


def has_replicas(observations: Observations) -> bool:
    """Return whether a file of a program replicates modules."""
    return any(map(names_replication, observations.trees))


def names_replication(tree: SourceTree) -> bool:
    """Return whether a file names what replicates modules (cached)."""
    return tree.derived(_names_replication)


def _names_replication(tree: SourceTree) -> bool:
    return not _REPLICATES.isdisjoint(_names(tree))


def _names(tree: SourceTree) -> Iterator[str]:
    for node in tree.nodes:
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                yield name
