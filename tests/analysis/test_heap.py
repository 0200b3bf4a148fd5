"""The heap of a path: copies share pages until one of them writes."""

from __future__ import annotations

import tracemalloc

import pytest

from devfix.analysis.domain.heap import Heap
from devfix.analysis.domain.objects import HeapObject

FAR = 1_000  # on another page than the first objects


def named(name):
    return HeapObject(name=name)


@pytest.fixture
def heap():
    heap = Heap()
    for key in (1, 2, FAR):
        heap[key] = named(f"object {key}")
    return heap


def names(heap):
    return {key: obj.name for key, obj in heap.items()}


def test_an_object_is_found_by_its_identifier(heap):
    assert heap.get(FAR) == named(f"object {FAR}")
    assert FAR in heap


@pytest.mark.parametrize("key", [3, FAR + 1, 70_000])
def test_a_missing_object_is_none(heap, key):
    assert heap.get(key) is None
    assert key not in heap


@pytest.mark.parametrize("key", [1, 3, FAR, FAR + 1, 70_000])
def test_a_write_to_a_copy_leaves_the_original(heap, key):
    before = names(heap)
    copy = heap.copy()
    copy[key] = named("written")
    assert names(heap) == before
    assert names(copy) == {**before, key: "written"}


@pytest.mark.parametrize("key", [1, 3, FAR, FAR + 1, 70_000])
def test_a_write_to_the_original_leaves_its_copies(heap, key):
    before = names(heap)
    copy = heap.copy()
    second = copy.copy()
    heap[key] = named("written")
    heap[key] = named("written again")
    assert names(copy) == names(second) == before
    assert names(heap) == {**before, key: "written again"}


def test_objects_of_another_heap_replace_those_with_their_identifiers(heap):
    other = Heap()
    other[2] = named("new")
    other[5] = named("added")
    heap.update(other)
    assert names(heap) == {1: "object 1", 2: "new", FAR: f"object {FAR}", 5: "added"}


def test_a_copy_costs_a_small_part_of_the_heap(heap):
    for key in range(10_000):
        heap[key] = named("one of many")
    plain = dict(heap.items())
    tracemalloc.start()
    try:
        copies = [heap.copy() for _ in range(10)]
        of_heap = tracemalloc.get_traced_memory()[0]
        dictionaries = [dict(plain) for _ in range(10)]
        of_dictionaries = tracemalloc.get_traced_memory()[0] - of_heap
    finally:
        tracemalloc.stop()
    assert len(copies) == len(dictionaries)
    assert of_heap * 10 < of_dictionaries
