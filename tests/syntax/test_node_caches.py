"""Caches of functions of nodes: what they hold is freed on request."""

from __future__ import annotations

import weakref

from devfix.syntax.node_caches import empty_node_caches, node_cache
from devfix.syntax.tree import SourceTree


def test_results_are_kept_until_the_caches_are_emptied() -> None:
    asked: list[str] = []

    @node_cache(8)
    def path_of(tree: SourceTree) -> str:
        asked.append(tree.path)
        return tree.path

    tree = SourceTree("a.py", "x = 1\n")
    alive = weakref.ref(tree)
    assert path_of(tree) == path_of(tree) == "a.py"
    assert asked == ["a.py"]
    assert path_of(tree) == "a.py"
    empty_node_caches()
    assert path_of(tree) == "a.py"
    assert asked == ["a.py", "a.py"]
    del tree
    assert alive() is not None
    empty_node_caches()
    assert alive() is None
