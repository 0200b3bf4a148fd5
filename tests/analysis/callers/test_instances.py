"""Instances for any caller: attributes that a method with a device argument places."""

from __future__ import annotations

import ast

from devfix.analysis.callers.instances import placed_attributes
from devfix.syntax.tree import SourceTree


def _placed(text: str) -> set[str]:
    tree = SourceTree("lib.py", f"import torch\n{text}")
    owner = next(node for node in reversed(tree.tree.body) if isinstance(node, ast.ClassDef))
    return set(placed_attributes(owner, tree))


def test_a_method_with_a_device_places_what_it_sets():
    assert _placed("class A:\n    def to_steps(self, n, device):\n        self.steps = make(n, device)\n") == {"steps"}


def test_a_base_of_the_file_places_attributes_too():
    text = "class B:\n    def place(self, device):\n        self.x = 1\nclass A(B):\n    pass\n"
    assert _placed(text) == {"x"}


def test_constructors_and_methods_without_a_device_place_nothing():
    text = "class A:\n    def __init__(self, device):\n        self.x = 1\n    def f(self):\n        self.y = 1\n"
    assert _placed(text) == set()


def test_a_method_that_the_constructor_calls_places_nothing_later():
    text = "class A:\n    def load(self, device):\n        self.x = make(device)\n"
    tree = SourceTree("lib.py", text)
    owner = tree.tree.body[0]
    assert isinstance(owner, ast.ClassDef)

    assert placed_attributes(owner, tree) == {"x"}
    assert placed_attributes(owner, tree, builders=[owner.body[0]]) == set()
