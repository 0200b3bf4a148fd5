"""A device map as one HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devfix.report.head import UNKNOWN, About, Head
from devfix.report.html import render_page
from devfix.report.runs.device_map import cells, environment_lines, memory_cells
from devfix.report.runs.run_head import run_facts, run_title

if TYPE_CHECKING:
    from devfix.trace.device_map.rows import DeviceMap, Row
    from devfix.trace.device_map.survey import Survey

__all__ = ["page"]


def page(result: Survey, about: About = UNKNOWN) -> str:
    """Return the HTML file.

    Args:
        result: the run with its map.
        about: the command behind the page.

    Raises:
        ImportError: jinja2 is not installed.

    """
    device_map = result.map
    head = Head(
        command="map",
        title=run_title(result.experiment),
        tone="bad" if result.exit_code else "good",
        label=_label(result),
        sentence=result.summary,
        facts=run_facts(result.experiment),
        about=about.with_torch(result.run.torch),
    )
    return render_page(
        "map.html",
        head,
        found=result,
        environment=list(environment_lines(device_map.environment)) if device_map else [],
        sections=_sections(device_map) if device_map else [],
        memory=list(memory_cells(device_map)) if device_map else [],
        notes=device_map.notes if device_map else (),
    )


def _label(result: Survey) -> str:
    if result.map is None:
        return "no map"
    return "misplaced" if result.map.misplaced else "in place" if result.run.ok else "failed"


def _sections(device_map: DeviceMap) -> list[tuple[str, list[tuple[Row, tuple[str, ...]]]]]:
    """Return the rows by section, with their cells."""
    rows_by_section: dict[str, list[tuple[Row, tuple[str, ...]]]] = {}
    for row in device_map.rows:
        rows_by_section.setdefault(row.section, []).append((row, cells(row)))
    return list(rows_by_section.items())
