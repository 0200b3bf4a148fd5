"""Placements on another device than the one that a function works on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.working_devices import IgnoredDevice, MixedPlacement
from devfix.model import Finding, Fix, ReplaceExpression, Severity

__all__ = ["ignored_device_findings", "mixed_device_findings"]


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
                tree.event("created", found.told, "the method works on this device"),
                tree.event("moved", found.placed, "placed on another device of the object here"),
            ),
            (Fix("place it on `device`", (ReplaceExpression(tree.path, span, "device"),)),),
        )


def ignored_device_findings(observations: Observations, code: str, name: str) -> Iterator[Finding]:
    """Yield one finding per placement on ``cuda`` in a function that is told its device."""
    for found in observations.of(IgnoredDevice):
        tree, placed = found.tree, found.placed
        span = tree.span(placed)
        text = ast.unparse(placed)
        shown = text if len(text) <= _LONGEST else "cuda"
        code_after = (
            f"{tree.source(placed.func.value)}.to({found.device})"
            if isinstance(placed, ast.Call) and isinstance(placed.func, ast.Attribute)
            else found.device
        )
        yield Finding(
            code,
            name,
            Severity.ERROR,
            tree.path,
            span,
            f"`{shown}` hard-codes a device, although callers pass `{found.told.arg}`",
            (
                tree.event("created", found.told, "the device on which the function works"),
                tree.event("moved", placed, "placed on a hard-coded device here"),
            ),
            (Fix(f"use `{found.device}`", (ReplaceExpression(tree.path, span, code_after),)),),
        )


_LONGEST = 40  # characters of an expression in a message
