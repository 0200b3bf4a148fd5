"""A device map as tables for terminals, and as JSON; ``schema/map-2.json`` documents the JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from devfix import __version__
from devfix.report.runs.verdict import console
from devfix.report.sanitize import printable
from devfix.verify.result import describe_device

if TYPE_CHECKING:
    from rich.console import Console

    from devfix.trace.device_map.rows import DeviceMap, Environment, Row
    from devfix.trace.device_map.survey import Survey

__all__ = ["SCHEMA_VERSION", "cells", "document", "dumps", "environment_lines", "memory_cells", "show", "sized"]

SCHEMA_VERSION = 2

_UNITS = ("B", "kB", "MB", "GB", "TB")


def show(found: Survey, to: Console | None = None) -> None:
    """Print environment, rows by section, memory, and the summary."""
    from rich.text import Text

    to = to or console()
    to.print(Text(f"on {describe_device(found.experiment)}, {found.experiment.python}", style="dim"), soft_wrap=True)
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
    """Yield heading and text of each fact about the interpreter's devices."""
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
    """Return name, type, devices, size and note of a row."""
    remark = f"✗ {row.problem}" if row.problem else row.remark
    devices = ", ".join(row.devices) or "no tensors"
    return "  " * row.depth + row.name, row.type, devices, sized(row.bytes) if row.bytes else "", remark


def memory_cells(found: DeviceMap) -> Iterator[tuple[str, str, str, str, str, str]]:
    """Yield device, modules, gradients, optimizer states, other tensors and their sum."""
    for each in found.memory:
        sizes = (each.modules, each.gradients, each.optimizers, each.others, each.total)
        yield (each.device, *map(sized, sizes))  # type: ignore[misc]  # five, for five sizes


def sized(size: float) -> str:
    """Return a size with a unit: ``1.5 MB``; a kB is 1,000 bytes."""
    for unit in _UNITS:
        if size < 1000 or unit == _UNITS[-1]:
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.3g} {unit}"


def _show_rows(found: DeviceMap, to: Console) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("name", "type", "device", "size", ""):
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


def _show_memory(found: DeviceMap, to: Console) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("device", "modules", "gradients", "optimizer states", "other tensors", "total"):
        table.add_column(heading, justify="left" if heading == "device" else "right")
    for texts in memory_cells(found):
        table.add_row(*texts)
    if found.memory:
        to.print(table)


def dumps(found: Survey) -> str:
    """Return the document as ASCII text with an indentation of two spaces and a final newline."""
    return json.dumps(document(found), indent=2) + "\n"


def document(found: Survey) -> dict[str, Any]:
    """Return the map as JSON values."""
    experiment, device_map = found.experiment, found.map
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
        "map": device_map
        and {
            "moment": device_map.moment,
            "steps": device_map.steps,
            "where": str(device_map.where) if device_map.where else None,
            "environment": asdict(device_map.environment),
            "rows": [asdict(row) for row in device_map.rows],
            "memory": [asdict(each) for each in device_map.memory],
            "notes": list(device_map.notes),
        },
    }
