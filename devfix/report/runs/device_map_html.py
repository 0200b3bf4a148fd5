"""Where everything lives as one HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devfix.report.html import render_page
from devfix.report.runs.device_map import cells, environment_lines, memory_cells
from devfix.verify.result import describe_device

if TYPE_CHECKING:
    from devfix.trace.device_map.rows import DeviceMap, Row
    from devfix.trace.device_map.survey import Survey

__all__ = ["page"]


def page(found: Survey) -> str:
    """The whole file.

    Raises:
        ImportError: jinja2 is not installed.

    """
    place_map = found.map
    return render_page(
        "map.html",
        found=found,
        where=describe_device(found.experiment),
        environment=list(environment_lines(place_map.environment)) if place_map else [],
        sections=_sections(place_map) if place_map else [],
        memory=list(memory_cells(place_map)) if place_map else [],
        notes=place_map.notes if place_map else (),
    )


def _sections(place_map: DeviceMap) -> list[tuple[str, list[tuple[Row, tuple[str, ...]]]]]:
    """Headings and rows, with the texts of each."""
    found: dict[str, list[tuple[Row, tuple[str, ...]]]] = {}
    for row in place_map.rows:
        found.setdefault(row.section, []).append((row, cells(row)))
    return list(found.items())
