"""Invalid usage: one line says what is wrong, a second one which help to read."""

import pytest

from devfix.cli import cli


def test_devfix_alone_prints_the_first_steps(outside):
    result = outside()

    assert (result.code, result.stderr) == (2, "")
    lines = result.text.splitlines()
    assert len(lines) == 5
    commands = "check .", "apply . --diff", "verify train.py -- ARGS", "--help"
    for line, command in zip(lines[1:], commands, strict=True):
        assert line.startswith(f"  devfix {command} ")


@pytest.mark.parametrize(
    ("word", "message"),
    [
        pytest.param("chek", "no such command 'chek'; did you mean 'check'?", id="a-near-one"),
        pytest.param("aply", "no such command 'aply'; did you mean 'apply'?", id="another-near-one"),
        pytest.param("zzz", "no such command 'zzz'", id="none-near"),
        pytest.param("train.py", "'train.py' is not a command; did you mean 'devfix check train.py'?", id="a-file"),
        pytest.param("check\n::error::", "no such command 'check\\n::error::'", id="line-ends"),
    ],
)
def test_an_unknown_command_names_the_nearest(inside, project, word, message):
    (project / "train.py").write_bytes(b"x = 1\n")

    result = inside(word)

    assert (result.code, result.stdout) == (2, b"")
    assert result.stderr == f"devfix: {message}\nTry 'devfix --help'.\n"


@pytest.mark.parametrize("command", sorted(cli.list_commands(None)))
def test_every_command_answers_an_unknown_option_in_two_lines(inside, command):
    result = inside(command, "--no-such-option")

    assert (result.code, result.stdout) == (2, b"")
    first, second = result.stderr.splitlines()
    assert first.startswith("devfix: no such option '--no-such-option'") and not first.endswith(".")
    assert second == f"Try 'devfix {command} --help'."


@pytest.mark.parametrize(
    ("arguments", "command", "message"),
    [
        pytest.param(["check", "--out-format"], "check", "no such option '--out-format'", id="an-option"),
        pytest.param(["bot", "reviw"], "bot", "no such command 'reviw'", id="a-command-of-a-group"),
    ],
)
def test_errors_of_click_read_like_the_others(inside, arguments, command, message):
    first, second = inside(*arguments).stderr.splitlines()

    assert first.startswith(f"devfix: {message}")
    assert first.removeprefix(f"devfix: {message}")[:14] in ("", "; did you mean"), "a suggestion of newer releases"
    assert second == f"Try 'devfix {command} --help'."


def test_a_group_without_a_command_prints_its_help(inside):
    result = inside("bot")

    lines = (result.text + result.stderr).splitlines()
    assert lines[0].startswith("Usage: devfix bot [OPTIONS] COMMAND")
    assert any(line.startswith("  review ") for line in lines)


@pytest.mark.parametrize("verb", ["check", "apply"])
def test_without_a_path_the_current_folder_is_meant(run, project, verb):
    (project / "a.py").write_bytes(b"x = STUCK\n")
    (project / "deep").mkdir()
    (project / "deep/b.py").write_bytes(b"y = STUCK\n")

    alone, dot = run(verb), run(verb, ".")

    assert alone == dot
    assert "a.py:1:5 error DEV391" in alone.text and "deep/b.py:1:5 error DEV391" in alone.text


@pytest.mark.parametrize("arguments", [["check"], ["apply"], ["apply", "--diff"], ["apply", "--check"]], ids=" ".join)
def test_a_missing_path_is_2_and_the_others_are_processed(run, project, arguments):
    (project / "a.py").write_bytes(b"x = BUG\n")

    result = run(*arguments, "missing.py", "a.py")

    assert result.code == 2
    assert "devfix: missing.py: no such file or folder; check the spelling\n" in result.stderr
    assert "a.py:1:5 error DEV191" in (result.stderr if "--diff" in arguments else result.text)
    assert (project / "a.py").read_bytes() == (b"x = FIX\n" if arguments == ["apply"] else b"x = BUG\n")
