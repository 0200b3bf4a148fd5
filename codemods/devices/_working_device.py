"""Placements on ``self.device`` in methods that work on another device of their object."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.working_devices import MixedPlacement
from devfix.model import Event, Finding, Fix, ReplaceExpression, Severity
from devfix.syntax.tree import SourceTree

__all__ = ["mixed_device_findings"]


def mixed_device_findings(observations: Observations, code: str, name: str) -> Iterator[Finding]:
    """Yield one finding per placement, with the rule's code and name."""
    for found in observations.of(MixedPlacement):
        tree, span = found.tree, found.tree.span(found.placed)
        yield Finding(
            code,
            name,
            Severity.LATENT,
            tree.path,
            span,
            f"`self.device` differs from `device`, `self.{found.attribute}`, while modules wait on the CPU",
            (
                _event(tree, found.told, "created", "the method works on this device"),
                _event(tree, found.placed, "moved", "placed on another device of the object here"),
            ),
            (Fix("place it on `device`", (ReplaceExpression(tree.path, span, "device"),)),),
        )


def _event(tree: SourceTree, node: ast.AST, kind: str, note: str) -> Event:
    span = tree.span(node)
    return Event(kind, tree.path, span.line, span.column, tree.line(span.line), note)
