"""Which files a script made, whatever it leaves behind."""

from __future__ import annotations

import os
import socket

import pytest

from devfix.verify.outputs.files import Budget, Unreadable, changed_entries, open_content, snapshot


@pytest.fixture
def folders(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "tmp").mkdir()
    (tmp_path / "project" / "data.txt").write_text("data")
    return {"": tmp_path / "project", "/tmp/": tmp_path / "tmp"}


def names(before):
    return [entry.name for entry in changed_entries(before)]


def test_new_changed_replaced_and_deleted_files_are_found(folders):
    project = folders[""]
    for name in ("kept", "changed", "deleted", "restored"):
        (project / name).write_text("old")
    before = snapshot(folders)

    (project / "changed").write_text("new")
    (project / "deleted").unlink()
    times = os.stat(project / "restored")
    (project / "restored").write_text("NEW")
    os.utime(project / "restored", ns=(times.st_atime_ns, times.st_mtime_ns))
    (project / "runs" / "1").mkdir(parents=True)
    (project / "runs" / "1" / "model.pt").write_bytes(b"x")
    (folders["/tmp/"] / "t.txt").write_text("x")
    (folders["/tmp/"] / ".cache").mkdir()
    (folders["/tmp/"] / ".cache" / "x").write_text("x")

    assert names(before) == ["/tmp/t.txt", "changed", "deleted", "restored", "runs/1/model.pt"]
    assert [entry.path for entry in changed_entries(before) if entry.name == "deleted"] == [None]


def test_links_pipes_sockets_and_devices_are_never_opened(folders, tmp_path):
    project = folders[""]
    (tmp_path / "secret").write_text("secret")
    before = snapshot(folders)
    os.mkfifo(project / "pipe")
    os.symlink(tmp_path / "secret", project / "link")
    os.link(tmp_path / "secret", project / "hard")
    os.symlink(tmp_path, project / "folder")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(project / "socket"))

    for entry in changed_entries(before):
        with pytest.raises(Unreadable):
            open_content(entry.path, Budget(), entry.links)


def test_hard_links_within_the_folders_are_read(folders):
    before = snapshot(folders)
    (folders[""] / "last.pt").write_text("model")
    os.link(folders[""] / "last.pt", folders[""] / "best.pt")

    for entry in changed_entries(before):
        assert open_content(entry.path, Budget(), entry.links).read() == b"model"


def test_the_target_of_a_link_has_no_scratch_folder_in_it(folders):
    before = snapshot(folders)
    os.symlink(folders[""] / "data.txt", folders[""] / "latest")

    assert [entry.target for entry in changed_entries(before)] == ["data.txt"]


def test_a_sparse_file_of_many_gigabytes_exhausts_the_budget_only(folders):
    before = snapshot(folders)
    with open(folders[""] / "huge", "wb") as file:
        file.truncate(10 << 30)
    (entry,) = changed_entries(before)

    with pytest.raises(Unreadable, match="limit"):
        open_content(entry.path, Budget()).read()


def test_deep_folders_and_names_that_are_no_text_end_nothing(folders):
    before = snapshot(folders)
    path = folders[""]
    for _ in range(100):
        path = path / "d"
        path.mkdir()
    (path / "lost").write_text("x")
    with open(os.fsencode(folders[""]) + b"/\xff\xfe", "w") as file:
        file.write("x")

    assert names(before) == [os.fsdecode(b"\xff\xfe")]


def test_a_walk_that_ends_early_declares_no_file_deleted(folders, monkeypatch):
    for number in range(9):
        (folders[""] / f"{number}").write_text("x")
    before = snapshot(folders)
    (folders[""] / "0new").write_text("x")

    monkeypatch.setattr("devfix.verify.outputs.files.MOST_ENTRIES", 5)

    assert names(before) == ["0new"]
