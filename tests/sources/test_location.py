"""The project of a file."""

from __future__ import annotations

import pytest

from devfix.sources import repository_root


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
