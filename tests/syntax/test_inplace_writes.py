"""Moves that would lose what is written: every rewrite refuses them, and those that lose nothing are made."""

from __future__ import annotations

import ast

import pytest

from devfix.model import AppendCode, Span
from devfix.rewrite import RewriteError, rewrite
from devfix.syntax.inplace_writes import find_write
from devfix.syntax.tree import SourceTree


def moved(statement: str, expression: str) -> str:
    """``statement`` with ``.to(d)`` behind the first expression that reads ``expression``."""
    found = [n for n in ast.walk(ast.parse(statement)) if isinstance(n, ast.expr) and ast.unparse(n) == expression]
    place = found[0]
    span = Span(place.lineno, place.col_offset, place.end_lineno or 0, place.end_col_offset or 0)
    return rewrite(statement, [AppendCode("", span, ".to(d)")])


@pytest.mark.parametrize(
    ("statement", "expression"),
    [
        ("hits[c] += 1", "hits"),
        ("m.hits[c] += 1", "m.hits"),
        ("h[1:3] = x", "h"),
        ("table[k][0] = x", "table[k]"),
        ("del rows[0]", "rows"),
        ("p.data[0] = 1", "p"),
        ("p.data = x", "p"),
        ("a, b[0] = x", "b"),
        ("h.add_(x)", "h"),
        ("h.mul_(0.9).add_(x)", "h"),
        ("h.view(-1).add_(x)", "h.view(-1)"),
        ("y = h.add_(x).mean()", "h"),
        ("h[0].copy_(x)", "h[0]"),
        ("dist.broadcast(w.data, 0)", "w"),
        ("f(out=h)", "h"),
        ("nn.init.normal_(w)", "w"),
        ("nn.init.normal_(w[0])", "w"),
        ("dist.all_reduce(total)", "total"),
        ("td.all_reduce(total)", "total"),
        ("td.broadcast(total, 0)", "total"),
        ("dist.scatter(total, parts)", "total"),
        ("h += x", "h"),
    ],
)
def test_what_is_written_into_a_copy_is_lost(statement, expression):
    with pytest.raises(RewriteError) as caught:
        moved(statement, expression)

    assert str(caught.value) == f"the edit would write to a copy of `{expression}`"


@pytest.mark.parametrize(
    ("statement", "expression", "after"),
    [
        ("y = h[0] + x", "h[0]", "y = h[0].to(d) + x"),
        ("y[h] = x", "h", "y[h.to(d)] = x"),
        ("y[0] += h", "h", "y[0] += h.to(d)"),
        ("y.add_(h)", "h", "y.add_(h.to(d))"),
        ("plt.scatter(h, y)", "h", "plt.scatter(h.to(d), y)"),
        ("ax.scatter(h[0], y)", "h[0]", "ax.scatter(h[0].to(d), y)"),
        ("y = functools.reduce(h, f)", "h", "y = functools.reduce(h.to(d), f)"),
        ("y = torch.empty(3).uniform_()", "torch.empty(3)", "y = torch.empty(3).to(d).uniform_()"),
        ("h = h.clamp_(0, 1)", "h.clamp_(0, 1)", "h = h.clamp_(0, 1).to(d)"),
        ("x = x.requires_grad_()", "x.requires_grad_()", "x = x.requires_grad_().to(d)"),
        ("y = x.__len__()", "x", "y = x.to(d).__len__()"),
        ("loss = f(h, out=y)", "f(h, out=y)", "loss = f(h, out=y).to(d)"),
        ("y = dist.all_reduce(h.clone())", "h", "y = dist.all_reduce(h.to(d).clone())"),
    ],
)
def test_what_is_only_read_is_moved(statement, expression, after):
    assert moved(statement, expression) == after


@pytest.mark.parametrize(
    ("statement", "written"),
    [
        ("self.hits[c] += 1", "self.hits[c]"),
        ("self.hits += 1", "self.hits"),
        ("self.hits.add_(1)", "self.hits"),
        ("self.hits[0].add_(1)", "self.hits[0]"),
        ("torch.add(x, y, out=self.hits)", "self.hits"),
        ("self.hits = self.hits + 1", None),
        ("x = self.hits[c]", None),
        ("x.add_(self.hits)", None),
        ("for x in y: self.hits.add_(1)", None),
    ],
)
def test_what_a_statement_writes_into(statement, written):
    tree = SourceTree("", statement)

    found = find_write(tree, tree.tree.body[0], "hits")

    assert (found and tree.source(found)) == written
