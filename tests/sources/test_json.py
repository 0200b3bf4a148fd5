"""Offsets of values in a JSON text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devfix.sources.notebooks._json import elements, members, strings_at, value_at

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
INDENTS = st.sampled_from([None, 0, 1, 4, "\t"])


@given(st.dictionaries(st.text(), VALUES), INDENTS, st.booleans())
def test_members_are_found_where_they_stand(values, indent, ascii_only):
    text = json.dumps(values, indent=indent, ensure_ascii=ascii_only)

    assert {key: value_at(text, at)[0] for key, at in members(text, 0)} == values


@given(st.lists(VALUES), INDENTS)
def test_elements_are_found_where_they_stand(values, indent):
    text = json.dumps(values, indent=indent)

    assert [value_at(text, at)[0] for at in elements(text, 0)] == values


def test_literals_of_a_string_and_of_a_list():
    text = '["a",\n "b"]'

    assert [text[each.start : each.end] for each in strings_at(text, 0)] == ['"a"', '"b"']
    assert strings_at('"a"', 0) == [(0, 3)]
    assert strings_at("[]", 0) == []
    assert strings_at('["a", 1]', 0) is None
    assert strings_at("{}", 0) is None


@pytest.mark.parametrize("text", ["[]", "{1: 2}", '{"a" 1}', '{"a": 1 "b": 2}'])
def test_what_is_no_object_is_an_error(text):
    with pytest.raises(ValueError, match="Expecting"):
        list(members(text, 0))
