"""Additions are written whole, and over nothing."""

import os

import pytest

from devfix.init import Addition
from devfix.sources import SourceError


def test_a_new_file_and_its_folders_are_made(tmp_path):
    path = tmp_path / ".github" / "workflows" / "devfix.yml"

    Addition(str(path), None, b"on: push\n").write()

    assert path.read_bytes() == b"on: push\n"
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()
    assert os.listdir(path.parent) == ["devfix.yml"], "no temporary file is left"


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_file_that_has_come_meanwhile_stays(tmp_path):
    path = tmp_path / "pyproject.toml"
    path.write_bytes(b"theirs")

    with pytest.raises(SourceError, match="was created meanwhile"):
        Addition(str(path), None, b"ours").write()

    assert path.read_bytes() == b"theirs"


def test_a_link_to_nowhere_is_not_followed(tmp_path):
    path = tmp_path / "pyproject.toml"
    path.symlink_to(tmp_path / "elsewhere.toml")

    with pytest.raises(SourceError, match="was created meanwhile"):
        Addition(str(path), None, b"ours").write()

    assert not (tmp_path / "elsewhere.toml").exists()


def test_a_file_that_has_changed_meanwhile_stays(tmp_path):
    path = tmp_path / "pyproject.toml"
    path.write_bytes(b"new")

    with pytest.raises(SourceError, match="changed while devfix worked"):
        Addition(str(path), b"old", b"ours").write()

    assert path.read_bytes() == b"new"


def test_a_file_in_the_place_of_a_folder_is_told(tmp_path):
    (tmp_path / ".github").write_bytes(b"")

    with pytest.raises(SourceError, match="cannot be written"):
        Addition(str(tmp_path / ".github" / "workflows" / "devfix.yml"), None, b"x").write()
