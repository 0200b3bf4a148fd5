"""Trees of strangers: nothing of them runs, and they name no file outside."""

import hashlib
import os
import struct
import subprocess

import pytest

from devfix import config, sources
from devfix.config import ConfigError
from devfix.engine import fixpoint
from devfix.model import Problem
from devfix.models.stub_language import parse_stub, read_folder
from devfix.sources import SourceError


def git(*arguments, cwd):
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *arguments], cwd=cwd, env=environment, check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path):
    folder = tmp_path / "tree"
    folder.mkdir()
    git("init", "-q", cwd=folder)
    (folder / "net.py").write_text("import torch\n")
    return folder


def shown(found):
    return sorted(os.path.basename(file.path) for file in found if not file.notes)


# --- nothing runs ---------------------------------------------------------------------------------------------------
def test_a_folder_that_looks_like_a_bare_repository_runs_nothing(tree, tmp_path):
    """Git would take the files of the folder for its own: its index lacks an object, and its remote is a program."""
    folder, ran = tree / "inner", tmp_path / "ran"
    git("init", "-q", "--bare", "inner", cwd=tree)
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    settings = {
        "core.bare": "false",
        "core.worktree": ".",
        "core.repositoryFormatVersion": "1",
        "core.sparseCheckout": "true",
        "core.sparseCheckoutCone": "true",
        "core.fsmonitor": str(program),
        "index.sparse": "true",
        "extensions.partialClone": "origin",
        "remote.origin.url": str(tree),
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": str(program),
    }
    for key, value in settings.items():
        git("config", key, value, cwd=folder)
    entry = struct.pack(">10I", *(0,) * 6, 0o040000, *(0,) * 3) + b"\x11" * 20 + struct.pack(">HH", 0x4005, 0x4000)
    entry += b"data/" + b"\0" * (8 - (len(entry) + 5) % 8)
    index = b"DIRC" + struct.pack(">II", 3, 1) + entry + b"sdir" + struct.pack(">I", 0)
    (folder / "index").write_bytes(index + hashlib.sha1(index).digest())
    (folder / "info" / "sparse-checkout").write_text("/*\n!/*/\n")
    (folder / "net.py").write_text("import torch\n")

    found, _ = sources.load([str(folder)])

    assert not ran.exists()
    assert shown(found) == ["net.py"]


# --- links ----------------------------------------------------------------------------------------------------------
def test_a_link_out_of_the_repository_is_left_out_with_a_note(tree, tmp_path):
    (tmp_path / "mine.py").write_text("import torch\n")
    (tree / "a.py").symlink_to(tmp_path / "mine.py")
    (tree / "b.py").symlink_to("/proc/self/pagemap")

    found, problems = sources.load([str(tree)])

    assert (shown(found), problems) == (["net.py"], ())
    (note,) = (note for file in found for note in file.notes)
    message = "left out, and so are 1 more: it is a link to a file outside of the project"
    assert note == Problem(str(tree / "a.py"), message, hint="name the file to include it")


def test_a_link_within_the_repository_is_followed(tree):
    (tree / "shared").mkdir()
    (tree / "shared" / "layer.txt").write_text("import torch\n")
    (tree / "part").mkdir()
    (tree / "part" / "layer.py").symlink_to("../shared/layer.txt")

    for folder in (tree, tree / "part"):
        assert "layer.py" in shown(sources.load([str(folder)])[0])


def test_a_link_that_is_named_is_followed(tree, tmp_path):
    (tmp_path / "mine.py").write_text("import torch\n")
    (tree / "a.py").symlink_to(tmp_path / "mine.py")
    (tmp_path / "there").symlink_to(tree)

    assert shown(sources.load([str(tree / "a.py")])[0]) == ["a.py"]
    assert "net.py" in shown(sources.load([str(tmp_path / "there")])[0])


