"""The pages about stubs: every word of the language has its row, and every example is in the language."""

import re
from pathlib import Path

import pytest

from devfix.models.signatures import PARAMETER_WORDS, RESULT_WORDS
from devfix.models.stub_language import ROOTS, parse_stub

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "development" / "stubs.md").read_text(encoding="utf-8")
USERS = (DOCS / "how-to" / "models.md").read_text(encoding="utf-8")
CHAPTERS = {"Words for parameters": PARAMETER_WORDS, "Words for results": RESULT_WORDS, "Classes and roots": ROOTS}


def rows(chapter):
    """The words of each row with the example."""
    text = PAGE.partition(f"\n## {chapter}\n")[2].partition("\n## ")[0]
    for first, example in re.findall(r"^\| (`.*?) \|.*\| `([^`]*)` \|$", text, re.MULTILINE):
        yield re.findall(r"`(\w+)`", first), example


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_word_has_a_row_and_its_example_has_the_word(chapter):
    told = [word for words, _ in rows(chapter) for word in words]

    assert sorted(told) == sorted(CHAPTERS[chapter])
    for words, example in rows(chapter):
        assert any(re.search(rf"\b{word}\b", example) for word in words) or words == ["Object"], example
        found = parse_stub(f"{example}: ...", "acme", "stubs.md")
        assert found.problems == [], example


@pytest.mark.parametrize("text", re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
def test_every_example_of_the_page_is_a_stub(text):
    assert parse_stub(text, "acme", "stubs.md").problems == []


def test_the_words_for_users_are_words():
    (table,) = re.findall(r"^(\| of a parameter.*?)^```", USERS, re.MULTILINE | re.DOTALL)
    told = {word for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for word in re.findall(r"`(\w+)", row)}

    assert told <= {*PARAMETER_WORDS, *RESULT_WORDS}
    (stub,) = re.findall(r"^```python\n(def random_mask.*?)^```", USERS, re.MULTILINE | re.DOTALL)
    assert parse_stub(stub, "acme", "models.md").problems == []
