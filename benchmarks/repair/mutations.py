"""Mutations and their application to source text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from devfix.model import Span
from devfix.syntax.tree import SourceTree

__all__ = [
    "Mutation",
    "Operator",
    "Replacement",
    "added_line",
    "moved_line",
    "mutated",
    "operator",
    "removed_line",
]

#: A span of the text and its replacement.
Replacement = tuple[Span, str]

SiteFinder = Callable[[SourceTree], Iterator[tuple[ast.expr | ast.stmt, list[Replacement]]]]
Basis = Callable[[SourceTree, ast.AST], list[Replacement]]


@dataclass(frozen=True)
class Mutation:
    """One bug planted at one site: the operator's name, the site's line from 1, and the texts that change.

    ``basis`` are replacements that make the correct program which the bug is planted into, where it takes another one
    than the given (an optimizer that makes its state when it is built).
    """

    operator: str
    line: int
    replacements: tuple[Replacement, ...]
    basis: tuple[Replacement, ...] = ()


@dataclass(frozen=True)
class Operator:
    """A mutation operator: one kind of device bug.

    ``sites`` yields, for a parsed file, the replacements of each place where the operator applies, with the node that
    names the place; ``basis`` those by which the correct program differs from the given one, for the same node.
    """

    name: str
    title: str
    sites: SiteFinder
    basis: Basis

    def mutations(self, tree: SourceTree) -> Iterator[Mutation]:
        """Return the mutations of a file, in line order."""
        found = [
            Mutation(self.name, node.lineno, _joined(changes, basis), tuple(basis))
            for node, changes in self.sites(tree)
            for basis in [self.basis(tree, node)]
        ]
        yield from sorted(found, key=lambda mutation: (mutation.line, mutation.replacements))


def _joined(changes: Sequence[Replacement], basis: Sequence[Replacement]) -> tuple[Replacement, ...]:
    """Return both lists; the bug's replacement takes precedence for the same span."""
    changed = {span for span, _ in changes}
    return (*changes, *(pair for pair in basis if pair[0] not in changed))


def mutated(text: str, replacements: Sequence[Replacement]) -> str:
    """Return the text with the replacements applied."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for span, code in sorted(replacements, key=lambda pair: pair[0], reverse=True):
        head = lines[span.line - 1][: span.column]
        tail = lines[span.end_line - 1][span.end_column :]
        lines[span.line - 1 : span.end_line] = (head + code + tail).split("\n")
    return "\n".join(line for line in lines if line != _REMOVED)


_REMOVED = "\0"  # a line that goes as a whole


def removed_line(tree: SourceTree, statement: ast.stmt) -> list[Replacement] | None:
    """Return replacements that remove a statement; ``None`` if it shares its line with another."""
    span = tree.span(statement)
    before = tree.lines[span.line - 1][: span.column]
    after = tree.lines[span.end_line - 1][span.end_column :]
    if before.strip() or (after.strip() and not after.strip().startswith("#")):
        return None
    _, block, _ = tree.block(statement)
    if len(block) == 1:
        return [(span, "pass")]
    whole = Span(span.line, 0, span.end_line, len(tree.lines[span.end_line - 1]))
    return [(whole, _REMOVED)]


def moved_line(tree: SourceTree, statement: ast.stmt, behind: ast.stmt) -> list[Replacement] | None:
    """Return replacements that move a statement directly after another of the same block."""
    gone = removed_line(tree, statement)
    if gone is None or gone[0][1] != _REMOVED:
        return None
    anchor = tree.span(behind)
    end = len(tree.lines[anchor.end_line - 1])
    indent = " " * tree.span(statement).column
    at = Span(anchor.end_line, end, anchor.end_line, end)
    return [*gone, (at, f"\n{indent}{tree.source(statement)}")]


def added_line(tree: SourceTree, behind: ast.stmt, code: str) -> list[Replacement]:
    """Return replacements that insert the lines of ``code`` directly after a statement, in its block."""
    anchor = tree.span(behind)
    end = len(tree.lines[anchor.end_line - 1])
    indent = tree.lines[anchor.line - 1][: anchor.column]
    text = "".join(f"\n{indent}{line}" for line in code.split("\n"))
    return [(Span(anchor.end_line, end, anchor.end_line, end), text)]


def operator(name: str, sites: SiteFinder, basis: Basis | None = None) -> Operator:
    """Return an operator whose title is the first line of the docstring of ``sites``."""
    title = (sites.__doc__ or "").split("\n")[0].rstrip(".")
    return Operator(name, title, sites, basis or (lambda tree, node: []))
