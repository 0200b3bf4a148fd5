"""The formats of a report: who reads each, what it needs, and the module that writes it.

Nothing is imported here but what every verb needs: a format's module is imported when it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devfix.report.view import View

__all__ = ["FORMATS", "Format", "render"]


@dataclass(frozen=True)
class Format:
    """How a report is written.

    Attributes:
        module: of ``devfix.report.findings``; its function ``render`` turns a view into text, with a newline at the end of each
            line.  Empty for text on a terminal.
        fixes: it says what each fix replaces, so the edits are tried also where nothing is to be changed.
        on_disk: it knows files and no cells, so that a notebook's findings stand in the lines of its JSON.
        counts: it can hold ``--statistics``.
        needs: the module, beyond the core's, without which it cannot be written, and the extra that brings it.

    """

    module: str
    suggestions: bool = False
    counts: bool = False
    on_disk: bool = False
    needs: tuple[str, str] | None = None

    @property
    def people(self) -> bool:
        """For people, on standard error; the others are data, on standard output."""
        return not self.module


FORMATS = {
    "text": Format("", counts=True),
    "concise": Format("concise", counts=True),
    "json": Format("json", counts=True),
    "jsonl": Format("jsonl"),
    "sarif": Format("sarif", suggestions=True, on_disk=True),
    "github": Format("github", on_disk=True),
    "gitlab": Format("gitlab", on_disk=True),
    "junit": Format("junit"),
    "rdjson": Format("rdjson", suggestions=True, on_disk=True),
    "html": Format("page", suggestions=True, needs=("jinja2", "report")),
}


def render(name: str, view: View) -> str:
    """The report in a format for programs."""
    if FORMATS[name].on_disk and view.report.outcome.notebooks:
        from devfix.report.notebook_positions import on_disk

        view = on_disk(view)
    text: str = import_module(f"devfix.report.findings.{FORMATS[name].module}").render(view)
    return text
