"""``devfix check``: findings, and nothing else happens."""

import json

import pytest


def test_findings_are_1_and_nothing_is_written(run, project):
    (project / "a.py").write_bytes(b"x = BUG\n")

    result = run("check", ".")

    assert result.code == 1
    assert "a.py:1:5 error DEV191 bug [possible fix]" in result.text
    assert "fix: replace BUG" in result.text
    assert result.stderr == ""
    assert (project / "a.py").read_bytes() == b"x = BUG\n"


def test_no_findings_are_0(run, project):
    (project / "a.py").write_bytes(b"x = 1\n")

    assert run("check", ".").code == 0


def test_json_is_on_standard_output(run, project):
    (project / "a.py").write_bytes(b"x = BUG\n")

    document = json.loads(run("check", ".", "--output-format", "json").stdout)

    assert document["mode"] == "check"
    assert [finding["code"] for finding in document["findings"]] == ["DEV191"]


def test_standard_input(run, project):
    result = run("check", "-", "--stdin-filename", "a.py", "--output-format", "concise", stdin=b"BUG\n")

    assert (result.code, result.stdout) == (1, b"a.py:1:1: DEV191 [*] BUG is here\n")


@pytest.mark.parametrize("flag", ["--diff", "--check", "--unsafe-fixes"])
def test_flags_of_apply_are_not_for_check(run, project, flag):
    assert run("check", ".", flag).code == 2
