"""Exit codes and the summary."""

import pytest

from devfix.model import FileChange, Outcome, Patch, Problem
from devfix.report import Mode, Report

CHANGE = Patch((FileChange("a.py", b"", b"x\n"),))
PROBLEM = (Problem("a.py", "no such file or folder"),)


@pytest.mark.parametrize("mode", Mode)
def test_nothing_to_do_is_0(mode):
    assert Report(Outcome(checked=3), mode).exit_code == 0


@pytest.mark.parametrize(
    ("fate", "mode", "code"),
    [
        ("fixed", Mode.APPLY, 0),
        ("fixed", Mode.PREVIEW, 1),
        ("fixed", Mode.CHECK, 1),
        ("fixable", Mode.APPLY, 1),
        ("fixable", Mode.PREVIEW, 1),
        ("fixable", Mode.CHECK, 1),
        ("not-fixed", Mode.APPLY, 1),
        ("not-fixed", Mode.PREVIEW, 1),
        ("not-fixed", Mode.CHECK, 1),
        ("suppressed", Mode.APPLY, 0),
        ("suppressed", Mode.PREVIEW, 0),
        ("suppressed", Mode.CHECK, 0),
    ],
)
def test_the_fate_of_a_finding_decides(resolutions, fate, mode, code):
    assert Report(Outcome((resolutions[fate],)), mode).exit_code == code


@pytest.mark.parametrize("mode", Mode)
def test_a_file_that_could_not_be_handled_is_1(mode):
    assert Report(Outcome(problems=PROBLEM), mode).exit_code == 1


@pytest.mark.parametrize(("mode", "code"), [(Mode.PREVIEW, 1), (Mode.APPLY, 0)])
def test_a_change_is_1_only_while_it_is_not_written(mode, code):
    assert Report(Outcome(patch=CHANGE), mode).exit_code == code


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        (Mode.APPLY, ("1 fixed", "1 possibly fixable with --unsafe-fixes", "1 not fixed", "1 changed")),
        (
            Mode.PREVIEW,
            ("1 would be fixed", "1 possibly fixable with --unsafe-fixes", "1 without a fix", "1 would change"),
        ),
    ],
)
def test_the_summary_counts_everything(outcome, mode, words):
    fixed, fixable, rest, changed = words

    assert Report(outcome, mode).summary() == (
        f"3 findings, {fixed}, {fixable}, {rest}, 1 suppressed, 4 files checked, {changed}, 1 problem"
    )


def test_a_note_does_not_change_the_exit_code():
    assert Report(Outcome(notes=PROBLEM), Mode.CHECK).exit_code == 0


def test_the_summary_of_a_clean_tree():
    assert Report(Outcome(checked=1), Mode.CHECK).summary() == "no findings, 1 file checked"


def test_the_summary_counts_hidden_latent_findings():
    summary = Report(Outcome(checked=1, hidden=2), Mode.CHECK).summary()

    assert summary == "no findings, 1 file checked, 2 latent findings hidden (shown with --severity latent)"
