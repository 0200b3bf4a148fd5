"""``[tool.devfix]`` comes to the end of pyproject.toml, and nothing else changes."""

import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devfix import config
from devfix.init import Addition, Present, Refused, configuration
from devfix.rules import registry

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KNOWN = {rule.code: rule.name for rule in registry.all_rules()}


def added(tmp_path, text):
    (tmp_path / "pyproject.toml").write_bytes(text)
    return configuration(str(tmp_path))


def test_where_there_is_no_file_one_is_made_that_devfix_reads(tmp_path):
    part = configuration(str(tmp_path))

    assert isinstance(part, Addition) and part.old is None
    part.write()
    assert config.load([str(tmp_path)], KNOWN).severity.value == "error"
    assert isinstance(configuration(str(tmp_path)), Present)


@pytest.mark.parametrize(
    "old",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"# nothing\n", id="a-comment"),
        pytest.param(b"[project]\nname = 'x'  # odd  spacing\n", id="a-project"),
        pytest.param(b"[project]\nname = 'x'", id="no-final-newline"),
        pytest.param(b'[tool.ruff]\nselect = [\n  "A",   # why\n]\n\n\n', id="another-tool"),
        pytest.param(b"[project]\r\nname = 'x'\r\n", id="windows"),
        pytest.param(b"[[tool.mypy.overrides]]\nmodule = 'x'\n", id="tables-in-a-list"),
        pytest.param(b"tool.ruff.fix = true\n", id="dotted-keys"),
        pytest.param("[project]\ndescription = 'größer'\n".encode(), id="unicode"),
    ],
)
def test_the_table_is_added_behind_what_is_there(tmp_path, old):
    part = added(tmp_path, old)

    assert isinstance(part, Addition) and part.old == old
    assert part.new.startswith(old)
    assert part.new.count(b"\n") == part.new.count(b"\r\n") or b"\r\n" not in old
    part.write()
    assert config.load([str(tmp_path)], KNOWN).root == str(tmp_path)
    assert isinstance(configuration(str(tmp_path)), Present)


@pytest.mark.parametrize("old", [b"[tool.devfix]\n", b"[tool]\ndevfix = {}\n", b"tool.devfix.select = []\n"])
def test_a_table_that_is_there_stays(tmp_path, old):
    part = added(tmp_path, old)

    assert isinstance(part, Present) and part.content == "[tool.devfix]"


@pytest.mark.parametrize("old", [b"tool = {}\n", b"tool = 1\n"])
def test_a_table_that_cannot_be_added_is_shown(tmp_path, old):
    part = added(tmp_path, old)

    assert isinstance(part, Refused)
    assert "cannot be extended" in part.reason and part.snippet.startswith("[tool.devfix]")


def test_an_array_of_tables_is_not_extended(tmp_path):
    part = added(tmp_path, b"[[tool]]\n")

    assert isinstance(part, Refused)
    assert part.reason == "existing settings would change"


@pytest.mark.parametrize("old", [b"[project\n", b"\xff\n", b"\xef\xbb\xbf[project]\n"])
def test_a_file_that_is_no_toml_is_told(tmp_path, old):
    part = added(tmp_path, old)

    assert isinstance(part, Refused)
    assert part.reason.startswith("cannot be read: ") and not part.snippet


def test_a_folder_of_that_name_is_told(tmp_path):
    os.mkdir(tmp_path / "pyproject.toml")

    assert isinstance(configuration(str(tmp_path)), Refused)


@pytest.mark.parametrize(
    ("old", "added_lines"),
    [
        pytest.param(b"", b'[tool.devfix]\nseverity = "error"', id="both-tables"),
        pytest.param(b"[tool.devfix]\nselect = []\n", b"\n[tool.devfix.bot]\nenabled = true\n", id="the-bot-alone"),
        pytest.param(b"[tool]\ndevfix.select = []\n", b"\n[tool.devfix.bot]\nenabled = true\n", id="dotted-keys"),
    ],
)
def test_the_bot_is_switched_on_where_it_is_wanted(tmp_path, old, added_lines):
    (tmp_path / "pyproject.toml").write_bytes(old)

    part = configuration(str(tmp_path), bot=True)

    assert isinstance(part, Addition)
    assert part.new.startswith(old + added_lines)
    assert tomllib.loads(part.new.decode())["tool"]["devfix"]["bot"] == {"enabled": True}
    part.write()
    assert isinstance(configuration(str(tmp_path), bot=True), Present)


def test_the_bot_alone(tmp_path):
    part = configuration(str(tmp_path), rules=False, bot=True)

    assert isinstance(part, Addition)
    assert part.new == b"[tool.devfix.bot]\nenabled = true\n"


def test_a_bot_that_was_switched_off_stays_so(tmp_path):
    (tmp_path / "pyproject.toml").write_bytes(b"[tool.devfix.bot]\nenabled = false\n")

    part = configuration(str(tmp_path), bot=True)

    assert isinstance(part, Present) and part.content == "[tool.devfix.bot]"


def test_a_table_in_braces_gets_no_bot(tmp_path):
    (tmp_path / "pyproject.toml").write_bytes(b"[tool]\ndevfix = {}\n")

    part = configuration(str(tmp_path), bot=True)

    assert isinstance(part, Refused) and part.snippet == "[tool.devfix.bot]\nenabled = true\n"


KEYS = st.text("abcdevfixtool-", min_size=1, max_size=6)
LINES = st.one_of(
    st.builds("[{}.{}]".format, KEYS, KEYS),
    st.builds("[[{}]]".format, KEYS),
    st.builds("{} = {}".format, KEYS, st.sampled_from(["1", "'a'", "[]", "{}", "{ devfix = 1 }", '"""a\n[tool]\n"""'])),
    st.builds("{}.{} = 1".format, KEYS, KEYS),
    st.just("# [tool.devfix]"),
    st.just(""),
)


@given(st.lists(LINES, max_size=6), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_whatever_the_file_says_it_still_says(tmp_path_factory, lines, newline, ended):
    old = (newline.join(lines) + newline * ended).encode()
    folder = tmp_path_factory.mktemp("project")
    part = added(folder, old)

    if isinstance(part, Addition):
        assert part.new.startswith(old)
        after, before = tomllib.loads(part.new.decode()), tomllib.loads(old.decode())
        assert after["tool"].pop("devfix") == {"severity": "error", "exclude": []}
        assert {"tool": {}, **before} == after or before == after
