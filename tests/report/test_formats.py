"""The formats by name."""

import pytest

from devfix.report.formats import FORMATS, render


@pytest.mark.parametrize("name", [name for name, each in FORMATS.items() if not each.is_text and each.requires is None])
def test_every_format_ends_its_lines_and_tells_of_each_rule(view, name):
    text = render(name, view)

    assert text.endswith("\n")
    assert all(code in text for code in ("DEV101", "DEV102", "DEV201"))


def test_only_text_is_for_people():
    assert [name for name, each in FORMATS.items() if each.is_text] == ["text"]
