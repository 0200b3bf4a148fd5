"""What is printed where: reports on standard output, problems and notes on standard error."""

import json

import pytest

FINDING = "a.py:1:5 error DEV191 bug [{mark}]\n"
PROBLEM = "devfix: bad.py:1: holds NUL bytes; is it really a Python file?\n"


@pytest.fixture
def mixed(project):
    """A file with a bug, and one that cannot be read."""
    (project / "a.py").write_bytes(b"x = BUG\n")
    (project / "bad.py").write_bytes(b"\0")
    return project


def test_check_prints_findings_on_standard_output_and_problems_on_standard_error(run, mixed):
    result = run("check", ".")

    assert result.text.startswith(FINDING.format(mark="possible fix"))
    assert result.text.endswith("1 problem\n")
    assert result.stderr == PROBLEM


def test_apply_prints_the_same_way(run, mixed):
    result = run("apply", ".")

    assert result.text.startswith(FINDING.format(mark="safe fix") + "  fixed: replace BUG\n")
    assert result.stderr == PROBLEM


def test_with_a_diff_the_report_makes_way(run, mixed):
    result = run("apply", ".", "--diff")

    assert result.text == "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = BUG\n+x = FIX\n"
    assert result.stderr.startswith(FINDING.format(mark="safe fix"))
    assert PROBLEM in result.stderr


def test_where_standard_input_is_fixed_the_report_makes_way(run, project):
    result = run("apply", "-", "--stdin-filename", "a.py", stdin=b"x = BUG\n")

    assert result.stdout == b"x = FIX\n"
    assert result.stderr.startswith(FINDING.format(mark="safe fix"))


def test_check_of_standard_input_prints_findings(run, project):
    result = run("check", "-", "--stdin-filename", "a.py", stdin=b"x = BUG\n")

    assert result.text.startswith(FINDING.format(mark="possible fix"))
    assert result.stderr == ""


def test_data_stands_alone_on_standard_output(run, mixed):
    result = run("check", ".", "--output-format", "json")

    document = json.loads(result.stdout)
    assert [problem["path"] for problem in document["problems"]] == ["bad.py"]
    assert result.stderr == ""


@pytest.mark.parametrize("format_", ["text", "json"])
def test_beside_a_file_the_text_is_printed(run, mixed, format_):
    alone = run("check", ".")

    result = run("check", ".", "--output-format", format_, "--output-file", "report")

    assert (result.stdout, result.stderr) == (alone.stdout, alone.stderr)
    written = (mixed / "report").read_text(encoding="utf-8")
    if format_ == "json":
        assert len(json.loads(written)["findings"]) == 1
    else:
        assert PROBLEM in written and FINDING.format(mark="possible fix") in written


def test_notes_have_the_prefix_and_quiet_leaves_them_out(inside, project):
    (project / "a.py").write_text("import torch\n\nx = torch.ones(3)  # devfix: ignore[DEV101]\n", encoding="utf-8")

    result = inside("check", ".")

    assert result.stderr == "devfix: note: a.py:3: unused suppression (DEV101); remove the comment\n"
    assert result.text == "no findings, 1 file checked\n"
    assert inside("check", ".", "-q").stderr == ""
