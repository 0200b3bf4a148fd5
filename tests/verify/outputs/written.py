"""Outputs that the tests make up."""

from __future__ import annotations

from devfix.verify.outputs import File, Outputs
from devfix.verify.outputs.text import split_lines
from devfix.verify.outputs.values import Value

__all__ = ["document", "printed", "report"]


def printed(text: str, **files: File) -> Outputs:
    return Outputs(lines=tuple(split_lines(text)), files=files)


def document(values: dict[str, Value], name: str = "metrics.json") -> Outputs:
    return Outputs(files={name: File("values", values=values)})


def report(text: str, name: str = "log.txt") -> Outputs:
    return Outputs(files={name: File("text", lines=tuple(text.splitlines()))})
