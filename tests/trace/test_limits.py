"""What comments, flags, configuration and git say is left alone by running as it is by reading."""

from __future__ import annotations

import subprocess

import pytest

from devfix.config import Settings
from devfix.engine import suppressions
from devfix.model import AppendCode, Problem, Span
from devfix.trace.repair.candidates import Candidate
from devfix.trace.repair.limits import Bounds
from devfix.verify.project import Project

TEXT = "import torch\nx = torch.ones(3).cuda()\ny = torch.zeros(3){}\nz = x + y{}\n"
BIRTH = ("torch.zeros(3)", Candidate("move it", (AppendCode("train.py", Span(3, 4, 3, 18), ".cuda()"),)))
USE = ("y", Candidate("move it", (AppendCode("train.py", Span(4, 8, 4, 9), ".cuda()"),)))


@pytest.fixture
def stand(program, monkeypatch):
    """A failure in a program with comments at the birth and at the line that fails, and the bounds."""

    def standing(at_birth="", at_use="", **settings):
        told = program(TEXT.format(at_birth, at_use))
        monkeypatch.chdir(told.root)
        culprit = told.value("y", told.made("torch.zeros(3)"))
        diagnosis = told.failure(culprit, told.value("x", device="cuda:0"), told.at("x + y"))
        bounds = Bounds(Project(told.root, "train.py", "."), Settings(**{"root": str(told.root), **settings}))
        return bounds, diagnosis, told.edited

    return standing


def test_without_a_word_everything_may_change(stand):
    bounds, diagnosis, texts = stand()

    assert not bounds.disabled_reason(diagnosis)
    assert not bounds.is_suppressed(diagnosis, texts)
    assert all(bounds.allows(candidate, diagnosis, texts) for _, candidate in (BIRTH, USE))


@pytest.mark.parametrize(
    ("comment", "answered"),
    [
        ("  # devfix: ignore", True),
        ("  # devfix: ignore[DEV102] on purpose", True),
        ("  # devfix: ignore[tensor-without-device]", True),
        ("  # noqa: DEV102", True),
        ("\n# devfix: skip-file", True),
        ("  # devfix: ignore[DEV201]", False),
        ("  # noqa: E501", False),
    ],
)
def test_a_comment_at_the_cause_answers_for_it(stand, comment, answered):
    bounds, diagnosis, texts = stand(at_birth=comment)

    assert bounds.is_suppressed(diagnosis, texts) is answered
    assert bounds.allows(BIRTH[1], diagnosis, texts) is not answered


def test_a_comment_at_the_line_of_an_edit_keeps_the_edit_away(stand):
    bounds, diagnosis, texts = stand(at_use="  # devfix: ignore")

    assert not bounds.is_suppressed(diagnosis, texts)
    assert bounds.allows(BIRTH[1], diagnosis, texts)
    assert not bounds.allows(USE[1], diagnosis, texts)


@pytest.mark.parametrize(
    "settings",
    [
        {"ignore": ("DEV1",)},
        {"select": ("DEV2",)},
        {"per_file_ignores": (("train.py", ("DEV102",)),)},
    ],
    ids=["ignore", "select", "per file"],
)
def test_a_rule_that_is_not_looked_for_is_not_repaired(stand, settings):
    bounds, diagnosis, texts = stand(**settings)

    assert bounds.disabled_reason(diagnosis) == "DEV102 is not enabled for train.py"
    assert not bounds.allows(USE[1], diagnosis, texts)


def files(folder):
    subprocess.run(["git", "init", "-q", folder], check=True)
    (folder / ".gitignore").write_text("ignored.py\n")
    (folder / ".venv/lib/site-packages").mkdir(parents=True)
    (folder / ".venv/pyvenv.cfg").write_text("")
    (folder / "vendor").mkdir()
    names = ["train.py", "ignored.py", "vendor/part.py", ".venv/lib/site-packages/package.py", "made.py"]
    for name in names:
        (folder / name).write_text("x = 1\n")
    (folder / "made.py").write_text("# @" + "generated\nx = 1\n")
    return names


@pytest.mark.parametrize("given", [False, True], ids=["found", "given by name"])
def test_files_that_may_change(tmp_path, given):
    names = files(tmp_path)
    project = Project(tmp_path, "train.py", ".")
    settings = Settings(root=str(tmp_path), exclude=("vendor/",))

    bounds = Bounds(project, settings, [str(tmp_path / name) for name in names] if given else ())

    assert [name for name in names if bounds.may_edit(name)] == (names if given else ["train.py"])


def test_a_comment_that_a_run_needs_is_not_told_as_unused(stand):
    bounds, diagnosis, texts = stand(at_birth="  # devfix: ignore")
    unused = Problem("train.py", "unused suppression", 3, "remove the comment")
    assert suppressions.collect(texts.text("train.py")).unused() == [(3, ())]
    assert bounds.is_still_valid(unused)

    bounds.is_suppressed(diagnosis, texts)

    assert not bounds.is_still_valid(unused)
    assert bounds.is_still_valid(Problem("train.py", "followed only in part, for its size"))
