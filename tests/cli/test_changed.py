"""``--since`` and ``--staged``: whole programs are read, and changed lines are spoken of."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

from devfix.cli import main
from devfix.engine.parallel_scan import forget_listings


@dataclass(frozen=True)
class Result:
    code: int
    stdout: bytes
    stderr: str


HEAD = """\
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 2).to(device)
"""
STEP = "for step in range(4):\n    loss = model({batch}).sum()\n    loss.backward()\n"
BROKEN = HEAD + STEP.format(batch="torch.randn(8, 4)")
CLEAN = HEAD + STEP.format(batch="torch.randn(8, 4, device=device)")


NOTEBOOK = json.dumps(
    {
        "cells": [
            {
                "cell_type": "code",
                "execution_count": None,
                "id": "one",
                "metadata": {},
                "outputs": [],
                "source": [f"{line}\n" for line in [*BROKEN.splitlines(), "# end"]],
            }
        ],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    },
    indent=1,
)


def git(*arguments, **more):
    person = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "A Person"), ("EMAIL", "person@example.org"))
    }
    environment = {**os.environ, **person, "GIT_CONFIG_GLOBAL": os.devnull, **more}
    done = subprocess.run(["git", *arguments], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def commit(project, **files):
    """Write files, named with two underscores for a dot, and commit everything."""
    for name, text in files.items():
        write(project / name.replace("__", "."), text)
    git("add", "-A")
    git("commit", "-q", "--allow-empty", "-m", "work")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def lines(result):
    """The findings of ``--output-format concise``."""
    return result.stdout.decode().splitlines()


@pytest.fixture
def devfix(project, capfdbinary):
    """The command in this process, which forgets between two calls what folders hold."""

    def call(*arguments):
        forget_listings()
        with pytest.raises(SystemExit) as exited:
            main(list(arguments))
        sys.stdout.flush()
        captured = capfdbinary.readouterr()
        return Result(exited.value.code, captured.out, captured.err.decode())

    return call


@pytest.fixture
def check(devfix):
    def call(*arguments):
        return devfix("check", *(arguments or ["."]), "--output-format", "concise", "--no-cache")

    return call


def test_only_what_has_changed_is_told(check, project):
    commit(project, old__py=BROKEN, new__py=CLEAN)
    write(project / "new.py", BROKEN)

    assert len(lines(check("."))) == 2
    assert [line.partition(":")[0] for line in lines(check(".", "--since", "HEAD"))] == ["new.py"]


def test_nothing_changed_is_nothing_to_say(check, project):
    commit(project, old__py=BROKEN)

    assert check(".", "--since", "HEAD").code == 0


def test_another_line_of_the_file_is_not_enough(check, project):
    commit(project, a__py=BROKEN + "\nprint('done')\n")
    write(project / "a.py", BROKEN + "\nprint('all done')\n")

    assert lines(check(".", "--since", "HEAD")) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(".to(device)\n", "\n", id="the-move-of-the-model-is-new"),
        pytest.param("model(torch.randn(8, 4)).sum()", "model(torch.randn(8, 4)).mean()", id="the-line-that-fails"),
    ],
)
def test_what_breaks_a_line_that_stays_is_told(check, project, old, new):
    commit(project, a__py=BROKEN.replace(old, new))
    write(project / "a.py", BROKEN)

    assert len(lines(check(".", "--since", "HEAD"))) == 1


def test_what_a_removed_move_leaves_behind_is_told(check, project):
    head = HEAD.replace(".to(device)", "")
    step = STEP.format(batch="torch.randn(8, 4, device=device)")
    commit(project, a__py=head + "model.to(device)\n" + step)
    write(project / "a.py", head + step)

    assert len(lines(check(".", "--since", "HEAD"))) == 1


def test_a_change_in_another_file_of_the_program_counts_there(check, project):
    text = "from data import batch\n" + HEAD + STEP.format(batch="batch()")
    data = "import torch\n\n\ndef batch():\n    return torch.randn(8, 4)\n"
    commit(project, a__py=text, data__py=data.replace("8", "16"))
    write(project / "data.py", data)

    assert len(lines(check("a.py", "--since", "HEAD"))) == 1
    git("checkout", "-q", "data.py")
    assert lines(check("a.py", "--since", "HEAD")) == []


def test_what_went_on_elsewhere_is_not_a_change_of_this_branch(check, project):
    commit(project, a__py=CLEAN, b__py=BROKEN)
    git("checkout", "-q", "-b", "topic")
    git("checkout", "-q", "-b", "trunk")
    commit(project, b__py=CLEAN)
    git("checkout", "-q", "topic")
    commit(project, a__py=BROKEN)

    assert [line.partition(":")[0] for line in lines(check(".", "--since", "trunk"))] == ["a.py"]


def test_a_new_file_counts_as_a_whole_and_an_ignored_one_where_it_is_named(check, project):
    commit(project, __gitignore="ignored.py\n")
    write(project / "new.py", BROKEN)
    write(project / "ignored.py", BROKEN)

    assert [line.partition(":")[0] for line in lines(check(".", "--since", "HEAD"))] == ["new.py"]
    assert len(lines(check("ignored.py", "--since", "HEAD"))) == 1


def test_a_renamed_file_has_not_changed(check, project):
    commit(project, a__py=BROKEN)
    git("mv", "a.py", "b.py")

    assert lines(check(".", "--since", "HEAD")) == []


def test_a_deleted_file_is_no_obstacle(check, project):
    commit(project, a__py=BROKEN, b__py=CLEAN)
    (project / "a.py").unlink()

    assert check(".", "--since", "HEAD").code == 0


def test_lines_that_end_in_crlf_are_counted(check, project):
    crlf = BROKEN.replace("\n", "\r\n")
    git("config", "core.autocrlf", "true")
    commit(project, a__py=crlf + "print(1)\r\n")
    write(project / "a.py", crlf + "print(2)\r\n")
    assert lines(check(".", "--since", "HEAD")) == []

    write(project / "a.py", crlf.replace("(8, 4)", "(9, 4)") + "print(1)\r\n")
    assert len(lines(check(".", "--since", "HEAD"))) == 1


@pytest.mark.parametrize("name", ["sub folder/ä b.py", 'quo"te.py', "tab\there.py"])
def test_unusual_names(check, project, name):
    write(project / name, CLEAN)
    commit(project)
    write(project / name, BROKEN)

    assert len(lines(check(".", "--since", "HEAD"))) == 1


def test_a_file_in_another_folder_than_the_current_one(inside, project):
    write(project / "deep" / "a.py", CLEAN)
    commit(project)
    write(project / "deep" / "a.py", BROKEN)

    result = inside("check", ".", "--since", "HEAD", "--output-format", "concise", cwd=project / "deep")

    assert len(lines(result)) == 1


def test_a_problem_of_an_unchanged_file_is_not_this_change_s(check, project):
    commit(project, bad__py="import torch\nx = (\n", a__py=CLEAN)
    write(project / "a.py", CLEAN + "\n")
    assert check(".", "--since", "HEAD").code == 0

    write(project / "bad.py", "import torch\nx = ((\n")
    assert check(".", "--since", "HEAD").code == 1


def test_a_submodule_is_left_alone_and_can_be_named(check, project, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    git("init", "-q", str(other))
    write(other / "lib.py", BROKEN)
    git("-C", str(other), "add", "-A")
    git("-C", str(other), "commit", "-q", "-m", "work")
    commit(project, a__py=CLEAN)
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
    commit(project)
    write(project / "a.py", BROKEN)
    write(project / "sub" / "lib.py", BROKEN + "\nprint(1)\n")

    assert [line.partition(":")[0] for line in lines(check(".", "--since", "HEAD"))] == ["a.py"]
    assert check("sub", "--since", "HEAD").code == 0
    both = check(".", "sub", "--since", "HEAD")
    assert both.code == 2 and "several repositories" in both.stderr and both.stderr.count("\n") == 1


def test_changed_lines_of_a_notebook_are_those_of_its_cells(check, project):
    commit(project, a__ipynb=NOTEBOOK)
    write(project / "a.ipynb", NOTEBOOK.replace("# end", "# the end"))
    assert lines(check(".", "--since", "HEAD")) == []

    write(project / "a.ipynb", NOTEBOOK.replace("(8, 4)", "(9, 4)"))
    assert len(lines(check(".", "--since", "HEAD"))) == 1
    git("add", "a.ipynb")
    (project / "a.ipynb").unlink()
    assert len(lines(check(".", "--staged"))) == 1


# --- what git cannot say --------------------------------------------------------------------------------------------
def test_a_revision_that_is_not_there(check, project):
    commit(project, a__py=CLEAN)

    result = check(".", "--since", "nowhere")

    assert (result.code, result.stderr.count("\n")) == (2, 1)
    assert "'nowhere' is no commit, branch or tag" in result.stderr


@pytest.mark.parametrize("revision", ["--output=here", "HEAD:a.py", ""])
def test_a_revision_is_never_an_option_or_a_file(check, project, revision):
    commit(project, a__py=CLEAN)

    assert check(".", f"--since={revision}").code == 2
    assert not (project / "here").exists()


def test_a_repository_without_commits(check, project):
    write(project / "a.py", BROKEN)

    result = check(".", "--since", "HEAD")

    assert (result.code, result.stderr.count("\n")) == (2, 1)
    assert "has no commit yet" in result.stderr


@pytest.mark.parametrize("flag", [["--since", "HEAD"], ["--staged"]])
def test_no_repository(inside, tmp_path, flag):
    write(tmp_path / "a.py", BROKEN)

    result = inside("check", ".", *flag, cwd=tmp_path)

    assert (result.code, result.stderr.count("\n")) == (2, 1)
    assert "is in no git repository" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["check", ".", "--since", "HEAD", "--staged"], id="both"),
        pytest.param(["check", "-", "--staged"], id="standard-input"),
        pytest.param(["apply", "a.py", "--verify", "--staged"], id="runs-of-the-working-tree"),
        pytest.param(["apply", "a.py", "--trace", "--since", "HEAD"], id="trace"),
    ],
)
def test_what_does_not_go_together(devfix, project, arguments):
    write(project / "a.py", BROKEN)

    result = devfix(*arguments)

    assert result.code == 2
    first, second = result.stderr.splitlines()
    assert first.startswith("devfix: --") and not first.endswith(".")
    assert second == f"Try 'devfix {arguments[0]} --help'."


# --- the index ------------------------------------------------------------------------------------------------------
def test_the_index_is_read_and_not_the_working_tree(check, project):
    commit(project, a__py=CLEAN)
    write(project / "a.py", BROKEN)
    assert lines(check(".", "--staged")) == []

    git("add", "a.py")
    write(project / "a.py", CLEAN)
    assert len(lines(check(".", "--staged"))) == 1


def test_a_file_that_is_imported_is_read_from_the_index(check, project):
    data = "import torch\n\n\ndef batch():\n    return torch.randn(8, 4)\n"
    commit(project, data__py=data.replace("(8, 4)", "(8, 4, device='cuda')"))
    write(project / "a.py", "from data import batch\n" + HEAD + STEP.format(batch="batch()"))
    git("add", "a.py")
    write(project / "data.py", data)
    assert lines(check(".", "--staged")) == []

    git("add", "data.py")
    assert len(lines(check(".", "--staged"))) == 1


def test_staged_before_the_first_commit(check, project):
    write(project / "a.py", BROKEN)
    git("add", "a.py")

    assert len(lines(check(".", "--staged"))) == 1


def test_what_is_gone_from_the_working_tree_is_still_staged(check, project):
    commit(project)
    write(project / "a.py", BROKEN)
    git("add", "a.py")
    (project / "a.py").unlink()

    assert len(lines(check(".", "--staged"))) == 1
    named = check("a.py", "--staged")
    assert named.code == 1 and len(lines(named)) == 1
    missing = check("a.py")
    assert missing.code == 2 and "no such file" in lines(missing)[0]
    assert check("nowhere.py", "--staged").code == 2


def test_an_untracked_file_is_not_staged(check, project):
    commit(project, b__py=CLEAN)
    write(project / "a.py", BROKEN)
    write(project / "b.py", CLEAN + "\n")
    git("add", "b.py")

    assert check(".", "--staged").code == 0
    named = check("a.py", "--staged")
    assert named.code == 1 and lines(named) == ["a.py: is not in the index; run git add"]


def test_a_conflict_is_told(check, project):
    commit(project, a__py=CLEAN)
    git("checkout", "-q", "-b", "other")
    commit(project, a__py=CLEAN.replace("8", "9"))
    git("checkout", "-q", "-")
    commit(project, a__py=CLEAN.replace("8", "7"), b__py=CLEAN)
    subprocess.run(["git", "merge", "-q", "other"], capture_output=True, check=False)
    write(project / "b.py", CLEAN + "\n")
    git("add", "b.py")

    assert "conflicts that are not resolved" in check(".", "--staged").stdout.decode()


def test_the_index_that_git_commit_a_shows_its_hooks(check, project, monkeypatch):
    commit(project, a__py=CLEAN)
    write(project / "a.py", BROKEN)
    (project / ".git" / "next-index").write_bytes((project / ".git" / "index").read_bytes())
    git("add", "a.py", GIT_INDEX_FILE=".git/next-index")
    assert lines(check(".", "--staged")) == []

    monkeypatch.setenv("GIT_INDEX_FILE", ".git/next-index")
    assert len(lines(check(".", "--staged"))) == 1


# --- apply ----------------------------------------------------------------------------------------------------------
def test_apply_edits_changed_lines_only(devfix, project):
    twice = BROKEN + STEP.format(batch="torch.randn(2, 4)")
    commit(project, a__py=twice.replace("(2, 4)", "(3, 4)"), b__py=BROKEN)
    write(project / "a.py", twice)

    result = devfix("apply", ".", "--since", "HEAD")

    text = (project / "a.py").read_text()
    assert result.code == 0
    assert "model(torch.randn(8, 4)).sum" in text and "model(torch.randn(2, 4).to(device))" in text
    assert (project / "b.py").read_text() == BROKEN


def test_apply_edits_the_working_tree_where_it_is_as_staged(devfix, project):
    commit(project)
    write(project / "a.py", BROKEN)
    git("add", "a.py")

    assert devfix("apply", ".", "--staged").code == 0
    assert "torch.randn(8, 4).to(device)" in (project / "a.py").read_text()


def test_apply_says_where_the_working_tree_is_not_as_staged(devfix, project):
    commit(project)
    write(project / "a.py", BROKEN)
    git("add", "a.py")
    write(project / "a.py", BROKEN + "print(1)\n")

    result = devfix("apply", ".", "--staged")

    assert result.code == 1
    assert "the index and the working tree hold a.py differently" in result.stdout.decode()
    assert (project / "a.py").read_text() == BROKEN + "print(1)\n"


# --- what hooks name ------------------------------------------------------------------------------------------------
def test_what_is_excluded_is_left_out_also_where_it_is_named(check, project):
    write(project / "pyproject.toml", '[tool.devfix]\nexclude = ["old/"]\n')
    write(project / "old" / "a.py", BROKEN)
    write(project / "b.py", BROKEN)

    assert len(lines(check("old/a.py", "b.py"))) == 2
    assert [line[:4] for line in lines(check("old/a.py", "b.py", "--force-exclude"))] == ["b.py"]
    assert check("old/a.py", "--force-exclude").code == 0
    assert check("old/a.py", "--force-exclude", "--staged").code == 0
