"""The diff is what git makes of it."""

import subprocess
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from devfix.model import FileChange, Patch
from devfix.vcs import unified_diff


def git_apply(folder, patch, *arguments):
    done = subprocess.run(["git", "apply", *arguments, "-"], cwd=folder, input=patch, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


def change(path, old, new):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(old)
    return FileChange(str(path), old, new)


@pytest.fixture
def repository(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


def test_the_format(repository):
    patch = Patch((change(repository / "pkg/a.py", b"1\n2\n3\n4\n5\n6\n7\n", b"1\n2\n3\n4\nfive\n6\n7\n"),))

    assert unified_diff.unified(patch).decode() == (
        "diff --git a/pkg/a.py b/pkg/a.py\n--- a/pkg/a.py\n+++ b/pkg/a.py\n"
        "@@ -2,6 +2,6 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(b"a\nb", b"a\nB", id="no-final-newline"),
        pytest.param(b"a\nb", b"a\nb\n", id="newline-added"),
        pytest.param(b"a\nb\n", b"a\nb", id="newline-removed"),
        pytest.param(b"a\r\nb\r\nc\r\n", b"a\r\nx\r\nb\r\nc\r\n", id="crlf"),
        pytest.param(b"a\r\nb\nc\rd\n", b"a\r\nb\nx\nc\rd\n", id="mixed-newlines"),
        pytest.param(b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfa\nb\n", id="bom"),
        pytest.param(b"\xe9\n", b"\xe9\nx\xe8\n", id="latin-1"),
        pytest.param(b"", b"x\n", id="was-empty"),
        pytest.param(b"x\n", b"", id="gets-empty"),
        pytest.param(b"\x0ca\x1cb\nc\n", b"\x0ca\x1cb\nd\n", id="form-feed"),
        pytest.param(b"\n\n\na\n\n", b"a\n\n\n\n\na\n\n", id="alike-at-the-end"),
        pytest.param(b"\n\na\n\n\n\n", b"\n\na\n\n\n\n\na\n", id="alike-at-the-start"),
        pytest.param(b"x\n" * 20_000, b"y\n" + b"x\n" * 20_000 + b"z\n", id="long-and-repetitive"),
    ],
)
def test_git_apply_gives_the_same_bytes(repository, old, new):
    path = repository / "a.py"
    patch = unified_diff.unified(Patch((change(path, old, new),)))

    git_apply(repository, patch)

    assert path.read_bytes() == new


@pytest.mark.parametrize("name", ["with space.py", "ünïcode.py", 'quo"te.py', "back\\slash.py", "tab\tnew\nline.py"])
def test_odd_file_names(repository, name):
    path = repository / "odd folder" / name
    patch = unified_diff.unified(Patch((change(path, b"a\n", b"b\n"),)))

    git_apply(repository, patch)

    assert path.read_bytes() == b"b\n"


@pytest.mark.parametrize("content", [b"a\n", b"a", b""])
def test_a_file_that_is_new(repository, content):
    made = FileChange(str(repository / "pkg" / "a.py"), b"", content)

    git_apply(repository, unified_diff.unified(Patch((made,)), [made.path]))

    assert (repository / "pkg" / "a.py").read_bytes() == content


def test_names_are_those_of_the_repository_wherever_one_stands(repository, monkeypatch):
    path = repository / "pkg" / "a.py"
    change(path, b"a\n", b"b\n")
    (repository / "pkg" / "link.py").symlink_to("a.py")
    monkeypatch.chdir(repository / "pkg")

    patch = unified_diff.unified(Patch((FileChange("link.py", b"a\n", b"b\n"),)))
    git_apply(repository / "pkg", patch)

    assert b"+++ b/pkg/a.py\n" in patch
    assert path.read_bytes() == b"b\n"


lines = st.lists(st.sampled_from([b"", b"a", b"b", b"a\r", b" c", b"-d", b"+e", b"\\ f", b"@@"]), max_size=25)


@pytest.mark.parametrize("long", [5000, 0], ids=["short", "long"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(old=lines, new=lines)
def test_any_two_texts(repository, monkeypatch, long, old, new):
    monkeypatch.setattr(unified_diff, "_LONG", long)
    before, after = b"\n".join(old), b"\n".join(new)
    path = repository / "a.py"
    patch = unified_diff.unified(Patch((change(path, before, after),)))

    if before != after:
        git_apply(repository, patch)

    assert path.read_bytes() == after


def test_lines_that_repeat_are_compared_in_linear_time(repository):
    """Each is too rare for difflib to leave it out."""
    middle = b"".join(b"%d\n" % (number * number % 151) for number in range(200_000))
    found = change(repository / "a.py", b"first\n" + middle + b"last\n", b"FIRST\n" + middle + b"NEW\nLAST\n")
    started = time.thread_time()

    patch = unified_diff.unified(Patch((found,)))

    assert time.thread_time() - started < 5
    assert (patch.count(b"\n@@ "), patch.count(b"\n+"), patch.count(b"\n-")) == (2, 4, 3)
    git_apply(repository, patch)
    assert (repository / "a.py").read_bytes() == found.new
