"""Records: dataclasses that only the type checker keeps frozen."""

from __future__ import annotations

import dataclasses

import pytest

from devfix.analysis.domain.records import dataclass, replace
from devfix.analysis.domain.values import CPU, Const, Origin, Tensor


@dataclass(frozen=True)
class Place:
    row: int
    column: int = 0


@dataclass(frozen=True, eq=False)
class Marker:
    name: str


@dataclass
class Counted:
    count: int = 0


def test_a_frozen_record_is_equal_and_hashed_by_its_fields():
    assert Place(1) == Place(1, 0)
    assert len({Place(1), Place(1, 0), Place(2)}) == 2


def test_a_record_without_eq_is_equal_to_itself_only():
    marker = Marker("a")
    assert marker == marker
    assert marker != Marker("a")


def test_a_record_that_is_not_frozen_has_no_hash():
    with pytest.raises(TypeError, match="unhashable"):
        hash(Counted())


def test_a_hash_that_a_class_defines_stays():
    assert len({Const(1), Const(True), Const(1.0)}) == 3


def test_a_copy_has_the_given_fields_and_leaves_the_original():
    first = Tensor(CPU, (Origin("made", 3),))
    second = replace(first, maybe_zero_dim=True)
    assert second == dataclasses.replace(first, maybe_zero_dim=True)
    assert not first.maybe_zero_dim
