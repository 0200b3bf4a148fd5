"""The folder that is copied for a script, and its working directory."""

import pytest

from devfix.verify.project import find_project
from devfix.verify.records import RunError


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with a script, and another in a folder that no copy has."""
    (tmp_path / ".git").mkdir()
    for folder in (tmp_path, tmp_path / "build" / ".nox" / "session"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "train.py").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_script_in_a_folder_that_is_not_copied_is_a_project_of_its_own(repository, monkeypatch):
    folder = repository / "build" / ".nox" / "session"
    project = find_project("build/.nox/session/train.py")
    assert (project.root, project.script, project.start) == (folder, "train.py", ".")

    monkeypatch.chdir(folder.parent)
    project = find_project("session/train.py")
    assert (project.root, project.script, project.start) == (folder.parent, "session/train.py", ".")


def test_a_project_whose_copy_has_no_script_is_refused(repository):
    with pytest.raises(RunError, match=r"train.py is in \.nox, which is not copied"):
        find_project("build/.nox/session/train.py", folder=".")


def test_a_current_folder_that_is_not_copied_is_no_working_directory(repository, monkeypatch):
    folder = repository / "build" / ".nox"
    monkeypatch.chdir(folder)
    assert find_project("../../train.py").start == "."
    assert find_project("../../train.py", cwd=".").start == str(folder)
