"""Where everything lives as one HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devfix.report.html import rendered
from devfix.report.runs.device_map import cells, environment_lines, memory_cells
from devfix.verify.result import device_in_words

if TYPE_CHECKING:
    from devfix.trace.device_map.rows import PlaceMap, Row
    from devfix.trace.device_map.survey import Survey

__all__ = ["page"]


def page(found: Survey) -> str:
    """The whole file.

    Raises:
        ImportError: jinja2 is not installed.

    """
    place_map = found.map
    return rendered(
        "map.html",
        found=found,
        where=device_in_words(found.experiment),
        environment=list(environment_lines(place_map.environment)) if place_map else [],
        sections=_sections(place_map) if place_map else [],
        memory=list(memory_cells(place_map)) if place_map else [],
        notes=place_map.notes if place_map else (),
    )


def _sections(place_map: PlaceMap) -> list[tuple[str, list[tuple[Row, tuple[str, ...]]]]]:
    """Headings and rows, with the texts of each."""
    found: dict[str, list[tuple[Row, tuple[str, ...]]]] = {}
    for row in place_map.rows:
        found.setdefault(row.section, []).append((row, cells(row)))
    return list(found.items())
