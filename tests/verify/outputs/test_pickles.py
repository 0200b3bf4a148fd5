"""Pickles are read, and nothing in them is called."""

from __future__ import annotations

import io
import os
import pickle
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devfix.verify.outputs import pickles
from devfix.verify.outputs.leaves import flatten
from devfix.verify.outputs.pickles import Object, Pairs, PickleError


def load(data: bytes):
    return pickles.load(io.BytesIO(data))


class Caller:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


class Point:
    def __init__(self):
        self.x, self.y = 1, [2.5]


@pytest.mark.parametrize("protocol", range(6))
def test_a_call_in_a_pickle_is_not_made(tmp_path, protocol):
    found = load(pickle.dumps({"harm": Caller(str(tmp_path / "made"))}, protocol))

    assert not (tmp_path / "made").exists()
    assert isinstance(found, Pairs) and found.items[0][1].name.endswith(".mkdir")


@pytest.mark.parametrize("protocol", range(6))
def test_objects_become_leaves_of_their_state(protocol):
    found = flatten(load(pickle.dumps({"a": [1, (True, None)], "point": Point()}, protocol)))

    expected = {"a[0]": 1, "a[1][0]": True, "a[1][1]": None, "point.x": 1, "point.y[0]": 2.5}
    assert expected.items() <= found.items()


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def simple(value):
    if isinstance(value, Pairs):
        return {key: simple(item) for key, item in value.items}
    if isinstance(value, (list, tuple)):
        return type(value)(map(simple, value))
    if isinstance(value, Object):  # bytes in old protocols
        return value.arguments[0].encode("latin1") if value.arguments else b""
    return value


@given(plain, st.integers(0, 5))
def test_plain_values_are_what_pickle_loads(value, protocol):
    assert simple(load(pickle.dumps(value, protocol))) == value


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data):
    with suppress(PickleError):
        load(data)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x80\x04" + b"]" * 250_000 + b".", id="many-instructions"),
        pytest.param(b"\x80\x04r\xff\xff\xff\x7f.", id="huge-memo"),
        pytest.param(b"\x80\x04" + b"\x8b\xff\xff\xff\x7f" + b"1", id="huge-number"),
        pytest.param(b"\x80\x04\x8e" + b"\xff" * 8, id="huge-bytes"),
        pytest.param(b"\x80\x05\x97.", id="buffer-from-elsewhere"),
        pytest.param(b"\x80\x04N", id="no-end"),
        pytest.param(b"", id="empty"),
        pytest.param(b"\x80\x04NNa.", id="append-to-none"),
    ],
)
def test_a_hostile_pickle_is_refused(data):
    with pytest.raises(PickleError):
        load(data)


def test_a_deeply_nested_key_is_never_hashed():
    nested = b"\x80\x04}" + b")" + b"\x85" * 150_000 + b"Ns."

    assert len(load(nested).items) == 1
