"""A trace as one HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devfix.report.html import render_page
from devfix.report.runs.trace import (
    edit_text,
    environment_text,
    last_output_lines,
    readable_diff,
    rules_text,
    value_text,
)
from devfix.vcs.hunks import highlighted_lines

if TYPE_CHECKING:
    from devfix.trace.tracing import Trace

__all__ = ["page"]


def page(trace: Trace) -> str:
    """Return the HTML file.

    Raises:
        ImportError: jinja2 is not installed.

    """
    project, proposal = trace.experiment.project, trace.proposal
    diff = highlighted_lines("\n".join(readable_diff(project, proposal.changes))) if proposal else []
    return render_page(
        "trace.html",
        trace=trace,
        where=environment_text(trace),
        values=[(value, value_text(value)) for value in trace.values],
        rule=rules_text(trace),
        diff=diff,
        edit=edit_text(proposal) if proposal and proposal.changes else "",
        error=trace.device_error or trace.run.failure,
        last_output=last_output_lines(trace),
    )
