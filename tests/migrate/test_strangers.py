"""Repositories of strangers: nothing of them runs unconfined, and none of them stops the others."""

import shutil
import sys
from dataclasses import replace

import pytest

from devfix.migrate.disk import is_full
from devfix.migrate.engines.local import LocalEngine
from devfix.migrate.mirrors import Mirror
from devfix.migrate.record import RepositoryOutcome
from devfix.migrate.task import Verification
from devfix.migrate.work import migrate
from devfix.vcs.git import GitError


def deep(repository, git, levels):
    """Commit a file below so many folders, which no command line could name."""

    def tree(*entries):
        (repository / "tree.txt").write_text("".join(f"{entry}\n" for entry in entries))
        with open(repository / "tree.txt") as listed:
            return git("mktree", cwd=repository, stdin=listed)

    blob = git("rev-parse", "HEAD:train.py", cwd=repository)
    inner = tree(f"100644 blob {blob}\ttrain.py")
    for _ in range(levels):
        inner = tree(f"040000 tree {inner}\ta")
    made = git(
        "commit-tree", tree(f"100644 blob {blob}\ttrain.py", f"040000 tree {inner}\ta"), "-m", "x", cwd=repository
    )
    git("update-ref", "HEAD", made, cwd=repository)


def test_a_committed_virtual_environment_does_not_run(task, repository, commit, tmp_path):
    """The interpreter of a run starts outside its confinement."""
    ran = tmp_path / "ran"
    script = f'#!/bin/sh\ntouch {ran}\nexec {sys.executable} "$@"\n'
    commit(repository, {"venv/pyvenv.cfg": "home = /usr/bin\n", "venv/bin/python": script})
    (repository / "venv/bin/python").chmod(0o755)
    commit(repository, {})

    record = migrate(replace(task, verification=Verification("train.py", device="sim", timeout=60.0)))

    assert not ran.exists()
    assert (record.outcome, record.verdict.status) == (RepositoryOutcome.FIXED, "fixed")


def test_a_part_of_a_virtual_environment_that_is_committed_does_not_run(task, repository, commit, tmp_path):
    """A file of the author in an environment that somebody made in the same folder."""
    from devfix.verify.project import find_project, find_python

    commit(repository, {".venv/lib/site-packages/sitecustomize.py": "import os\n"})
    for name, content in (("bin/python", ""), ("pyvenv.cfg", "")):
        (repository / ".venv" / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / ".venv" / name).write_text(content)

    found = find_project(str(repository / "train.py"), str(repository))

    assert find_python(found) == sys.executable


def test_a_virtual_environment_of_the_user_is_used(repository):
    from devfix.verify.project import find_project, find_python

    (repository / ".venv" / "bin").mkdir(parents=True)
    (repository / ".venv" / "bin" / "python").touch()
    (repository / ".venv" / "pyvenv.cfg").touch()

    found = find_project(str(repository / "train.py"), str(repository))

    assert find_python(found) == str(repository / ".venv" / "bin" / "python")


@pytest.mark.thorough
def test_a_repository_with_thousands_of_folders_in_each_other_stops_no_other(task, repository, git, tmp_path):
    deep(repository, git, 1100)

    (record,) = LocalEngine().run([task], migrate, 1)

    assert record.outcome is not RepositoryOutcome.CLEAN
    assert "internal error" not in record.reason
    assert list((tmp_path / "scratch").glob("project-*")) == []


def test_a_disk_is_full_by_the_account_of_the_system(tmp_path, monkeypatch):
    assert is_full(OSError(28, "No space left on device"), tmp_path)
    assert not is_full(OSError(2, "No space left on device"), tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(1 << 30, 1 << 30, 0))
    assert is_full(None, tmp_path)


def test_half_a_pack_does_not_stay_on_the_disk(task, tmp_path, monkeypatch):
    def fill(mirror, git):
        (mirror.folder / "objects" / "pack").mkdir()
        (mirror.folder / "objects" / "pack" / "tmp_pack_x").write_bytes(bytes(1000))
        raise GitError("git fetch: write error: No space left on device")

    monkeypatch.setattr(Mirror, "_fetch", fill)

    record = migrate(task)

    assert (record.outcome, record.stage) == (RepositoryOutcome.FAILED, "fetch")
    assert list((tmp_path / "mirrors").rglob("tmp_*")) == []
