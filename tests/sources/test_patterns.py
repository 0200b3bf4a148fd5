"""Gitignore patterns match as pathspec's do, in linear time."""

import time

import pathspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devfix.config import ConfigError, load
from devfix.sources import discover
from devfix.sources.patterns import pattern_spec

# without [!a]: in pathspec, it fits a slash
PIECES = st.sampled_from(["a", "b", "*", "**", "?", "/", "/**/", "**/", "[ab]", "\\*", "!", "[]a]"])
NAMES = st.text("ab*/", min_size=1, max_size=14).map(lambda text: "/".join(filter(None, text.split("/"))) or "a")


@given(st.lists(st.lists(PIECES, min_size=1, max_size=9).map("".join), max_size=3), NAMES)
def test_they_match_as_they_did(lines, name):
    try:
        expected = pathspec.GitIgnoreSpec.from_lines(lines)
    except ValueError:
        return

    for path in (name, f"{name}/"):
        assert pattern_spec(lines).check_file(path).include == expected.check_file(path).include


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 40 + "b", "a" * 250),
        ("*?" * 40 + "b", "a" * 250),
        ("**/a/" * 40 + "b", "a/" * 1500 + "c"),
        ("/a" + "/**/a*a" * 20 + "/b", "a/" + "aaa/" * 1000 + "c"),
        ("**/" + "*a" * 20 + "/**/b", ("a" * 200 + "/") * 18 + "c"),
    ],
    ids=["stars", "question-marks", "folders", "anchored", "both"],
)
def test_a_pattern_that_tries_everything_takes_no_time(pattern, path):
    spec = pattern_spec([pattern])
    started = time.process_time()

    assert not spec.match_file(path)
    assert time.process_time() - started < 1


def test_a_line_of_gitignore_that_is_no_pattern_is_skipped(tmp_path):
    (tmp_path / ".gitignore").write_text("!\n/a.py\nb\\\n")
    for name in ("a.py", "b.py"):
        (tmp_path / name).touch()

    assert discover([str(tmp_path)]).files == (str(tmp_path / "b.py"),)


@pytest.mark.parametrize("line", ["exclude = ['!']", "per-file-ignores = {'!' = ['DEV1']}"])
def test_a_configured_pattern_that_is_none_is_told(tmp_path, line):
    (tmp_path / "pyproject.toml").write_text(f"[tool.devfix]\n{line}\n")

    with pytest.raises(ConfigError, match=r"pyproject\.toml: tool\.devfix\..*: '!' is not a gitignore pattern"):
        load([str(tmp_path)], {"DEV101": "rule"})
