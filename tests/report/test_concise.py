"""One line for each finding."""

from dataclasses import replace

from devfix.model import Outcome, Status
from devfix.report import Mode, Report
from devfix.report.findings import concise

PROBLEM = "odd.py:3: not valid utf-8: byte 0xe9; save it as UTF-8"


def test_a_check_lists_what_is_not_suppressed(outcome):
    assert list(concise.lines(Report(outcome, Mode.CHECK))) == [
        "train.py:23:5: DEV101 [*] `labels` stays on the CPU",
        "train.py:23:5: DEV102 [!] `labels` stays on the CPU",
        "train.py:23:5: DEV201 `labels` stays on the CPU",
        PROBLEM,
        "train.py:9: unused suppression (DEV999); remove the comment",
    ]


def test_after_writing_the_repaired_are_gone(outcome):
    lines = list(concise.lines(Report(outcome, Mode.APPLY)))

    assert [line.split()[1] for line in lines] == ["DEV102", "DEV201", "not", "unused"]


def test_a_finding_is_one_line_whatever_the_source_says(resolutions):
    sly = replace(resolutions["fixed"].finding, path="a\nb.py", message="\x1b[2Jgone\u202e")

    assert concise.finding_line(sly, Outcome(), sly.applicability) == "a\\nb.py:23:5: DEV101 [*] \\x1b[2Jgone\\u202e"


def test_a_fix_that_is_not_made_has_no_mark(resolutions):
    """Its edit is in a file that was not named, or it was tried and refused."""
    refused = replace(resolutions["fixed"], status=Status.NOT_FIXED, reason="the edit belongs in b.py")

    (line,) = concise.lines(Report(Outcome((refused,)), Mode.CHECK))

    assert line == "train.py:23:5: DEV101 `labels` stays on the CPU"
