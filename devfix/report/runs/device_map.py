"""Where everything lives, as tables for people and as JSON for programs; schema/map-2.json documents the JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from devfix import __version__
from devfix.report.runs.verdict import console
from devfix.report.sanitize import printable
from devfix.verify.result import device_in_words

if TYPE_CHECKING:
    from rich.console import Console

    from devfix.trace.device_map.rows import Environment, PlaceMap, Row
    from devfix.trace.device_map.survey import Survey

__all__ = ["SCHEMA_VERSION", "cells", "document", "dumps", "environment_lines", "memory_cells", "show", "sized"]

SCHEMA_VERSION = 2

_UNITS = ("B", "kB", "MB", "GB", "TB")


def show(found: Survey, to: Console | None = None) -> None:
    """Print environment, things by section, memory, and the sentence."""
    from rich.text import Text

    to = to or console()
    to.print(Text(f"on {device_in_words(found.experiment)}, {found.experiment.python}", style="dim"), soft_wrap=True)
    if found.map is not None:
        for heading, text in environment_lines(found.map.environment):
            to.print(Text.assemble((f"{heading:<16}", "bold"), printable(text)), soft_wrap=True)
        _show_rows(found.map, to)
        _show_memory(found.map, to)
        for note in found.map.notes:
            to.print(Text(f"note: {printable(note)}"), soft_wrap=True)
    if found.run.failure is not None:
        to.print(Text(printable(found.run.outcome), style="bold red"), soft_wrap=True)
    to.print(Text(printable(found.summary), style="bold red" if found.exit_code else "bold green"), soft_wrap=True)


def environment_lines(environment: Environment) -> Iterator[tuple[str, str]]:
    """Heading and text of what the interpreter says of its devices."""
    built = f", built for {environment.built_for}" if environment.built_for else ""
    yield "torch", f"{environment.torch}{built}, Python {environment.python}"
    kind = environment.kind
    if kind is None:
        yield "accelerator", "none (--device cpu)"
        return
    yield "accelerator", f"{kind}, {'simulated' if environment.simulated else 'real'}"
    yield "is_available()", str(environment.available)
    yield "device_count()", str(len(environment.names))
    for number, name in enumerate(environment.names):
        yield f"{kind}:{number}", name


def cells(row: Row) -> tuple[str, str, str, str, str]:
    """Name, type, places, size and what there is to say of a row."""
    remark = f"✗ {row.problem}" if row.problem else row.remark
    places = ", ".join(row.devices) or "no tensors"
    return "  " * row.depth + row.name, row.type, places, sized(row.bytes) if row.bytes else "", remark


def memory_cells(found: PlaceMap) -> Iterator[tuple[str, str, str, str, str, str]]:
    """Device, modules, gradients, optimizer states, other tensors and their sum."""
    for each in found.memory:
        sizes = (each.modules, each.gradients, each.optimizers, each.others, each.total)
        yield (each.device, *map(sized, sizes))  # type: ignore[misc]  # five, for five sizes


def sized(size: float) -> str:
    """``1.5 MB``; a kB is 1,000 bytes."""
    for unit in _UNITS:
        if size < 1000 or unit == _UNITS[-1]:
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.3g} {unit}"


def _show_rows(found: PlaceMap, to: Console) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("what", "type", "lives on", "size", ""):
        table.add_column(heading, justify="right" if heading == "size" else "left", overflow="fold")
    section = None
    for row in found.rows:
        if row.section != section:
            section = row.section
            table.add_row(Text(section, style="bold cyan"))
        style = "bold red" if row.problem else ""
        table.add_row(*(Text(printable(cell), style=style) for cell in cells(row)))
    if found.rows:
        to.print(table)


def _show_memory(found: PlaceMap, to: Console) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("device", "modules", "gradients", "optimizer states", "other tensors", "in all"):
        table.add_column(heading, justify="left" if heading == "device" else "right")
    for texts in memory_cells(found):
        table.add_row(*texts)
    if found.memory:
        to.print(table)


def dumps(found: Survey) -> str:
    """The document as ASCII text, two spaces deep, with a newline at the end."""
    return json.dumps(document(found), indent=2) + "\n"


def document(found: Survey) -> dict[str, Any]:
    """The map as dicts, lists, strings and numbers."""
    experiment, place_map = found.experiment, found.map
    failure = found.run.failure
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "devfix", "version": __version__},
        "script": experiment.project.script,
        "arguments": list(experiment.args),
        "device": experiment.device,
        "device_type": experiment.kind,
        "outcome": found.run.outcome,
        "failure": failure and {"type": failure.type, "message": failure.text, "where": failure.where},
        "exit_code": found.exit_code,
        "summary": found.summary,
        "map": place_map
        and {
            "moment": place_map.moment,
            "steps": place_map.steps,
            "where": str(place_map.where) if place_map.where else None,
            "environment": asdict(place_map.environment),
            "rows": [asdict(row) for row in place_map.rows],
            "memory": [asdict(each) for each in place_map.memory],
            "notes": list(place_map.notes),
        },
    }
