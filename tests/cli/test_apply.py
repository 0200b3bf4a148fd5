"""``devfix apply``: what is written, what is printed where, and the exit code."""

import os
import subprocess

import pytest

BOTH = b"a = BUG\r\nb = STUCK\n"


def write(folder, **contents):
    for name, content in contents.items():
        (folder / f"{name}.py").write_bytes(content)


def test_all_done_is_0(run, project):
    write(project, a=b"x = BUG", clean=b"x = 1\n")

    result = run("apply", ".")

    assert result.code == 0
    assert (project / "a.py").read_bytes() == b"x = FIX"
    assert (project / "clean.py").read_bytes() == b"x = 1\n"
    assert result.stderr == ""
    assert "1 fixed, 2 files checked, 1 changed" in result.text


def test_nothing_to_do_is_0(run, project):
    write(project, a=b"x = 1\n")

    assert run("apply", "a.py").text == "no findings, 1 file checked\n"
    assert run("apply", "a.py").stderr == ""
    assert run("apply", "a.py").code == 0


def test_what_remains_is_1(run, project):
    write(project, a=BOTH)

    result = run("apply", "a.py")

    assert result.code == 1
    assert (project / "a.py").read_bytes() == b"a = FIX\r\nb = STUCK\n"
    assert "not fixed: no fix is known" in result.text


def test_unsafe_fixes_are_asked_for(run, project):
    write(project, a=b"RISKY\n")

    assert run("apply", "a.py").code == 1
    assert (project / "a.py").read_bytes() == b"RISKY\n"
    assert run("apply", "a.py", "--unsafe-fixes").code == 0
    assert (project / "a.py").read_bytes() == b"FIX\n"


@pytest.mark.parametrize("flags", [["--diff"], ["--check"], ["--diff", "--check"]], ids=" ".join)
def test_a_preview_writes_nothing(run, project, flags):
    write(project, a=b"BUG\n")
    before = os.stat("a.py")

    result = run("apply", ".", *flags)

    after = os.stat("a.py")
    assert (result.code, (project / "a.py").read_bytes()) == (1, b"BUG\n")
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)
    diff, report = (result.text, result.stderr) if "--diff" in flags else ("", result.text)
    assert "1 would be fixed" in report
    assert diff.startswith("diff --git a/a.py b/a.py\n") is ("--diff" in flags)
    assert "would be fixed" not in diff


def test_a_preview_of_nothing_is_0(run, project):
    write(project, a=b"x = 1\n")

    assert run("apply", ".", "--diff").code == 0
    assert run("apply", ".", "--diff").stdout == b""


def test_the_diff_applied_by_git_is_what_apply_writes(run, project):
    contents = {
        "crlf": b"a\r\nBUG\r\n",
        "end": b"BUG",
        "bom": b"\xef\xbb\xbfBUG\n",
        "latin": b"# coding: latin-1\n'\xe9' # BUG\n",
    }
    write(project, **contents)
    (project / "deep").mkdir()
    (project / "deep/with space.py").write_bytes(b"BUG\n")

    patch = run("apply", ".", "--diff").stdout
    subprocess.run(["git", "apply", "-"], input=patch, check=True)
    by_git = {path: path.read_bytes() for path in project.rglob("*.py")}
    write(project, **contents)
    (project / "deep/with space.py").write_bytes(b"BUG\n")
    assert run("apply", ".").code == 0

    assert {path: path.read_bytes() for path in project.rglob("*.py")} == by_git
    assert len(by_git) == 5


@pytest.mark.parametrize("style", ["text", "concise", "json"])
def test_with_a_diff_standard_output_is_the_diff_alone(run, project, style):
    write(project, a=b"BUG\n")

    result = run("apply", "a.py", "--diff", "--output-format", style)

    assert result.stdout == b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-BUG\n+FIX\n"
    assert "DEV191" in result.stderr


def test_standard_input_is_a_filter(run, project):
    result = run("apply", "-", stdin=b"BUG\r\nx")

    assert (result.code, result.stdout) == (0, b"FIX\r\nx")
    assert run("apply", "-", stdin=b"fine").stdout == b"fine"
    assert list(project.glob("*.py")) == []


def test_standard_input_that_cannot_be_read_comes_back_as_it_was(run, project):
    result = run("apply", "-", "--stdin-filename", "pkg/a.py", stdin=b"BUG\0")

    assert (result.code, result.stdout) == (1, b"BUG\0")
    assert result.stderr.startswith("devfix: pkg/a.py:1: holds NUL bytes")


def test_standard_input_as_a_diff_has_its_name(run, project):
    result = run("apply", "-", "--stdin-filename", "pkg/a.py", "--diff", stdin=b"BUG\n")

    assert result.code == 1
    assert b"+++ b/pkg/a.py\n" in result.stdout
    assert not (project / "pkg").exists()


def test_one_bad_file_does_not_stop_the_others(run, project):
    write(project, a=b"BUG\n", nul=b"\0", locked=b"BUG\n")
    (project / "locked.py").chmod(0o444)

    result = run("apply", ".", "missing.py")

    assert result.code == 2
    assert (project / "a.py").read_bytes() == b"FIX\n"
    assert (project / "locked.py").read_bytes() == b"BUG\n"
    assert result.stderr.splitlines() == [
        "devfix: locked.py: is read-only, so it was not written; chmod u+w",
        "devfix: missing.py: no such file or folder; check the spelling",
        "devfix: nul.py:1: holds NUL bytes; is it really a Python file?",
    ]
    assert "not fixed: locked.py is read-only, so it was not written" in result.text
    assert "2 findings, 1 fixed, 1 not fixed, 2 files checked, 1 changed, 3 problems" in result.text


