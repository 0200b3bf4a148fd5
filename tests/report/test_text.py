"""What a person reads."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from devfix.model import Event, Outcome, Status
from devfix.report import Mode, Report
from devfix.report.findings import text


@pytest.fixture
def shown():
    def show(outcome, mode=Mode.CHECK, verbosity=0):
        stream = io.StringIO()
        text.show(Report(outcome, mode), verbosity, Console(file=stream, highlight=False, soft_wrap=True))
        return stream.getvalue()

    return show


def test_a_finding_tells_its_story(shown, resolutions):
    assert shown(Outcome((resolutions["fixed"],), checked=1), Mode.PREVIEW).splitlines() == [
        "train.py:23:5 error DEV101 batch-not-moved [safe fix]",
        "  `labels` stays on the CPU",
        "  18 | model = Net().to(device)                 the model moves here",
        "  --> lib/data.py",
        "   7 | return x, y                              `labels` is created here, on the CPU",
        "  --> train.py",
        "  27 | loss = criterion(model(images), labels)  fails here",
        "  would fix: move `labels` to `device`",
        "",
        "1 finding, 1 would be fixed, 1 file checked",
    ]


def test_a_repaired_finding_is_brief(shown, resolutions):
    assert shown(Outcome((resolutions["fixed"],), checked=1), Mode.APPLY).splitlines() == [
        "train.py:23:5 error DEV101 batch-not-moved [safe fix]",
        "  fixed: move `labels` to `device`",
        "1 finding, 1 fixed, 1 file checked",
    ]


def test_what_was_not_fixed_has_a_reason(shown, resolutions):
    output = shown(Outcome((resolutions["not-fixed"], resolutions["fixable"])), Mode.APPLY)

    assert "  not fixed: the file is not yours\n" in output
    assert "  possible fix: move `labels` to `device` (needs --unsafe-fixes)\n" in output


def test_a_fix_that_was_not_tried_is_only_possible(shown, resolutions):
    untried = replace(resolutions["fixed"], status=Status.FIXABLE)
    dropped = replace(resolutions["fixed"], status=Status.NOT_FIXED, reason="it would not hold", fix=None)

    assert shown(Outcome((untried,))).startswith("train.py:23:5 error DEV101 batch-not-moved [possible fix]\n")
    assert shown(Outcome((dropped,)), Mode.APPLY).startswith("train.py:23:5 error DEV101 batch-not-moved\n")


def test_problems_and_suppressed_findings(shown, outcome):
    assert "devfix: odd.py:3: not valid utf-8: byte 0xe9; save it as UTF-8\n" in shown(outcome)
    assert "DEV301" not in shown(outcome)
    assert "suppressed by a comment" in shown(outcome, verbosity=1)


def test_notes_are_told_unless_quiet(shown, outcome):
    note = "devfix: note: train.py:9: unused suppression (DEV999); remove the comment\n"

    assert note in shown(outcome)
    assert note not in shown(outcome, verbosity=-1)


def test_quiet_says_only_what_is_left(shown, outcome):
    output = shown(outcome, Mode.APPLY, verbosity=-1)

    assert "DEV101" not in output
    assert "DEV201" in output
    assert "checked" not in output


def test_source_cannot_draw_on_the_terminal_or_use_markup(shown, resolutions):
    event = Event("used", "train.py", 1, 0, 'x = "\x1b[31m[bold]\x07"', "")
    sly = replace(resolutions["fixed"], finding=replace(resolutions["fixed"].finding, events=(event,)))

    output = shown(Outcome((sly,)))

    assert 'x = "\\x1b[31m[bold]\\x07"' in output
    assert "\x1b" not in output


def test_a_long_line_is_cut(shown, resolutions):
    event = Event("used", "train.py", 1, 0, "x" * 500, "here")
    long = replace(resolutions["fixed"], finding=replace(resolutions["fixed"].finding, events=(event,)))

    assert max(len(line) for line in shown(Outcome((long,))).splitlines()) < 100
