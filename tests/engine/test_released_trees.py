"""Syntax trees leave the memory between scans, which changes nothing but the memory."""

from __future__ import annotations

import gc

import pytest
from engine_programs import HEAD, IMPORTS, settings

from devfix import sources
from devfix.engine import workspace
from devfix.engine.fixpoint import apply, check
from devfix.engine.workspace import Workspace
from devfix.sources import freed_memory
from devfix.syntax.node_caches import empty_node_caches
from devfix.syntax.tree import SourceTree

SHARED = "import torch\n\n\ndef noise(x):\n    return x + torch.zeros(3)\n"
USE = IMPORTS + "from shared import noise\n\nprint(noise(torch.ones(3).cuda()))\n"
LIBRARY = "import torch\nfrom .base import table\n\n\ndef shift(x: torch.Tensor):\n    return x + table()\n"
BASE = "import torch\n\n\ndef table():\n    return torch.zeros(3)\n"


@pytest.fixture
def files(write):
    named = {f"use{number}": USE + f"# {number}\n" for number in range(3)}
    package = {"pkg____init__": "", "pkg__base": BASE, "pkg__shift": LIBRARY, "pkg__twice": LIBRARY + "\n\nx = 1\n"}
    return write(shared=SHARED, head=HEAD, **named, **package)


@pytest.mark.thorough
def test_the_outcome_does_not_depend_on_released_trees(files, monkeypatch):
    expected = apply(files, settings())
    released: list[str] = []
    release = SourceTree.release
    monkeypatch.setattr(SourceTree, "release", lambda tree: (released.append(tree.path), release(tree))[1])
    monkeypatch.setattr(workspace, "MOST_LOADED", 0)

    assert apply(files, settings()) == expected
    assert len(expected.resolutions) > 1
    assert {"use0.py", "shared.py"} <= {*released}


def test_the_trees_that_were_used_last_stay(files, monkeypatch):
    space = Workspace(files, settings())
    trees = [space.parse(file.path, file.text) for file in files]
    first = space.parse(files[0].path, files[0].text)  # used again
    monkeypatch.setattr(workspace, "MOST_LOADED", 2 * (len(first.text) + len(trees[-1].text)))
    space.release_trees()

    assert first is trees[0]
    assert [tree.is_loaded for tree in trees] == [True, *[False] * (len(trees) - 2), True]


def test_facts_of_imported_files_do_not_keep_their_trees(files):
    space = Workspace(files, settings())
    path = sources.read("pkg/shift.py").path
    entry = space.parse(path, space.text(path))

    assert not space.facts(path).is_transparent(path)
    assert entry.is_loaded
    assert not space.parse("pkg/base.py", BASE).is_loaded


def test_a_run_leaves_no_tree_in_memory(files):
    empty_node_caches()  # of what other tests have analysed
    before = count_trees()
    apply(files, settings())

    assert count_trees() == before


def count_trees():
    gc.collect()
    return sum(type(each) is SourceTree for each in gc.get_objects())


def test_nothing_stays_frozen_after_a_run(files, monkeypatch):
    frozen, freeze = [], gc.freeze
    monkeypatch.setattr(freed_memory, "_growth", -(1 << 40))
    monkeypatch.setattr(freed_memory, "_malloc_trim", lambda: lambda size: 0)
    monkeypatch.setattr(freed_memory.gc, "freeze", lambda: (freeze(), frozen.append(gc.get_freeze_count())))

    check(files, settings())

    assert frozen[0] > 0
    assert gc.get_freeze_count() == 0
