"""What holds an object, in one state of the heap: other objects, and Python containers in attributes of modules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from devfix.analysis.domain.objects import Container, HeapObject, Module, object_at
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import Pointer, TupleValue, Value, alternatives
from devfix.analysis.stdlib.instances import InstanceObject
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
class _Owners:
    """The owners of each object, by its identifier, in the order of the heap.

    Attributes:
        objects: identifiers of modules and instances that have it as an attribute or item.
        containers: attributes of modules with a container that holds it, at any depth, with their numbers.

    """

    objects: dict[int, list[int]] = field(default_factory=dict)
    containers: dict[int, list[tuple[int, ContainerAttribute]]] = field(default_factory=dict)


@node_cache(2)
def _owners(state: State) -> _Owners:
    """Return the owners of all objects of a state, which must not change any more."""
    found = _Owners()
    number = 0
    for key, obj in state.heap_objects():
        if not isinstance(obj, (Module, InstanceObject)):
            continue
        named = [*obj.fields.items(), *([("*", obj.default_item)] if obj.default_item is not None else [])]
        options = [(name, option) for name, value in named for option in alternatives(value)]
        for held in dict.fromkeys(option.id for _, option in options if isinstance(option, Pointer)):
            found.objects.setdefault(held, []).append(key)
        for name, option in options if isinstance(obj, Module) else ():
            number += 1
            attribute = ContainerAttribute(Pointer(key), name, option)
            for held in _held(state, option):
                found.containers.setdefault(held, []).append((number, attribute))
    return found


def _held(state: State, value: Value) -> set[int]:
    """Return the identifiers of the objects that a container holds, directly or in a nested container."""
    found, level = set[int](), [value]
    for _ in range(_MAX_DEPTH + 1):
        options = [option for each in level for inner in contents_of(state, each) for option in alternatives(inner)]
        level = [each for each in options if not isinstance(each, Pointer) or each.id not in found]
        found.update(option.id for option in level if isinstance(option, Pointer))
        level = list(dict.fromkeys(level))
    return found


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
    return [owner for owner in _owners(state).objects.get(key, ()) if isinstance(state.at(owner), kind)]


def parents_of(state: State, key: int) -> list[int]:
    """Return the ids of the modules that hold the object ``key``."""
    return owners_of(state, key, Module)


def within_containers(state: State, part: Pointer) -> Iterator[ContainerAttribute]:
    """Yield the Python containers of modules that hold ``part`` or a module in which it is registered."""
    owners = _owners(state)
    chain, level = {part.id}, [part.id]
    while level:
        held_in = {number: attribute for key in level for number, attribute in owners.containers.get(key, ())}
        for _, attribute in sorted(held_in.items(), key=lambda item: item[0]):
            yield attribute
        level = list(dict.fromkeys(p for key in level for p in parents_of(state, key) if p not in chain))
        chain.update(level)


def is_in_container(state: State, key: int) -> bool:
    """Whether a module stores this module in a Python container, so that ``.to()`` does not reach it."""
    return any(True for _ in within_containers(state, Pointer(key)))
