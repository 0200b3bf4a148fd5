"""Deletion of folders."""

import os

from devfix.sources.removal import remove_tree


def test_a_folder_with_thousands_of_levels_is_deleted(tmp_path):
    top = tmp_path / "top"
    top.mkdir()
    here = os.open(top, os.O_RDONLY)
    for _ in range(2500):  # longer than a path may be
        os.mkdir("a", dir_fd=here)
        deeper = os.open("a", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(os.open("x.py", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)

    remove_tree(top)

    assert os.listdir(tmp_path) == []


def test_links_are_deleted_and_not_followed(tmp_path):
    (tmp_path / "top").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "top" / "link").symlink_to(tmp_path / "other")
    (tmp_path / "other" / "kept.py").touch()

    remove_tree(tmp_path / "top")

    assert [path.name for path in tmp_path.rglob("*")] == ["other", "kept.py"]


def test_a_folder_that_is_missing_is_no_error(tmp_path):
    remove_tree(tmp_path / "nowhere")
