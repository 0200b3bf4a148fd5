"""Moves that are forgotten, dropped, misspelt or hard-coded."""

from __future__ import annotations

import ast

from benchmarks.repair.mutations import operator, removed_line
from benchmarks.repair.operators._sites import (
    FACTORIES,
    LOOPS,
    Sites,
    assigned_back,
    constructs,
    inside,
    moved,
    moves,
    name,
    without,
)
from devfix.syntax.tree import SourceTree

__all__ = ["OPERATORS"]

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _forgotten_batch(tree: SourceTree) -> Sites:
    """``x = x.to(device)`` in a loop."""
    for call in moves(tree):
        if assigned_back(tree, call) and inside(tree, call, LOOPS):
            gone = removed_line(tree, tree.statement(call))
            if gone is not None:
                yield call, gone


def _forgotten_statement(tree: SourceTree) -> Sites:
    """``model.to(device)`` as a statement, or ``model = model.to(device)`` outside loops."""
    for call in moves(tree):
        alone = isinstance(tree.parents[call], ast.Expr)
        if alone or (assigned_back(tree, call) and not inside(tree, call, LOOPS)):
            gone = removed_line(tree, tree.statement(call))
            if gone is not None:
                yield call, gone


def _forgotten_construction(tree: SourceTree) -> Sites:
    """``Net(...).to(device)``."""
    for call in moves(tree):
        if constructs(moved(call)):
            yield call, without(tree, call)


def _forgotten_factory(tree: SourceTree) -> Sites:
    """``torch.randn(...).to(device)``."""
    for call in moves(tree):
        inner = moved(call)
        if isinstance(inner, ast.Call) and name(inner) in FACTORIES | {"from_numpy", "one_hot"}:
            yield call, without(tree, call)


def _forgotten_element(tree: SourceTree) -> Sites:
    """The move inside a comprehension, a tuple or a dictionary."""
    for call in moves(tree):
        parent = tree.parents[call]
        if isinstance(parent, (*_COMPREHENSIONS, ast.Tuple, ast.List, ast.Dict)):
            yield call, without(tree, call)


def _forgotten_argument(tree: SourceTree) -> Sites:
    """``model(x.to(device))``, ``weight=w.to(device)``."""
    for call in moves(tree):
        parent = tree.parents[call]
        plain = not constructs(moved(call)) and not isinstance(moved(call), ast.Call)
        if plain and (isinstance(parent, ast.keyword) or (isinstance(parent, ast.Call) and call in parent.args)):
            yield call, without(tree, call)


def _forgotten_value(tree: SourceTree) -> Sites:
    """``y = batch["y"].to(device)``: bound under another name."""
    for call in moves(tree):
        parent = tree.parents[call]
        simple = isinstance(moved(call), (ast.Name, ast.Attribute, ast.Subscript))
        if isinstance(parent, ast.Assign) and simple and not assigned_back(tree, call):
            yield call, without(tree, call)


def _dropped_result(tree: SourceTree) -> Sites:
    """``x = x.to(device)`` becomes ``x.to(device)``."""
    for call in moves(tree):
        if assigned_back(tree, call):
            yield call, [(tree.span(tree.statement(call)), tree.source(call))]


def _stale_alias(tree: SourceTree) -> Sites:
    """``x = x.to(device)`` becomes ``x_dev = x.to(device)``; what follows still uses ``x``."""
    for call in moves(tree):
        parent = tree.parents[call]
        if isinstance(parent, ast.Assign) and assigned_back(tree, call) and isinstance(parent.targets[0], ast.Name):
            yield call, [(tree.span(parent.targets[0]), f"{parent.targets[0].id}_dev")]


def _missing_call(tree: SourceTree) -> Sites:
    """``model.cuda()`` becomes ``model.cuda``."""
    for call in moves(tree):
        if not call.args and not call.keywords:
            yield call, [(tree.span(call), tree.source(call.func))]


def _hard_coded_cpu(tree: SourceTree) -> Sites:
    """``x.to(device)`` becomes ``x.to("cpu")``."""
    for call in moves(tree):
        if call.args and name(call) == "to":
            yield call, [(tree.span(call.args[0]), '"cpu"')]


def _hard_coded_index(tree: SourceTree) -> Sites:
    """``x.to(device)`` becomes ``x.to("cuda:1")``, on a machine with one accelerator."""
    for call in moves(tree):
        if call.args and name(call) == "to":
            yield call, [(tree.span(call.args[0]), '"cuda:1"')]


OPERATORS = (
    operator("forgotten-batch", _forgotten_batch),
    operator("forgotten-statement", _forgotten_statement),
    operator("forgotten-construction", _forgotten_construction),
    operator("forgotten-factory", _forgotten_factory),
    operator("forgotten-element", _forgotten_element),
    operator("forgotten-argument", _forgotten_argument),
    operator("forgotten-value", _forgotten_value),
    operator("dropped-result", _dropped_result),
    operator("stale-alias", _stale_alias),
    operator("missing-call", _missing_call),
    operator("hard-coded-cpu", _hard_coded_cpu),
    operator("hard-coded-index", _hard_coded_index),
)
