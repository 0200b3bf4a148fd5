"""Layout of a device map for pages: an icicle chart, whose widths are bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from devfix.report.runs.device_map import sized

if TYPE_CHECKING:
    from devfix.trace.device_map.tree import Node

__all__ = ["Cell", "Icicle", "lay_out"]

_ROW = 24  # pixels
_NARROWEST = 1 / 2000
_MAX_CELLS = 1200
_MAX_DEPTH = 12


@dataclass(frozen=True)
class Cell:
    """A node of the tree.

    Attributes:
        node: the node.
        start, end: its part of the width, from 0 to 1.
        depth: 0 for the whole.
        shares: device number, start and width of its part of the cell, for each device.

    """

    node: Node
    start: float
    end: float
    depth: int
    shares: tuple[tuple[int, float, float], ...]

    @property
    def top(self) -> int:
        """Pixels from the top."""
        return self.depth * _ROW

    @property
    def summary(self) -> str:
        """The node in one line."""
        node = self.node
        sizes = ", ".join(f"{sized(size)} on {device}" for device, size in node.sizes.items())
        kind = f" ({node.type})" if node.type else ""
        note = f"; misplaced: {node.problem}" if node.problem else f"; {node.remark}" if node.remark else ""
        return f"{node.name}{kind}: {sizes}{note}"


@dataclass(frozen=True)
class Icicle:
    """The chart.

    Attributes:
        height: in pixels.
        devices: the devices with their bytes; the position of a device is its colour.
        cells: the whole first, each before its parts.
        hidden: number of nodes that are too narrow or too deep.

    """

    height: int
    devices: tuple[tuple[str, str], ...]
    cells: tuple[Cell, ...]
    hidden: int


def lay_out(tree: Node) -> Icicle | None:
    """Return the chart of a tree; None if it has no bytes."""
    if not tree.bytes:
        return None
    devices = {device: number for number, device in enumerate(sorted(tree.sizes, key=lambda each: each != "cpu"))}
    cells = sorted(_cells(tree, 0.0, 1.0, 0, devices), key=lambda cell: cell.start - cell.end)[:_MAX_CELLS]
    cells.sort(key=lambda cell: (cell.start, cell.depth))
    count = 1 + sum(1 for node in tree.descendants() if node.bytes and node.is_held)
    return Icicle(
        height=(max(cell.depth for cell in cells) + 1) * _ROW,
        devices=tuple((device, sized(tree.sizes[device])) for device in devices),
        cells=tuple(cells),
        hidden=count - len(cells),
    )


def _cells(node: Node, start: float, end: float, depth: int, devices: Mapping[str, int]) -> Iterator[Cell]:
    yield Cell(node, round(start, 6), round(end, 6), depth, tuple(_shares(node, devices)))
    parts = [part for part in node.parts if part.is_held]
    total = max(node.bytes, sum(part.bytes for part in parts))
    if not total or depth == _MAX_DEPTH:
        return
    scale = (end - start) / total
    for part in sorted(parts, key=lambda each: -each.bytes):
        stop = start + part.bytes * scale
        if stop - start >= _NARROWEST:
            yield from _cells(part, start, stop, depth + 1, devices)
        start = stop


def _shares(node: Node, devices: Mapping[str, int]) -> Iterator[tuple[int, float, float]]:
    start = 0.0
    for device, size in node.sizes.items():
        share = size / node.bytes
        yield devices[device], round(start * 100, 3), round(share * 100, 3)
        start += share
