"""The project of a file."""

from __future__ import annotations

import pytest

from devfix.sources import program_root, repository_root


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "src" / "net" / "layers"
    folder.mkdir(parents=True)
    for each in (folder, folder.parent):
        (each / "__init__.py").touch()
    (folder / "norm.py").touch()
    return folder


def test_without_a_repository_a_file_belongs_to_the_folder_that_its_package_is_imported_from(package, tmp_path):
    assert repository_root(str(package / "norm.py")) == str(tmp_path / "src")


@pytest.mark.parametrize("marker", [".git", "pyproject.toml"])
def test_a_repository_is_the_project(package, tmp_path, marker):
    (tmp_path / marker).touch()

    assert repository_root(str(package / "norm.py")) == str(tmp_path)


@pytest.mark.parametrize("marker", [".git", "pyproject.toml"])
def test_the_modules_of_a_program_are_in_its_project(package, tmp_path, monkeypatch, marker):
    (tmp_path / "src" / marker).touch()
    monkeypatch.chdir(tmp_path)

    assert program_root("src/net/layers/norm.py") == str(tmp_path / "src")


def test_without_a_project_they_are_in_the_working_folder_or_where_their_package_is(package, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert program_root("src/net/layers/norm.py") == str(tmp_path)

    monkeypatch.chdir(package)

    assert program_root("norm.py") == str(tmp_path / "src")
