"""The page of findings: everything is there, as text."""

import re
from dataclasses import replace

import pytest

from devfix.model import FileChange, Outcome, Patch, Problem, Resolution, Status
from devfix.report import Mode, Report
from devfix.report.findings import page as findings_page
from devfix.report.positions import SourceTexts
from devfix.report.view import View

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\x00\x1b[31m"


def page(outcome, mode=Mode.CHECK):
    tried = replace(outcome, patch=Patch())
    return findings_page.render(View(Report(outcome, mode), SourceTexts(Patch()), tried))


def test_findings_stand_worst_first_with_path_fix_and_reason(outcome):
    text = page(outcome)

    order = re.findall(r'data-rule="(\w+)" data-severity="(\w+)"', text)
    assert order == [("DEV101", "error"), ("DEV201", "error"), ("DEV102", "latent")]
    for words in (
        "lib/data.py:7",
        "is created here, on the CPU",
        "move <code>labels</code> to <code>device</code> (safe)",
    ):
        assert words in text
    assert "the file is not yours" in text and "odd.py:3: not valid utf-8" in text


def test_a_fix_is_shown_as_a_diff(tmp_path, resolutions):
    file = tmp_path / "train.py"
    file.write_text("a\nb\n", encoding="utf-8")
    made = resolutions["fixed"]
    fix = replace(made.fix, edits=tuple(replace(edit, path=str(file)) for edit in made.fix.edits))
    item = Resolution(replace(made.finding, path=str(file)), Status.FIXED, fix=fix)
    change = FileChange(str(file), b"a\nb\n", b"a\nb.to(device)\n")
    outcome = Outcome((item,), Patch((change,)))

    text = findings_page.render(View(Report(outcome, Mode.PREVIEW), SourceTexts(outcome.patch), outcome))

    assert '<div class="line removed">' in text and "to" in text.split('<div class="line added">')[1]


def test_hostile_text_stays_text(resolutions):
    path = HOSTILE.replace("\x00", "")  # no system has such a path
    finding = replace(resolutions["not-fixed"].finding, message=HOSTILE, path=path, reason=HOSTILE)
    outcome = Outcome((Resolution(finding, Status.NOT_FIXED, HOSTILE),), problems=(Problem("a", HOSTILE),))

    text = page(outcome)

    assert "<img" not in text and "\x00" not in text and "\x1b" not in text
    assert text.count("<script>") == 1 == text.count("</script>")


def test_an_empty_report_says_so():
    text = page(Outcome(checked=3))

    assert "No findings" in text and "3 files checked" in text and 'id="filters"' not in text


@pytest.mark.parametrize("many", [findings_page.MAX_FINDINGS + 7])
def test_of_many_findings_the_others_are_counted(resolutions, many):
    text = page(Outcome((resolutions["not-fixed"],) * many))

    assert text.count('<details class="finding card"') == findings_page.MAX_FINDINGS
    assert "7 more findings are counted above" in text
