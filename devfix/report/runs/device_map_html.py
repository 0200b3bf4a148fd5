"""A device map as one HTML file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from devfix.report.head import UNKNOWN, About, Head, Total, counted
from devfix.report.html import render_page
from devfix.report.runs import icicle
from devfix.report.runs.device_map import environment_lines, memory_cells, sized
from devfix.report.runs.run_head import run_facts, run_title
from devfix.trace.device_map.tree import Node, read_tree

if TYPE_CHECKING:
    from devfix.trace.device_map.survey import Survey

__all__ = ["page"]

_MAX_OBJECTS = 1500  # rows of the table
_MAX_OPEN = 12  # nodes in an unfolded node of the tree


def page(result: Survey, about: About = UNKNOWN) -> str:
    """Return the HTML file.

    Args:
        result: the run with its map.
        about: the command behind the page.

    Raises:
        ImportError: jinja2 is not installed.

    """
    device_map, data = result.map, result.run.map
    tree = read_tree(data, device_map) if device_map is not None and data is not None else None
    objects = list(_objects(tree)) if tree else []
    return render_page(
        "map.html",
        _head(result, about),
        styles=("zoom.css",),
        scripts=("zoom.js",),
        found=result,
        environment=list(environment_lines(device_map.environment)) if device_map else [],
        misplaced=[(section, node) for section, node in objects if node.problem],
        chart=icicle.lay_out(tree) if tree else None,
        tree=tree,
        is_open=_is_open,
        objects=_largest(objects),
        more=max(0, len(objects) - _MAX_OBJECTS),
        sized=sized,
        memory=list(memory_cells(device_map)) if device_map else [],
        notes=device_map.notes if device_map else (),
    )


def _head(result: Survey, about: About) -> Head:
    device_map = result.map
    totals = [Total(f"on {each.device}", sized(each.total)) for each in device_map.memory] if device_map else []
    count = len(device_map.misplaced) if device_map else 0
    if device_map:
        totals.append(Total("misplaced", f"{count:,}", tone="bad" if count else "good"))
    return Head(
        command="map",
        title=run_title(result.experiment),
        tone="bad" if result.exit_code else "good",
        label=_label(result),
        sentence=result.summary,
        totals=tuple(totals),
        facts=run_facts(result.experiment),
        about=about.with_torch(result.run.torch),
    )


def _label(result: Survey) -> str:
    if result.map is None:
        return "no map"
    count = len(result.map.misplaced)
    return (
        counted(count, "misplaced object", "misplaced objects") if count else "in place" if result.run.ok else "failed"
    )


def _objects(tree: Node) -> Iterator[tuple[str, Node]]:
    """Yield the objects with their sections, in the order of the tree."""
    for section in tree.parts:
        if section.parts:
            for node in section.descendants():
                yield section.name, node
        else:
            yield section.name, section


def _is_open(node: Node) -> bool:
    """Whether a node is unfolded: it is small, or contains a misplaced object."""
    found = list(node.descendants())
    return len(found) <= _MAX_OPEN or any(each.problem for each in found)


def _largest(objects: list[tuple[str, Node]]) -> list[tuple[str, Node]]:
    """Return the misplaced and the largest objects, in the order of the tree."""
    if len(objects) <= _MAX_OBJECTS:
        return objects
    ranked = sorted(objects, key=lambda each: (each[1].problem is None, -each[1].bytes))[:_MAX_OBJECTS]
    kept = {id(node) for _, node in ranked}
    return [each for each in objects if id(each[1]) in kept]
