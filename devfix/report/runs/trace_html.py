"""A trace as one HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devfix.report.diffs import diff_view
from devfix.report.head import UNKNOWN, About, Head
from devfix.report.html import render_page
from devfix.report.rules import help_uri
from devfix.report.runs.run_head import run_facts, run_title
from devfix.report.runs.timeline_chart import Chart, lay_out
from devfix.report.runs.trace import edit_text, last_output_lines, readable_diff, rules_text, value_text
from devfix.report.runs.trace_story import Story
from devfix.rules.registry import rule_for
from devfix.sources import display

if TYPE_CHECKING:
    from devfix.trace.tracing import Trace

__all__ = ["page"]

_TONES = {"device-error": "bad", "no-device-error": "good", "unfinished": "unsure"}


def page(trace: Trace, about: About = UNKNOWN) -> str:
    """Return the HTML file.

    Args:
        trace: the traced run.
        about: the command behind the page.

    Raises:
        ImportError: jinja2 is not installed.

    """
    project, proposal = trace.experiment.project, trace.proposal
    diff = "\n".join(readable_diff(project, proposal.changes)) if proposal else ""
    story = Story(trace)
    head = Head(
        command="trace",
        title=run_title(trace.experiment),
        tone=_TONES[trace.status],
        label=trace.status.replace("-", " "),
        sentence=trace.summary,
        facts=run_facts(trace.experiment),
        about=about.with_torch(trace.run.torch),
    )
    return render_page(
        "trace.html",
        head,
        styles=("listing.css", "zoom.css"),
        scripts=("zoom.js",),
        trace=trace,
        story=story.rows(),
        stack=story.stack_rows(),
        name=lambda path: display(path, str(project.root)),
        links=about.checkout,
        chart=_chart(trace),
        values=[(value, value_text(value)) for value in trace.values],
        rule=rules_text(trace),
        rule_uri=help_uri(trace.cause.rule) if trace.cause and rule_for(trace.cause.rule) else "",
        diff=diff_view(diff),
        edit=edit_text(proposal) if proposal and proposal.changes else "",
        error=trace.device_error or trace.run.failure,
        last_output=last_output_lines(trace),
    )


def _chart(trace: Trace) -> Chart | None:
    if trace.timeline is None:
        return None
    last = trace.diagnosis.misplaced.last if trace.diagnosis else None
    return lay_out(trace.timeline, () if last is None else (last.index,))
