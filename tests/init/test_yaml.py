"""An item comes to a list of YAML, and the text around it stays."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from devfix.init._yaml import CannotExtend, InvalidYaml, append_item, values

ITEM = "- repo: local\n  hooks:\n    - id: devfix\n"
PLAIN = {"repo": "local", "hooks": [{"id": "devfix"}]}


@pytest.mark.parametrize(
    ("old", "ahead"),
    [
        pytest.param("repos:\n  - repo: x\n", "", id="at-the-end"),
        pytest.param("repos:\n- repo: x\n", "", id="not-indented"),
        pytest.param("repos:\n  -   repo: x\n      hooks: []\n", "", id="wide"),
        pytest.param("repos:\n  - repo: x", "", id="no-final-newline"),
        pytest.param("repos:\n  - repo: x  # why\n", "\n# about ci\nci:\n  autofix: true\n", id="a-key-behind-it"),
        pytest.param("repos:\n  - repo: x\n    # - id: later\n", "\n# end\n", id="a-comment-of-the-item"),
        pytest.param("repos:\n  - repo: x\n    args: [a,\n      b]\n", "\n\n", id="brackets-at-the-end"),
        pytest.param("repos:\n  - repo: |\n      a\n\n      b\n", "ci: 1\n", id="text-at-the-end"),
        pytest.param("repos: &all\n  - &x {repo: y}\n  - *x\n", "", id="an-alias-at-the-end"),
        pytest.param("---\n# c\nexclude: a\nrepos:\n  - repo: x\n", "", id="a-document-with-a-mark"),
        pytest.param("repos:\n  - repo: x\n    rev:\n", "", id="nothing-at-the-end"),
        pytest.param("repos:\n  - repo: größer\n", "ci: 1\n", id="unicode"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_item_goes_behind_the_last_one(old, ahead, newline):
    raw = (old + ahead).replace("\n", newline).encode()

    new = append_item(raw, "repos", ITEM)

    head, tail = old.replace("\n", newline).encode(), ahead.replace("\n", newline).encode()
    assert new.startswith(head) and new.endswith(tail)
    assert new.count(b"\n") == new.count(newline.encode())
    before, after = yaml.safe_load(raw), yaml.safe_load(new)
    assert after.pop("repos") == [*before.pop("repos"), PLAIN]
    assert after == before


@pytest.mark.parametrize("old", ["", "# c\n", "exclude: a\n", "exclude: |\n  a\n"])
def test_where_there_is_no_list_one_is_made_at_the_end(old):
    new = append_item(old.encode(), "repos", ITEM)

    assert new.startswith(old.encode())
    assert yaml.safe_load(new) == {**(yaml.safe_load(old) or {}), "repos": [PLAIN]}


@pytest.mark.parametrize(
    "old",
    [
        "repos: []\n",
        "repos: [{repo: x}]\n",
        "{repos: []}\n",
        "repos:\n",
        "repos: a\n",
        "repos: {a: 1}\n",
        "- a\n",
        "a: 1\n...\n",
        "a\n",
    ],
)
def test_a_list_that_lines_cannot_be_added_to_is_refused(old):
    with pytest.raises(CannotExtend):
        append_item(old.encode(), "repos", ITEM)


@pytest.mark.parametrize("old", [b"a: [\n", b"a: b: c\n", b"\xff\n", b"a:\n\t- b\n", b"[" * 300])
def test_what_is_no_yaml_is_told(old):
    with pytest.raises(InvalidYaml):
        append_item(old, "repos", ITEM)


def test_unknown_tags_and_aliases_of_aliases_cost_nothing():
    bomb = "a: &a [x, x]\n" + "".join(
        f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefghijk", "bcdefghijkl", strict=True)
    )
    raw = f"{bomb}job:\n  script: !reference [a, b]\nrepos:\n  - repo: x\n".encode()

    assert append_item(raw, "repos", ITEM) == raw + b"  - repo: local\n    hooks:\n      - id: devfix\n"


def test_values():
    raw = b"repos:\n  - hooks:\n      - id: a\n      - {id: b, name: id}\n# id: c\nci: id\n"

    assert values(raw, "id") >= {"a", "b"} and "c" not in values(raw, "id")


WORDS = st.text("ab: #-'\"\n[]{}é", max_size=8)
HOOKS = st.lists(st.fixed_dictionaries({"id": WORDS}, optional={"args": st.lists(WORDS, max_size=2)}), max_size=2)
REPOS = st.lists(st.fixed_dictionaries({"repo": WORDS, "hooks": HOOKS}), min_size=1, max_size=3)


@given(REPOS, st.dictionaries(st.sampled_from(["ci", "exclude"]), WORDS), st.booleans(), st.data())
def test_lines_are_added_and_none_is_changed(repos, others, first, data):
    document = {"repos": repos, **others} if first else {**others, "repos": repos}
    style = data.draw(st.sampled_from([None, "|", '"']))
    lines = yaml.safe_dump(document, default_style=style, sort_keys=False, default_flow_style=False).splitlines(
        keepends=True
    )
    where = data.draw(st.integers(0, len(lines)))
    raw = "".join(
        [*lines[:where], data.draw(st.sampled_from(["", "# note\n", "      # note\n", "\n"])), *lines[where:]]
    )
    try:
        before = yaml.safe_load(raw)
        new = append_item(raw.encode(), "repos", ITEM)
    except (CannotExtend, InvalidYaml, yaml.YAMLError):
        return

    added = new.decode().splitlines()
    for line in raw.splitlines():
        added.remove(line)
    assert len(added) == 3
    after = yaml.safe_load(new)
    assert after == {**before, "repos": [*before["repos"], PLAIN]}
