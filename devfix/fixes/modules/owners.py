"""What holds an object, in one state of the heap: other objects, and Python containers in attributes of modules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from devfix.analysis.domain.objects import Container, HeapObject, Module, object_at
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import Pointer, TupleValue, Value, alternatives
from devfix.syntax.node_caches import node_cache

__all__ = ["ContainerAttribute", "contents_of", "is_in_container", "owners_of", "parents_of", "within_containers"]

_MAX_DEPTH = 3


@dataclass(frozen=True)
class ContainerAttribute:
    """A module attribute that holds a Python container: the module, the attribute's name, the container."""

    owner: Pointer
    name: str
    container: Value

    @property
    def is_tuple(self) -> bool:
        """Whether the container is a tuple."""
        return isinstance(self.container, TupleValue)


@dataclass(frozen=True)
class _Holding:
    """An object that holds another one: in an attribute or item, or in tuples there.

    Attributes:
        owner: the identifier of the object.
        order: the number of the attribute.
        name: its name, ``*`` for the items of unknown names.
        value: one of its alternatives.

    """

    owner: int
    order: int
    name: str
    value: Value


class _Page:
    """A page of a heap that does not change any more, equal to itself only."""

    def __init__(self, objects: Mapping[int, HeapObject]) -> None:
        self.objects = objects

    def __hash__(self) -> int:
        return id(self.objects)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Page) and other.objects is self.objects


@node_cache(8192)
def _holdings(page: _Page) -> dict[int, list[_Holding]]:
    """Return what the objects of a page hold, by identifier: states have most pages in common."""
    found: dict[int, list[_Holding]] = {}
    for key, obj in page.objects.items():
        named = [*obj.fields.items(), *([("*", obj.default_item)] if obj.default_item is not None else [])]
        for order, (name, value) in enumerate(named):
            for option in alternatives(value):
                for held in _pointers(option):
                    found.setdefault(held, []).append(_Holding(key, order, name, option))
    return found


@node_cache(2)
def _indexes(state: State) -> tuple[list[dict[int, list[_Holding]]], list[dict[int, list[_Holding]]]]:
    """Return what the objects of a state hold, which must not change any more, and of its base."""
    mine, base = ([_holdings(_Page(page)) for page in heap.pages()] for heap in (state.heap, state.base.heap))
    return [each for each in mine if each], [each for each in base if each]


def _holders(state: State, key: int) -> list[_Holding]:
    """Return what holds an object, in the order in which the holders were made."""
    mine, base = _indexes(state)
    found = [holding for index in mine for holding in index.get(key, ())]
    found += (holding for index in base for holding in index.get(key, ()) if holding.owner not in state.heap)
    return sorted(found, key=lambda holding: (holding.owner, holding.order))


def _pointers(value: Value, depth: int = 0) -> set[int]:
    """Return the identifiers of a pointer, or of those in a tuple."""
    if isinstance(value, Pointer):
        return {value.id}
    if not isinstance(value, TupleValue) or depth > _MAX_DEPTH:
        return set()
    return {key for item in value.items for option in alternatives(item) for key in _pointers(option, depth + 1)}


def _containers(state: State, key: int) -> list[ContainerAttribute]:
    """Return the attributes of modules with a container that holds an object, directly or in a nested container."""
    found: dict[tuple[int, int, Value], ContainerAttribute] = {}
    seen, level = {key}, [key]
    for _ in range(_MAX_DEPTH + 1):
        above: list[int] = []
        for holding in (each for held in level for each in _holders(state, held)):
            obj = state.at(holding.owner)
            if isinstance(obj, Container):
                above += [holding.owner] if holding.owner not in seen else []
                seen.add(holding.owner)
            elif isinstance(obj, Module) and holding.value != Pointer(key):
                attribute = ContainerAttribute(Pointer(holding.owner), holding.name, holding.value)
                found[holding.owner, holding.order, holding.value] = attribute
        level = above
    return [found[each] for each in sorted(found, key=lambda each: each[:2])]


def contents_of(state: State, value: Value) -> list[Value]:
    """Return the items of a tuple or another container; none of any other value."""
    if isinstance(value, TupleValue):
        return list(value.items)
    if isinstance(value, Pointer) and state.has(value.id):
        container = object_at(state, value, Container)
        return container.contents if container is not None else []
    return []


def owners_of(state: State, key: int, kind: type[HeapObject]) -> list[int]:
    """Return the ids of the modules, or of the instances, that have the object ``key`` as an attribute or item."""
    owners = dict.fromkeys(each.owner for each in _holders(state, key) if each.value == Pointer(key))
    return [owner for owner in owners if isinstance(state.at(owner), kind)]


def parents_of(state: State, key: int) -> list[int]:
    """Return the ids of the modules that hold the object ``key``."""
    return owners_of(state, key, Module)


def within_containers(state: State, part: Pointer) -> Iterator[ContainerAttribute]:
    """Yield the Python containers that hold ``part``, or a module in which it is registered, and that alone do so.

    The modules to which they belong do not register it by another attribute, too: ``self.blocks = [self.first]``.
    """
    chain, level = {part.id: None}, [part.id]
    while level:
        level = list(dict.fromkeys(p for key in level for p in parents_of(state, key) if p not in chain))
        chain |= dict.fromkeys(level)
    attributes = dict.fromkeys(attribute for key in chain for attribute in _containers(state, key))
    yield from (attribute for attribute in attributes if attribute.owner.id not in chain)


def is_in_container(state: State, key: int) -> bool:
    """Whether a module stores this module in a Python container, so that ``.to()`` does not reach it."""
    return any(True for _ in within_containers(state, Pointer(key)))
