"""What a run showed as one HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devfix.report.html import render_page
from devfix.report.runs.trace import described, edit_words, last_words, readable_lines, rules_told, where_run
from devfix.vcs.hunks import lines_of

if TYPE_CHECKING:
    from devfix.trace.tracing import Trace

__all__ = ["page"]


def page(trace: Trace) -> str:
    """The whole file.

    Raises:
        ImportError: jinja2 is not installed.

    """
    project, proposal = trace.experiment.project, trace.proposal
    diff = lines_of("\n".join(readable_lines(project, proposal.changes))) if proposal else []
    return render_page(
        "trace.html",
        trace=trace,
        where=where_run(trace),
        values=[(told, described(told)) for told in trace.values],
        rule=rules_told(trace),
        diff=diff,
        edit=edit_words(proposal) if proposal and proposal.changes else "",
        last_words=last_words(trace),
    )
