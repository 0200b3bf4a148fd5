"""``devfix init``: it shows, it asks, and it leaves alone what is there."""

import os
import pty
import subprocess
import sys

import pytest

PROJECT = b'[project]\nname = "nets"  # ours\n'
HOOKS = b"repos:\n  - repo: x  # pinned\n    hooks:\n      - id: a\n\nci: {}\n"


@pytest.fixture
def repository(project):
    (project / "pyproject.toml").write_bytes(PROJECT)
    (project / ".pre-commit-config.yaml").write_bytes(HOOKS)
    return project


def contents(folder):
    return {name: (folder / name).read_bytes() for name in sorted(os.listdir(folder)) if name != ".git"}


def answering(answers, environment, *arguments):
    """Run devfix on a terminal on which a person gives these answers; its exit code and all that it prints."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "devfix", "init", *arguments]
    with subprocess.Popen(
        command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment
    ) as process:
        os.write(ours, answers.encode())
        printed = process.stdout.read().decode()
        code = process.wait(timeout=60)
    os.close(ours)
    os.close(theirs)
    return code, printed


def test_a_diff_is_printed_that_git_applies_to_the_same_bytes(repository, inside):
    shown = inside("init", "--diff")

    assert shown.code == 1
    assert contents(repository) == {".pre-commit-config.yaml": HOOKS, "pyproject.toml": PROJECT}
    subprocess.run(["git", "apply"], input=shown.stdout, check=True)
    applied = contents(repository)
    (repository / "pyproject.toml").write_bytes(PROJECT)
    (repository / ".pre-commit-config.yaml").write_bytes(HOOKS)
    assert inside("init", "--yes").code == 0
    assert contents(repository) == applied


def test_new_files_are_in_the_diff_as_new(project, inside):
    shown = inside("init", "--config", "--hook", "--diff")

    subprocess.run(["git", "apply"], input=shown.stdout, check=True)
    assert sorted(contents(project)) == [".pre-commit-config.yaml", "pyproject.toml"]


def test_without_a_terminal_nothing_is_written(repository, inside):
    before = contents(repository)

    done = inside("init")

    assert done.code == 1
    assert b"+[tool.devfix]" in done.stdout
    assert done.stderr == "nothing was written, because there is no terminal for the prompt: use --yes\n"
    assert contents(repository) == before


def test_a_second_run_changes_nothing(repository, inside):
    inside("init", "--yes")
    before = contents(repository)

    again = inside("init", "--yes")

    assert again.code == 0
    assert again.stdout == b""
    assert again.stderr.splitlines() == [
        "pyproject.toml: [tool.devfix] already exists",
        ".pre-commit-config.yaml: the hook devfix already exists",
    ]
    assert contents(repository) == before


def test_each_change_is_asked_for(repository, environment):
    code, printed = answering("n\ny\n", environment)

    assert code == 0
    assert "Change pyproject.toml? [y/N]" in printed and "Change .pre-commit-config.yaml? [y/N]" in printed
    assert contents(repository)["pyproject.toml"] == PROJECT
    assert b"id: devfix" in contents(repository)[".pre-commit-config.yaml"]


def test_a_workflow_comes_with_the_switch_of_the_bot_and_is_asked_for_as_one(repository, environment, inside):
    code, printed = answering("y\ny\n", environment, "--workflow", "github")

    assert code == 0
    assert "Create .github/workflows/devfix-review.yml and .github/workflows/devfix-post.yml? [y/N]" in printed
    assert (repository / "pyproject.toml").read_bytes() == PROJECT + b"\n[tool.devfix.bot]\nenabled = true\n"
    assert sorted(os.listdir(repository / ".github" / "workflows")) == ["devfix-post.yml", "devfix-review.yml"]
    again = inside("init", "--workflow", "github", "--yes")
    assert (again.code, again.stdout) == (0, b"")


def test_a_workflow_beside_others_is_offered_to_somebody_and_not_made_unasked(repository, environment, inside):
    (repository / ".github" / "workflows").mkdir(parents=True)
    assert b"bot" not in inside("init", "--diff").stdout

    code, printed = answering("n\nn\nn\n", environment)

    assert code == 0
    assert "enabled = true" in printed and "Create .github/workflows/devfix-review.yml and" in printed
    assert inside("init", "--yes").code == 0
    assert os.listdir(repository / ".github" / "workflows") == []
    assert b"bot" not in (repository / "pyproject.toml").read_bytes()


def test_a_pipeline_of_gitlab_is_made_and_not_added_to(repository, inside):
    assert inside("init", "--workflow", "gitlab", "--yes").code == 0
    assert b"devfix bot review" in (repository / ".gitlab-ci.yml").read_bytes()
    (repository / ".gitlab-ci.yml").write_bytes(b"stages: [a]\n")

    done = inside("init", "--workflow", "gitlab", "--yes")

    assert done.code == 1
    assert "which an addition could break; add it by hand:" in done.stderr
    assert (repository / ".gitlab-ci.yml").read_bytes() == b"stages: [a]\n"


def test_the_root_of_the_repository_is_meant(repository, inside):
    (repository / "nets").mkdir()

    assert inside("init", "nets", "--config", "--yes").code == 0

    assert b"[tool.devfix]" in (repository / "pyproject.toml").read_bytes()


def test_what_cannot_be_added_is_told_and_the_rest_is_done(repository, inside):
    (repository / ".pre-commit-config.yaml").write_bytes(b"repos: []\n")

    done = inside("init", "--yes")

    assert done.code == 1
    assert "the key has no list, or a list in brackets; add it by hand:\n- repo: local\n" in done.stderr
    assert b"[tool.devfix]" in contents(repository)["pyproject.toml"]
    assert contents(repository)[".pre-commit-config.yaml"] == b"repos: []\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nowhere"], "devfix: nowhere: no such folder; check the spelling\n"),
        (["pyproject.toml"], "devfix: pyproject.toml: not a folder\n"),
        (["--diff", "--yes"], "--yes has no effect with --diff"),
    ],
)
def test_wrong_usage_is_one_line(repository, inside, arguments, told):
    done = inside("init", *arguments)

    assert done.code == 2
    assert told in done.stderr


def test_a_file_that_may_not_be_written_is_told(repository, inside):
    (repository / "pyproject.toml").chmod(0o444)

    done = inside("init", "--config", "--yes")

    assert done.code == 1
    assert done.stderr == "pyproject.toml: is read-only, so it was not written (chmod u+w)\n"
