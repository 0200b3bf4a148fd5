"""Registry of report formats.

Every command imports this module, so it imports a format's module only on first use.
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
    """A report format.

    Attributes:
        module: name of a module in ``devfix.report.findings``; its function ``render`` turns a view into text that ends
            in a newline.  Empty for terminal text.
        suggestions: the format lists replacements, so ``check`` also computes fixes.
        has_statistics: the format supports ``--statistics``.
        uses_file_positions: the format has no notebook cells; notebook findings get positions in the JSON file.
        has_head: the format names the command, the commit and the date.
        has_proof: the format ends with the verdict, so the proof is not printed as well.
        requires: an optional module that the format imports, and the extra that installs it.

    """

    module: str
    suggestions: bool = False
    has_statistics: bool = False
    uses_file_positions: bool = False
    has_head: bool = False
    has_proof: bool = False
    requires: tuple[str, str] | None = None

    @property
    def is_text(self) -> bool:
        """Whether the report is text for people; all other formats are data."""
        return not self.module


FORMATS = {
    "text": Format("", has_statistics=True),
    "concise": Format("concise", has_statistics=True),
    "agent": Format("agent", suggestions=True, has_statistics=True, has_proof=True),
    "json": Format("json", has_statistics=True),
    "jsonl": Format("jsonl"),
    "sarif": Format("sarif", suggestions=True, uses_file_positions=True),
    "github": Format("github", uses_file_positions=True),
    "gitlab": Format("gitlab", uses_file_positions=True),
    "junit": Format("junit"),
    "rdjson": Format("rdjson", suggestions=True, uses_file_positions=True),
    "html": Format("page", suggestions=True, has_head=True, requires=("jinja2", "report")),
}


def render(name: str, view: View) -> str:
    """Return the report in a machine-readable format, a key of :data:`FORMATS`."""
    if FORMATS[name].uses_file_positions and view.report.outcome.notebooks:
        from devfix.report.notebook_positions import to_file_positions

        view = to_file_positions(view)
    text: str = import_module(f"devfix.report.findings.{FORMATS[name].module}").render(view)
    return text
