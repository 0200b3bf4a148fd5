"""Where reports go: a file, standard output, standard error; and counts in their place."""

import json
import os
import stat
import subprocess
import sys

import jsonschema
import pytest

from devfix.report.formats import FORMATS

BUGS = b"x = BUG\ny = BUG\nz = STUCK\n"


@pytest.fixture
def bugs(project):
    (project / "a.py").write_bytes(BUGS)
    return project


def test_a_file_receives_the_data_and_people_read_the_text(run, bugs):
    result = run("check", ".", "--output-format", "json", "--output-file", "report.json")

    assert (result.code, result.stderr) == (1, "")
    assert len(json.loads((bugs / "report.json").read_text())["findings"]) == 3
    assert "3 findings, 2 possibly fixable with devfix apply, 1 without a fix, 1 file checked" in result.text
    assert sorted(os.listdir(bugs)) == [".git", "a.py", "report.json"]


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_format_goes_to_a_file_as_it_goes_to_standard_output(run, bugs, monkeypatch, name):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")  # a page has its date
    printed = run("check", ".", "--output-format", name)
    run("check", ".", "--output-format", name, "--output-file", "report")

    written = (bugs / "report").read_bytes().replace(b" --output-file report", b"")  # a page has its command
    assert written == printed.stdout != b""


def test_the_file_takes_the_place_of_an_earlier_one_and_keeps_its_mode_and_its_link(run, bugs):
    (bugs / "real").write_text("old", encoding="utf-8")
    os.chmod(bugs / "real", 0o640)
    os.symlink("real", bugs / "link")

    run("check", ".", "--output-format", "concise", "--output-file", "link")

    assert (bugs / "link").is_symlink() and (bugs / "real").read_bytes().startswith(b"a.py:1:5: DEV191")
    assert stat.S_IMODE(os.stat(bugs / "real").st_mode) == 0o640


def test_what_is_no_file_is_written_to(run, bugs):
    assert run("check", ".", "--output-format", "sarif", "--output-file", os.devnull).code == 1
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (".", "is a directory: name a file in it"),
        ("no/such/report", "directory no/such does not exist: create it first"),
        ("a.py", "is one of the analyzed files; name another file"),
        ("", "missing file name"),
    ],
)
def test_a_place_that_cannot_be_written_is_one_line_before_the_work(run, bugs, file, reason):
    result = run("apply", ".", "--output-file", file)

    assert (result.code, result.stderr) == (2, f"devfix: --output-file {file}: {reason}\n")
    assert (bugs / "a.py").read_bytes() == BUGS


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_one_line(run, bugs):
    (bugs / "closed").mkdir(mode=0o500)

    result = run("check", ".", "--output-file", "closed/report")

    assert (result.code, result.stderr) == (
        2,
        "devfix: --output-file closed/report: permission denied in its directory\n",
    )


def test_a_diff_stays_alone_on_standard_output(run, bugs):
    beside = run("apply", ".", "--diff", "--output-format", "jsonl")
    in_file = run("apply", ".", "--diff", "--output-format", "jsonl", "--output-file", "report")

    assert beside.stdout == in_file.stdout and beside.stdout.startswith(b"diff --git a/a.py b/a.py\n")
    assert beside.stderr == (bugs / "report").read_text(encoding="utf-8")
    assert "would fix: replace BUG" in in_file.stderr
    assert (bugs / "a.py").read_bytes() == BUGS


def test_standard_input_is_repaired_on_standard_output_and_reported_in_the_file(run, project):
    result = run(
        *("apply", "-", "--stdin-filename", "b.py", "--output-format", "github", "--output-file", "report"),
        stdin=b"x = STUCK + BUG\n",
    )

    assert (result.code, result.stdout) == (1, b"x = STUCK + FIX\n")
    assert (project / "report").read_text(encoding="utf-8").count("::error ") == 1


def test_statistics_count_in_the_place_of_findings(run, bugs):
    text = run("check", ".", "--statistics")
    concise = run("check", ".", "--statistics", "--output-format", "concise")

    assert (text.code, concise.code) == (1, 1)
    assert concise.stdout == b"2\tDEV191\t[*] bug\n1\tDEV391\t[ ] stuck\n"
    assert "DEV191  [*] bug" in text.text and "BUG is here" not in text.text
    assert text.text.endswith("3 findings, 2 possibly fixable with devfix apply, 1 without a fix, 1 file checked\n")


def test_statistics_as_json_follow_their_schema(run, bugs):
    import devfix

    result = run("check", ".", "--statistics", "--output-format", "json")

    document = json.loads(result.stdout)
    with open(os.path.join(devfix.__path__[0], "schema", "statistics-2.json"), encoding="utf-8") as file:
        jsonschema.Draft202012Validator(json.load(file)).validate(document)
    assert document["statistics"] == [
        {"code": "DEV191", "name": "bug", "count": 2, "fixable": 2},
        {"code": "DEV391", "name": "stuck", "count": 1, "fixable": 0},
    ]


def test_statistics_go_with_no_other_format(run, bugs):
    result = run("check", ".", "--statistics", "--output-format", "sarif")

    assert result.code == 2
    assert result.stderr.splitlines() == [
        "devfix: --statistics is not supported with --output-format sarif; use text, concise, agent, json",
        "Try 'devfix check --help'.",
    ]


def test_a_reader_that_has_gone_is_no_traceback(environment, bugs):
    (bugs / "a.py").write_bytes(b"import torch\n" * 3 + b"def (:\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "devfix", "check", ".", "--output-format", "sarif"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    stderr = process.stderr.read()
    process.stderr.close()

    assert (process.wait(), stderr) == (1, b"")