def test_a_link_out_of_a_folder_without_a_repository_is_left_out(tmp_path):
    (tmp_path / "tree").mkdir()
    (tmp_path / "mine.py").write_text("import torch\n")
    (tmp_path / "tree" / "a.py").symlink_to(tmp_path / "mine.py")

    found, _ = sources.load([str(tmp_path / "tree")])

    assert shown(found) == []


@pytest.mark.parametrize("whole", [False, True], ids=["file", "folder"])
def test_an_import_does_not_lead_out_through_a_link(tree, tmp_path, whole, monkeypatch):
    other = tmp_path / "other"
    other.mkdir()
    (other / "secret.py").write_text("import torch\nKEY = torch.device('cuda')\n")
    if whole:
        (tree / "part").symlink_to(other)
    else:
        (tree / "part").mkdir()
        (tree / "part" / "secret.py").symlink_to(other / "secret.py")
    (tree / "net.py").write_text("import torch\nfrom part.secret import KEY\nx = torch.ones(2, device=KEY)\n")
    read = []
    whole_read = sources.read
    monkeypatch.setattr(sources, "read", lambda path: read.append(os.path.realpath(path)) or whole_read(path))
    found, _ = sources.load([str(tree / "net.py")])

    fixpoint.check(found, config.load([str(tree)], {}))

    assert str(other / "secret.py") not in read


def test_a_configuration_behind_a_link_is_refused(tree, tmp_path):
    (tmp_path / "mine.toml").write_text("[tool.devfix]\n")
    (tree / "pyproject.toml").symlink_to(tmp_path / "mine.toml")

    with pytest.raises(ConfigError, match="is a link to a file outside of the project"):
        config.load([str(tree)], {})


@pytest.mark.parametrize("folder", ["/", "..", "link"])
def test_stubs_outside_of_the_project_are_refused(tree, tmp_path, folder):
    (tree / "link").symlink_to(tmp_path)
    (tree / "pyproject.toml").write_text(f'[tool.devfix]\nmodels = ["{folder}"]\n')

    with pytest.raises(ConfigError, match="is outside of the project"):
        config.load([str(tree)], {})


def test_a_stub_behind_a_link_is_not_quoted(tree, tmp_path):
    (tmp_path / "credentials").write_text("key = abc/def\n")
    (tree / "stubs").mkdir()
    (tree / "stubs" / "x.pyi").symlink_to(tmp_path / "credentials")

    (problem,) = read_folder(tree / "stubs").problems

    assert problem.message == "is a link to a file outside of the folder"


# --- contents -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("encoding", ["punycode", "idna"])
def test_an_encoding_that_takes_quadratic_time_is_refused(encoding):
    raw = f"# coding: {encoding}\nimport torch-".encode() + b"a9b8" * 200_000

    with pytest.raises(SourceError, match=f"unknown encoding '{encoding}'"):
        sources.decode("net.py", raw)


@pytest.mark.parametrize(
    "line",
    [f"x = {'9' * 5000}", f"labels = {'[' * 100_000}", f'device = "{"(" * 5000}"', f'device = "{"-" * 50_000}1"'],
)
def test_a_configuration_that_python_cannot_hold_is_told(tree, line):
    (tree / "pyproject.toml").write_text(f"[tool.devfix]\n{line}\n")

    with pytest.raises(ConfigError, match=r"pyproject\.toml: "):
        config.load([str(tree)], {})


@pytest.mark.parametrize("text", [f"x = {'-' * 100_000}1\n", f"x: {'(' * 100_000}\n", f"a{'.b' * 50_000}\n"])
def test_a_stub_that_is_nested_too_deeply_is_a_problem(text):
    assert len(parse_stub(text, "net", "net.pyi").problems) == 1


def test_a_path_with_thousands_of_folders_is_told_from_others():
    assert not sources.left_out("/r/" + "a/" * 5000 + "x.py", "/r")
    assert sources.left_out("/r/" + "a/" * 5000 + "venv/x.py", "/r")