def test_a_file_that_changes_while_devfix_works_is_left_alone(run, project, engine, monkeypatch):
    write(project, a=b"BUG\n")
    apply = engine.apply

    def slowly(*arguments, **named):
        outcome = apply(*arguments, **named)
        (project / "a.py").write_bytes(b"edited meanwhile\n")
        return outcome

    monkeypatch.setattr(engine, "apply", slowly)
    result = run("apply", "a.py")

    assert result.code == 1
    assert (project / "a.py").read_bytes() == b"edited meanwhile\n"
    assert "changed while devfix worked" in result.stderr


def test_a_link_is_written_through(run, project):
    write(project, real=b"BUG\n")
    (project / "link.py").symlink_to("real.py")

    assert run("apply", "link.py").code == 0
    assert (project / "link.py").is_symlink()
    assert (project / "real.py").read_bytes() == b"FIX\n"


def test_selection_reaches_the_engine(run, project, engine):
    write(project, a=b"BUG STUCK RISKY\n")

    assert run("check", ".", "--select", "DEV1,stuck", "--output-format", "concise", "-j", "3").stdout == (
        b"a.py:1:1: DEV191 [*] BUG is here\na.py:1:5: DEV391 STUCK is here\n"
    )
    assert engine.jobs == 3
    run("check", ".", "--ignore", "bug", "--severity", "advice")
    assert (engine.settings.ignore, engine.settings.severity.value) == (("DEV191",), "advice")


def test_configuration_reaches_the_engine(run, project, engine):
    write(project, a=b"BUG\n", b=b"BUG\n")
    (project / "pyproject.toml").write_text('[tool.devfix]\nexclude = ["b.py"]\ndevice = "args.device"\n')

    assert b"b.py" not in run("check", ".", "--output-format", "concise").stdout
    assert engine.settings.device == "args.device"
    assert b"b.py" in run("check", ".", "--output-format", "concise", "--isolated").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["apply", "-", "a.py"], "'-' cannot be combined", id="stdin-and-more"),
        pytest.param(
            ["apply", "a.py", "--stdin-filename", "b.py"], "--stdin-filename requires the path '-'", id="no-stdin"
        ),
        pytest.param(["apply", "a.py", "--isolated", "--config", "x"], "mutually exclusive", id="isolated"),
        pytest.param(["apply", "a.py", "--select", "bgu"], "unknown rule 'bgu'; did you mean 'bug'?", id="code"),
        pytest.param(["apply", "a.py", "--config", "x.toml"], "x.toml: cannot be read", id="config"),
        pytest.param(["apply", "a.py", "-j", "0"], "0 is not in the range", id="jobs"),
        pytest.param(["repair", "a.py"], "no such command 'repair'", id="verb"),
    ],
)
def test_wrong_usage_is_2_and_says_why(run, project, arguments, message):
    result = run(*arguments)

    assert (result.code, result.stdout) == (2, b"")
    first, *rest = result.stderr.splitlines()
    assert first.startswith("devfix: ") and message in first
    assert rest in ([], [f"Try 'devfix {arguments[0]} --help'."], ["Try 'devfix --help'."])


def test_a_crash_is_2_and_one_line(run, project, engine, monkeypatch):
    write(project, a=b"BUG\n")
    monkeypatch.setattr(engine, "apply", lambda *_, **__: 1 / 0)

    result = run("apply", "a.py")
    assert result.code == 2
    assert result.stderr.startswith("devfix: internal error at test_apply.py:")
    assert "ZeroDivisionError: division by zero." in result.stderr
    assert result.stderr.count("\n") == 1
    assert "Traceback" in run("apply", "a.py", "-v").stderr


def test_ctrl_c_is_130_and_one_line(run, project, engine, monkeypatch):
    write(project, a=b"BUG\n")

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "apply", interrupted)
    result = run("apply", "a.py")

    assert result.code == 130
    assert result.stderr.strip() == "devfix: interrupted; no file is partially written"


def test_ctrl_c_between_two_writes_leaves_whole_files(run, project, monkeypatch):
    write(project, a=b"BUG\n", b=b"BUG\n")
    replace_file = os.replace

    def interrupted_at_b(source, target):
        if target.endswith("b.py"):
            raise KeyboardInterrupt
        replace_file(source, target)

    monkeypatch.setattr(os, "replace", interrupted_at_b)
    result = run("apply", ".")

    assert result.code == 130
    assert {path.name: path.read_bytes() for path in project.iterdir() if path.is_file()} == {
        "a.py": b"FIX\n",
        "b.py": b"BUG\n",
    }


@pytest.mark.parametrize("flag", ["-q", "-v"])
def test_quiet_and_verbose(run, project, flag):
    write(project, a=BOTH)

    printed = run("apply", "a.py", flag).text

    assert ("DEV191" in printed) is (flag == "-v")
    assert ("1 changed" in printed) is (flag == "-v")
    assert "DEV391" in printed
