"""Nested values as flat leaves."""

from __future__ import annotations

import pytest

from devfix.verify.outputs.leaves import TooManyLeaves, flatten
from devfix.verify.outputs.pickles import Object, Pairs
from devfix.verify.outputs.values import Array


def test_leaves_have_their_path_in_the_order_of_the_document():
    found = flatten({"val": {"accuracy": 0.5, "names": ["a", "b"]}, "epoch": 3})

    assert list(found.items()) == [("val.accuracy", 0.5), ("val.names[0]", "a"), ("val.names[1]", "b"), ("epoch", 3)]


def test_a_long_list_of_numbers_is_one_array():
    found = flatten({"history": [0.5] * 1000})["history"]

    assert isinstance(found, Array) and found.shape == (1000,) and found.samples[0] == 0.5


def test_values_under_one_path_are_kept_apart():
    assert flatten(Object("f", (1, 2))) == {"": 1, " (2)": 2}


def test_the_order_of_a_set_says_nothing():
    one, other = (flatten(Object("builtins.set", (), contents=items)) for items in (["a", "b"], ["b", "a"]))

    assert one == other


def test_hooks_of_a_pickled_module_are_in_order_whatever_their_numbers():
    tables = [("_parameters", Pairs([])), ("_buffers", Pairs([])), ("_modules", Pairs([]))]

    def module(number):
        hooks = [
            ("_forward_hooks", Object("collections.OrderedDict", (), pairs=[(number, "a"), (number + 3, "b")])),
            ("_backward_hooks", Pairs([(number + 1, "c")])),
        ]
        return flatten(Object("Net", (), Pairs([*tables, *hooks])))

    assert module(0) == module(41)
    assert module(0)["_forward_hooks[1]"] == "b"


def test_what_refers_to_itself_or_multiplies_is_refused():
    loop: list = []
    loop.append(loop)
    laughs: list = [1]
    for _ in range(40):
        laughs = [laughs, laughs]

    for value in (loop, laughs, Pairs([(number, number) for number in range(100_000)])):
        with pytest.raises(TooManyLeaves):
            flatten(value)
