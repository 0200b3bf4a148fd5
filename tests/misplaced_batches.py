"""The misplaced items of small programs, as the rules collect them."""

from __future__ import annotations

from devfix.analysis import Observations
from devfix.fixes.tensors.misplaced_items import MisplacedItem

__all__ = ["misplaced_items"]


def misplaced_items(observations: Observations) -> list[MisplacedItem]:
    """Return the CPU operands with an origin, one item for each source and path."""
    uses: dict[tuple[int, tuple[str, ...]], list[tuple[object, str]]] = {}
    for mismatch in observations.mismatches:
        for operand in mismatch.cpu:
            for origin in operand.origins:
                uses.setdefault((origin.site_id, origin.path), []).append((mismatch, operand.text))
    return [
        MisplacedItem(site_id, path, tuple(mismatch for mismatch, _ in pairs), tuple(text for _, text in pairs))
        for (site_id, path), pairs in uses.items()
    ]
