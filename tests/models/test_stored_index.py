"""The built-in models in the cache folder: read again, renewed, and never a reason to fail."""

from __future__ import annotations

import json
import os
import sys

import pytest

from devfix.models import stored_index
from devfix.models.stored_index import content_of, load, package_folders


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder, and stubs of a small library in the place of the built-in ones."""
    (tmp_path / "stubs").mkdir()
    (tmp_path / "stubs" / "acme.pyi").write_text("# https://a.example\ndef mix(a: On) -> On: ...\n", encoding="utf-8")
    (tmp_path / "table.json").write_text('{"functions": {"torch.add": ["(a: On) -> On"]}, "aliases": {}}')
    monkeypatch.setattr(stored_index, "_STUBS", tmp_path / "stubs")
    monkeypatch.setattr(stored_index, "_TABLE", tmp_path / "table.json")
    monkeypatch.setenv("DEVFIX_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def parsed(monkeypatch):
    """How often the stubs were parsed."""
    calls = []
    original = stored_index.read_folder
    monkeypatch.setattr(stored_index, "read_folder", lambda root: (calls.append(root), original(root))[1])
    return calls


def test_what_is_stored_is_json_and_is_used_again(cache, parsed):
    first = load()
    (path,) = cache.iterdir()

    assert sorted(json.loads(path.read_text(encoding="utf-8"))) == ["entries", "module_aliases", "modules", "table"]
    assert load() == first
    assert len(parsed) == 1
    assert first[0].entries["acme.mix"].source == "https://a.example"
    assert first[1]["functions"] == {"torch.add": ["(a: On) -> On"]}


@pytest.mark.parametrize("name", ["stubs/acme.pyi", "stubs/other.pyi", "table.json"])
def test_a_change_renews_it_and_the_old_file_goes(cache, parsed, name):
    load()
    (before,) = cache.iterdir()
    changed = cache.parent / name
    changed.write_text('{"functions": {}}' if name == "table.json" else "def mix() -> None: ...\n", encoding="utf-8")
    stubs, table = load()

    (after,) = cache.iterdir()
    assert after != before
    assert len(parsed) == 2
    if name == "table.json":
        assert table["functions"] == {}
    else:
        assert stubs.entries[f"{changed.stem}.mix"].texts == ["() -> None"]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe", b"[]", b"null", b"{}", b'{"entries": []}', b'{"entries": {"a": [1, 2, 3, 4, 5, 6]}}'],
)
def test_a_damaged_file_is_made_again(cache, parsed, content):
    first = load()
    (path,) = cache.iterdir()
    good = path.read_bytes()
    path.write_bytes(content)

    assert load() == first
    assert len(parsed) == 2
    assert path.read_bytes() == good


def test_a_folder_that_cannot_be_written_is_no_error(cache, parsed):
    cache.write_text("a file where the folder would be")

    assert load()[0].entries
    assert load()[0].entries
    assert len(parsed) == 2


def test_a_failed_write_leaves_nothing(cache, monkeypatch):
    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)

    assert load()[0].entries
    assert list(cache.iterdir()) == []


def test_packages_ship_stubs(tmp_path, monkeypatch):
    site = tmp_path / "lib" / "site-packages"
    for folder in (site / "zoo" / "devfix-models", site / "acme" / "devfix-models", tmp_path / "own" / "devfix-models"):
        folder.mkdir(parents=True)
    (site / "bare").mkdir()
    (site / "file").mkdir()
    (site / "file" / "devfix-models").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(site), str(tmp_path / "gone" / "site-packages")])
    package_folders.cache_clear()
    try:
        assert package_folders() == (str(site / "acme" / "devfix-models"), str(site / "zoo" / "devfix-models"))
    finally:
        package_folders.cache_clear()


def test_the_content_of_folders_changes_with_their_stubs(tmp_path):
    folders = [str(tmp_path)]
    states = [content_of([]), content_of(folders)]
    stub = tmp_path / "acme.pyi"
    stub.write_text("def mix(): ...\n", encoding="utf-8")
    states.append(content_of(folders))
    os.utime(stub, ns=(1, 1))
    states.append(content_of(folders))
    (tmp_path / "notes.txt").write_text("no stub", encoding="utf-8")

    assert states[0] == states[1]
    assert len(set(states)) == 3
    assert content_of(folders) == states[-1]
