"""Texts of one run: what was given, what is read beside it, and what has been rewritten."""

import pytest

from devfix.config import Settings
from devfix.engine.workspace import Workspace
from devfix.model import Event, Finding, Severity, Span
from devfix.sources import SourceError, decode

TEXT = "a = 1\nb = a\n"


@pytest.fixture
def space(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "beside.py").write_text("c = 2\n", encoding="utf-8")
    return Workspace([decode("a.py", TEXT.encode())], Settings(root="."))


def finding(line, column=0, path="a.py"):
    events = (Event("used", path, line, column, "", ""),)
    return Finding("DEV101", "", Severity.ERROR, path, Span(line, column, line, column + 1), "", events)


def test_a_rewritten_text_is_what_is_read_from_then_on(space, tmp_path):
    space.rewritten("a.py", "a = 2\n")

    assert space.text("a.py") == space.text(str(tmp_path / "a.py")) == "a = 2\n"


def test_a_text_that_the_file_cannot_hold_is_refused_and_the_old_one_stays(tmp_path):
    space = Workspace([decode("a.py", b"# coding: ascii\n")], Settings(root="."))

    with pytest.raises(SourceError):
        space.rewritten("a.py", "# coding: ascii\né = 1\n")

    assert space.text("a.py") == "# coding: ascii\n"


def test_what_is_not_given_is_read_from_the_disk_and_remembered(space, tmp_path):
    assert space.text("beside.py") == "c = 2\n"
    (tmp_path / "beside.py").unlink()

    assert space.text("beside.py") == "c = 2\n"
    assert space.text("nowhere.py") is None
    assert {path: file is None for path, file in space.imported.items()} == {
        str(tmp_path / "beside.py"): False,
        str(tmp_path / "nowhere.py"): True,
    }


def test_a_file_that_is_taken_is_read_again(space, tmp_path):
    space.text("beside.py")
    (tmp_path / "beside.py").write_text("c = 3\n", encoding="utf-8")

    space.take(str(tmp_path / "beside.py"))

    assert space.text("beside.py") == "c = 3\n"


def test_in_a_copy_files_change_apart(space):
    other = space.copy()

    other.rewritten("a.py", "")

    assert (other.text("a.py"), space.text("a.py")) == ("", TEXT)


def test_the_same_text_is_parsed_once_and_shown_under_the_given_name(space, tmp_path):
    tree = space.parse(str(tmp_path / "a.py"), TEXT)

    assert tree is space.parse("a.py", TEXT)
    assert tree is not space.parse("a.py", TEXT + "\n")
    assert tree.path == "a.py"


def test_a_digest_is_of_the_content_and_the_name_and_knows_a_file_that_is_not_there(space, tmp_path):
    names = ["a.py", "same.py", "beside.py", "nowhere.py"]
    space.put(decode("same.py", TEXT.encode()))

    assert len({space.content(str(tmp_path / name)) for name in names}) == len(names)


def test_a_finding_of_an_edited_text_is_told_by_the_places_of_the_given_one(space):
    space.rewritten("a.py", "a = 1\na = a.to(d)\nb = [a]\n")

    original = space.original(finding(3, 5))

    assert original.span == Span(2, 4, 2, 5)
    assert (original.events[0].line, original.events[0].column) == (2, 4)
    assert space.given_event(original.events[0]).source == "b = a"


def test_a_finding_of_another_file_keeps_its_place(space):
    space.rewritten("a.py", "\n" + TEXT)

    assert space.original(finding(2, path="beside.py")) == finding(2, path="beside.py")


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Return a workspace with a package, and scripts in folders; the module ``tools`` of ``own`` is its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    texts = {
        "pkg/__init__.py": "",
        "pkg/model.py": "import tools\n\n\ndef f(x):\n    return x + tools.table()\n",
        "tools.py": "import torch\n\n\ndef table():\n    return torch.zeros(3)\n",
        "plain/run.py": "from pkg.model import f\n",
        "other/run.py": "from pkg.model import f\n",
        "own/run.py": "from pkg.model import f\n",
        "own/tools.py": "def table():\n    return 1\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return Workspace([decode(name, text.encode()) for name, text in texts.items()], Settings(root="."))


def test_folders_share_facts_unless_they_hide_a_module(folders, tmp_path):
    shared = folders.facts("plain/run.py")
    read, looked_for = shared.dependencies("plain/run.py")

    assert read == {str(tmp_path / name) for name in ("plain/run.py", "pkg/model.py", "tools.py")}
    assert {"pkg", "tools.py"} <= looked_for[str(tmp_path / "plain")]
    assert folders.facts("other/run.py") is folders.facts("pkg/model.py") is shared

    own = folders.facts("own/run.py")

    assert own is not shared
    assert str(tmp_path / "own/tools.py") in own.dependencies("own/run.py")[0]
    assert str(tmp_path / "tools.py") not in own.dependencies("own/run.py")[0]
    assert folders.facts("other/run.py") is shared

    _, looked_for = shared.dependencies("other/run.py")

    assert {"pkg", "tools.py"} <= looked_for[str(tmp_path / "other")]
