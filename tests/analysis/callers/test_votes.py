"""What the uses of one argument say together."""

from __future__ import annotations

from devfix.analysis.callers.arguments import Kind
from devfix.analysis.callers.votes import Votes


def test_uses_narrow_what_is_possible():
    votes = Votes()
    votes.allow(frozenset({Kind.TENSOR, Kind.ARRAY}))
    votes.show(Kind.TENSOR)
    assert votes.possible == votes.strong == {Kind.TENSOR}


def test_uses_that_contradict_each_other_leave_nothing():
    votes = Votes()
    votes.show(Kind.TEXT)
    votes.show(Kind.TENSOR)
    assert not votes.possible


def test_arrays_are_suggested_by_what_lists_do_not_have():
    votes = Votes()
    votes.contain()
    assert not votes.weak and votes.is_sequence
    votes.allow(frozenset({Kind.TENSOR, Kind.ARRAY}))
    assert votes.weak == {Kind.TENSOR, Kind.ARRAY}
