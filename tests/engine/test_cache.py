"""What is kept between runs: it must never be seen in the result, only in the time."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import devfix.engine.parallel_scan
from devfix import sources
from devfix.config import Settings
from devfix.engine import cache as caching
from devfix.engine.cache import Cache, MemoryCache
from devfix.engine.fixpoint import apply, check
from devfix.engine.model_json import from_json, to_json
from devfix.model import Severity
from devfix.sources.digest import digest

HEAD = """\
import torch
from torch import nn

from parts import make_head

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
model.to(device)
model[1] = make_head()
model(torch.randn(2, 4, device=device)).sum().backward()
"""
PARTS = """\
from torch import nn


def make_head():
    return nn.Linear(8, 3)
"""
MOVED = PARTS.replace("nn.Linear(8, 3)", 'nn.Linear(8, 3).to("cuda")')


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text(HEAD)
    (folder / "parts.py").write_text(PARTS)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def cache(tmp_path):
    kept = Cache(str(tmp_path / "cache"))
    yield kept
    kept.close()


@pytest.fixture
def scans(monkeypatch):
    """The entry files that were really scanned."""
    made: list[str] = []
    original = devfix.engine.parallel_scan.scan_program
    monkeypatch.setattr(
        devfix.engine.parallel_scan, "scan_program", lambda space, path: (made.append(path), original(space, path))[1]
    )
    return made


def look(cache, settings=None, paths=("train.py", "parts.py"), jobs=1):
    files, _ = sources.load(paths)
    return check(files, settings or Settings(root="."), jobs, cache=cache)


def test_a_second_run_scans_nothing_and_says_the_same(project, cache, scans):
    first = look(cache)
    assert sorted(scans) == ["parts.py", "train.py"]
    second = look(cache)

    assert sorted(scans) == ["parts.py", "train.py"]
    assert second == first == look(None)
    assert [item.finding.code for item in first.resolutions] == ["DEV201"]


def test_repair_starts_from_what_is_kept(project, cache):
    files, _ = sources.load(("train.py", "parts.py"))
    without = apply(files, Settings(root="."))
    look(cache)

    assert apply(files, Settings(root="."), cache=cache) == without
    assert without.patch.files


def write_patch(outcome):
    for change in outcome.patch.files:
        Path(change.path).write_bytes(change.new)


def test_the_scans_of_a_repair_serve_the_run_on_the_written_files(project, cache, scans):
    (project / "other.py").write_text("from parts import make_head\n\nprint(make_head())\n")
    paths = ("train.py", "parts.py", "other.py")
    files, _ = sources.load(paths)
    write_patch(apply(files, Settings(root="."), cache=cache))
    scans.clear()
    again = look(cache, paths=paths)

    assert scans == []
    assert again == look(None, paths=paths)


def test_a_second_repair_repeats_no_scan_of_the_first(project, scans):
    two = HEAD + "other = nn.Sequential(nn.Linear(4, 8))\nother.to(device)\nother[0] = make_head()\n"
    two += "other(torch.randn(2, 8, device=device)).sum().backward()\n"
    (project / "train.py").write_text(two)
    (project / "second.py").write_text(HEAD)
    files, _ = sources.load(("train.py", "second.py", "parts.py"))
    both = MemoryCache()
    first = apply(files, Settings(root="."), cache=both)
    repeated = scans[-1]
    assert scans.count(repeated) > 1, "a program is scanned again after its edit"
    scans.clear()

    assert apply(files, Settings(root="."), cache=both) == first
    assert scans == []

    left = [item.finding for item in first.resolutions if item.finding.path == "train.py"][1:]
    without = apply(files, Settings(root="."), without=left, cache=both)
    assert "second.py" not in " ".join(scans), "it does not read the text that differs now"
    assert without == apply(files, Settings(root="."), without=left)


def test_what_remains_in_a_rewritten_file_is_told_where_it_is_now(project, cache, scans):
    two = HEAD + "other = nn.Sequential(nn.Linear(4, 8))\nother.to(device)\nother[0] = make_head()\n"
    two += "other(torch.randn(2, 8, device=device)).sum().backward()\n"
    (project / "train.py").write_text(two)
    before = [item.finding for item in look(cache).resolutions]
    assert len(before) == 2
    files, _ = sources.load(("train.py", "parts.py"))
    write_patch(apply(files, Settings(root="."), without=before[1:], cache=cache))
    (after,) = look(cache).resolutions

    assert (after,) == look(None).resolutions
    assert after.finding.span.line != before[1].span.line


def test_a_changed_import_is_seen(project, cache, scans):
    look(cache)
    (project / "parts.py").write_text(MOVED)

    assert look(cache).resolutions == ()
    assert scans.count("train.py") == 2


def test_a_changed_import_outside_the_given_files_is_seen(project, cache):
    assert look(cache, paths=("train.py",)).resolutions
    (project / "parts.py").write_text(MOVED)

    assert look(cache, paths=("train.py",)).resolutions == ()


def test_a_new_file_that_an_import_can_mean_is_seen(project, cache):
    (project / "parts.py").unlink()
    assert look(cache, paths=("train.py",)).resolutions == ()
    devfix.engine.parallel_scan.forget_listings()  # another run starts without them
    (project / "parts.py").write_text(PARTS)

    assert look(cache, paths=("train.py",)).resolutions


def test_a_change_of_where_imports_are_found_is_seen(project, cache):
    (project / "train.py").write_text("import _init_paths\n" + HEAD)
    (project / "_init_paths.py").write_text("import sys\n\nsys.path.append('nets')\n")
    (project / "nets").mkdir()
    (project / "parts.py").rename(project / "nets/parts.py")
    assert look(cache, paths=("train.py",)).resolutions
    (project / "_init_paths.py").write_text("import sys\n\nsys.path.append('others')\n")

    assert look(cache, paths=("train.py",)).resolutions == ()


@pytest.mark.parametrize("name", ["model-0001.pt", "evaluate.py", "notes"])
def test_a_file_that_no_import_means_changes_nothing(project, cache, scans, name):
    look(cache)
    devfix.engine.parallel_scan.forget_listings()
    (project / name).write_text("")
    look(cache)

    assert sorted(scans) == ["parts.py", "train.py"]


def test_a_new_configuration_file_is_seen_where_the_program_reads_them(project, cache, scans):
    reads = "import sys\n\nfrom hyperpyyaml import load_hyperpyyaml\n\nhparams = load_hyperpyyaml(open(sys.argv[1]))\n"
    (project / "train.py").write_text(reads + HEAD)
    look(cache)
    devfix.engine.parallel_scan.forget_listings()
    (project / "run.yaml").write_text("model: !new:torch.nn.Linear [3, 4]\n")
    look(cache)

    assert scans.count("train.py") == 2


@pytest.mark.parametrize(
    "settings",
    [
        Settings(root=".", severity=Severity.ADVICE),
        Settings(root=".", select=("DEV1",)),
        Settings(root=".", device="d"),
    ],
)
def test_other_settings_are_other_scans(project, cache, scans, settings):
    look(cache)
    look(cache, settings)

    assert scans.count("train.py") == 2


def test_other_code_of_devfix_is_another_scan(project, cache, scans, monkeypatch):
    look(cache)
    monkeypatch.setattr(devfix.engine.parallel_scan, "tool_version", lambda: "another")
    look(cache)

    assert scans.count("train.py") == 2


def test_workers_keep_what_they_find(project, cache, scans):
    for number in range(9):
        (project / f"train{number}.py").write_text(HEAD)
    paths = tuple(f"train{number}.py" for number in range(9))
    first = look(cache, paths=paths, jobs=2)

    assert look(cache, paths=paths, jobs=2) == first
    assert scans == []
    assert len(first.resolutions) == 9


def test_a_damaged_cache_is_told_and_does_no_harm(project, tmp_path):
    folder = tmp_path / "damaged"
    folder.mkdir()
    (folder / "scans-1.sqlite").write_bytes(b"no database, and longer than a header would be" * 40)
    outcome = look(Cache(str(folder)))

    assert outcome.resolutions == look(None).resolutions
    (note,) = outcome.notes
    assert "cannot be used" in note.message and "--no-cache" in note.hint


def test_texts_are_kept_small_and_come_back_as_they_were(cache):
    text = "é\udcff" + 1_000 * "the same thousand files"
    cache.put({"key": text})

    assert cache.get(["key"]) == {"key": text}
    with sqlite3.connect(Path(cache.folder) / "scans-1.sqlite") as connection:
        ((size,),) = connection.execute("SELECT length(value) FROM scans").fetchall()
    assert size < len(text) / 10


def test_an_entry_that_is_not_ours_is_scanned_again(project, tmp_path, cache, scans):
    look(cache)
    with sqlite3.connect(tmp_path / "cache" / "scans-1.sqlite") as connection:
        connection.execute("UPDATE scans SET value = '[{\"Nonsense\": 1}]'")
    connection.close()

    assert look(cache).resolutions == look(None).resolutions
    assert scans.count("train.py") >= 2


def test_what_is_old_goes(cache, monkeypatch):
    monkeypatch.setattr(caching, "MOST_ENTRIES", 3)
    monkeypatch.setattr(caching, "_today", lambda: 100)
    cache.put({"a": "1", "b": "2"})
    monkeypatch.setattr(caching, "_today", lambda: 110)
    assert cache.get(["a"]) == {"a": "1"}  # used again
    cache.put({"c": "3", "d": "4"})
    assert sorted(cache.get("abcd")) == ["a", "c", "d"]

    monkeypatch.setattr(caching, "_today", lambda: 141)
    cache.put({"e": "5"})
    assert sorted(cache.get("abcde")) == ["e"]


def test_two_runs_at_once(tmp_path):
    one, two = Cache(str(tmp_path)), Cache(str(tmp_path))
    one.put({"a": "1"})
    two.put({"b": "2"})

    assert one.get(["a", "b"]) == two.get(["a", "b"]) == {"a": "1", "b": "2"}
    one.close()
    two.close()


def test_the_model_survives_the_way_to_json_and_back(project):
    findings = tuple(item.finding for item in look(None).resolutions)

    assert findings and from_json(to_json(findings)) == findings


@pytest.mark.parametrize("text", ['{"Finding": [1]}', '{"os": 1}', "[", '{"Severity": "no"}', '{"a": 1, "b": 2}'])
def test_json_of_others_is_refused(text):
    with pytest.raises(ValueError):  # noqa: PT011 - any says that it is not ours
        from_json(text)


def test_a_digest_tells_parts_apart():
    assert digest("ab", "c") != digest("a", "bc") != digest("abc")
