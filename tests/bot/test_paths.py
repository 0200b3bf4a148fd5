"""Which files the bot may change."""

from __future__ import annotations

import pytest

from devfix.bot.paths import refusal


@pytest.mark.parametrize("path", ["train.py", "a b/ünï.py", "src/it's 100%.ipynb", "co:lon.d/x::y.pyw", "-dash.py"])
def test_what_may_be_changed(path):
    assert refusal(path) == ""


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("../train.py", "not a portable path"),
        ("/etc/train.py", "not a portable path"),
        ("a/../../train.py", "not a portable path"),
        ("a//train.py", "not a portable path"),
        ("./train.py", "not a portable path"),
        ("c:/train.py", "not a portable path"),
        ("a\\train.py", "not a portable path"),
        ("two\nlines.py", "not a portable path"),
        ("\udcff.py", "not a portable path"),
        ("", "not a portable path"),
        (".GIT/hooks/x.py", "hidden"),
        (".github/x.py", "hidden"),
        ("src/.x.py", "hidden"),
        ("train.sh", "neither"),
        ("pyproject.toml", "neither"),
    ],
)
def test_what_is_left_alone(path, words):
    assert words in refusal(path) and "\n" not in refusal(path)
