"""Uses of modules that other methods of the class bring back from the CPU first."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.guarded_modules import UnguardedUse
from devfix.model import Finding, Fix, InsertStatement, Severity, Where
from devfix.syntax.tree import SourceTree

__all__ = ["unguarded_findings"]


def unguarded_findings(observations: Observations, code: str, name: str) -> Iterator[Finding]:
    """Yield one finding per use, with the rule's code and name."""
    for found in observations.of(UnguardedUse):
        tree = found.tree
        statement = tree.statement(found.use)
        guard = _copied(found.guard_tree, found.guard)
        names = {node.id for node in ast.walk(found.guard) if isinstance(node, ast.Name)}
        edit = InsertStatement(tree.path, tree.span(statement), Where.BEFORE, guard)
        can_copy = names <= {"self", "torch"}
        yield Finding(
            code,
            name,
            Severity.LATENT,
            tree.path,
            tree.span(found.use),
            f"`{found.module}` may be on the CPU here; other methods of the class move it back before they use it",
            (
                found.guard_tree.event("moved", found.guard, "brought back from the CPU here"),
                tree.event("used", found.use, "used without that here"),
            ),
            (Fix(f"move `{found.module}` back first", (edit,)),) if can_copy else (),
            "" if can_copy else "the statement that moves it back elsewhere uses names of another method",
        )


def _copied(tree: SourceTree, statement: ast.If) -> str:
    """Return the source of a statement without its indentation."""
    return textwrap.dedent(" " * tree.span(statement).column + tree.source(statement))
