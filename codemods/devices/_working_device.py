"""Placements on ``self.device`` in methods that work on another device of their object."""

from __future__ import annotations

from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.working_devices import MixedPlacement
from devfix.model import Finding, Fix, ReplaceExpression, Severity

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
                tree.event("created", found.told, "the method works on this device"),
                tree.event("moved", found.placed, "placed on another device of the object here"),
            ),
            (Fix("place it on `device`", (ReplaceExpression(tree.path, span, "device"),)),),
        )
