"""Calls that nest deeply map no memory each time that they cross a chunk of frames."""

from __future__ import annotations

import resource
import sys

import pytest

from devfix.analysis.frame_stack import with_room


def _sum(depth: int) -> int:
    return 0 if depth == 0 else 1 + _sum(depth - 1)


def _faults(depths: range) -> int:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for depth in depths:
        for _ in range(200):
            _sum(depth)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def test_the_result_is_that_of_the_function():
    assert with_room(lambda: _sum(40)) == 40


def test_an_error_passes():
    with pytest.raises(ZeroDivisionError):
        with_room(lambda: 1 // 0)


@pytest.mark.skipif(sys.implementation.name != "cpython" or sys.version_info < (3, 11), reason="frames are objects")
def test_no_depth_maps_memory_at_each_call():
    depths = range(20, 260)
    with_room(lambda: _faults(depths))

    assert with_room(lambda: _faults(depths)) < _faults(depths) / 10
