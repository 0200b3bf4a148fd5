"""Annotations: what a step shows, worst first."""

from dataclasses import replace

import pytest

from devfix.model import Event, Finding, Outcome, Problem, Resolution, Severity, Span, Status
from devfix.report import Mode, Report
from devfix.report.findings.github import render
from devfix.report.positions import SourceTexts
from devfix.report.view import View


def found(severity, number, path="a.py"):
    span = Span(number, 0, number, 1)
    finding = Finding("DEV101", "bug", severity, path, span, f"{severity.value} 5%\nof it", reason="100% why")
    return Resolution(finding, Status.NOT_FIXED)


def lines(*items, problems=()):
    outcome = Outcome(tuple(items), problems=problems)
    return render(View(Report(outcome, Mode.CHECK), SourceTexts(outcome.patch), outcome)).splitlines()


def test_the_message_is_escaped():
    [line] = lines(found(Severity.ERROR, 1, "a,b:c%.py"))

    assert line == (
        "::error title=devfix (DEV101),file=a%2Cb%3Ac%25.py,line=1,endLine=1,col=1,endColumn=2"
        "::error 5%25\\nof it%0Anot fixed: 100%25 why"
    )


def test_a_step_shows_the_worst_and_counts_the_others():
    items = [found(severity, number) for number in range(1, 13) for severity in reversed(Severity)]

    told = lines(*items, problems=(Problem("b.py", "cannot be read", 3, "look"),))

    assert [line.split(" ")[0] for line in told] == ["::error"] * 10 + ["::warning"] * 10 + ["::notice"] * 10
    assert told[-1].endswith("::8 more not shown: GitHub limits the annotations of a step")


@pytest.mark.parametrize("severity", Severity)
def test_severities(severity):
    word = {"error": "error", "latent": "warning", "advice": "notice"}[severity.value]

    assert lines(found(severity, 1))[0].startswith(f"::{word} ")


def test_the_failing_line_is_the_first_use():
    uses = [Event(kind, "a.py", line, 0, "x", "") for kind, line in (("moved", 4), ("used", 7), ("used", 9))]
    item = found(Severity.ERROR, 1)
    several = replace(item, finding=replace(item.finding, events=tuple(uses)))

    assert "; fails at a.py:7%0A" in lines(several)[0]
