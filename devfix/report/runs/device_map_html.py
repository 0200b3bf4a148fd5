"""A device map as one HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devfix.report.html import render_page
from devfix.report.runs.device_map import cells, environment_lines, memory_cells
from devfix.verify.result import describe_device

if TYPE_CHECKING:
    from devfix.trace.device_map.rows import DeviceMap, Row
    from devfix.trace.device_map.survey import Survey

__all__ = ["page"]


def page(result: Survey) -> str:
    """Return the HTML file.

    Raises:
        ImportError: jinja2 is not installed.

    """
    device_map = result.map
    return render_page(
        "map.html",
        found=result,
        where=describe_device(result.experiment),
        environment=list(environment_lines(device_map.environment)) if device_map else [],
        sections=_sections(device_map) if device_map else [],
        memory=list(memory_cells(device_map)) if device_map else [],
        notes=device_map.notes if device_map else (),
    )


def _sections(device_map: DeviceMap) -> list[tuple[str, list[tuple[Row, tuple[str, ...]]]]]:
    """Return the rows by section, with their cells."""
    rows_by_section: dict[str, list[tuple[Row, tuple[str, ...]]]] = {}
    for row in device_map.rows:
        rows_by_section.setdefault(row.section, []).append((row, cells(row)))
    return list(rows_by_section.items())
