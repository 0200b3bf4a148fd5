"""What each of two joined paths says, for a later test of the condition that tells them apart.

A join forgets which facts go together: after ``if flag: model.cuda()``, the model is on either device, also under a
later ``if flag``.  A :class:`Split` remembers both sides of one join.  Where a path assumes the condition again, the
names and objects that have not changed since take back the values of its side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal

from devfix.analysis.domain.assumptions import outcome_of
from devfix.analysis.domain.objects import join_objects
from devfix.analysis.domain.records import dataclass, replace
from devfix.analysis.domain.values import Pointer, Tensor, TupleValue, Union, Value, alternatives, join

if TYPE_CHECKING:
    from devfix.analysis.domain.objects import HeapObject
    from devfix.analysis.domain.state import State

__all__ = ["Split", "Splits", "add_splits", "copy_sides", "share_sides", "take_side", "take_side_of_value"]

_MOST_CONDITIONS = 24  # that a state remembers
_MOST_JOINS = 12  # that it remembers for one of them

#: Values of a name: on the first path, on the second, and joined; ``None`` where it is not bound.
_Sides = tuple["Value | None", "Value | None", "Value | None"]


@dataclass(frozen=True, eq=False)
class Split:
    """The names and objects in which two joined paths differ.

    Attributes:
        names: by environment and name.
        objects: by identifier: on the first path, on the second, and joined.

    """

    names: Mapping[tuple[int, str], _Sides]
    objects: Mapping[int, tuple[HeapObject, HeapObject, HeapObject]]


#: Splits by condition, each with the outcome of the condition on its first path; the oldest first.
Splits = dict[str, "tuple[tuple[Split, bool], ...]"]


def add_splits(joined: State, one: State, two: State, split: Split) -> None:
    """Remember the sides of a join under each condition that holds on one path only, or that split one path before."""
    carried = dict(_carried(one, two, split))
    joined.splits = dict(one.splits)
    for key, known in two.splits.items():
        mine = joined.splits.get(key, ())
        joined.splits[key] = (
            known if not mine or known is mine else tuple(dict.fromkeys((*mine, *known)))[-_MOST_JOINS:]
        )
    if split.names or split.objects:
        for key in dict.fromkeys((*one.assumptions, *two.assumptions)):
            holds = outcome_of(one.assumptions, key)
            if holds is not None and outcome_of(two.assumptions, key) is (not holds):
                known = joined.splits.pop(key, ())
                joined.splits[key] = (*known[1 - _MOST_JOINS :], (split, holds))
    for key, further in carried.items():
        joined.splits[key] = (*joined.splits[key][1 - _MOST_JOINS :], (further, True))
    while len(joined.splits) > _MOST_CONDITIONS:
        del joined.splits[next(iter(joined.splits))]


def _carried(one: State, two: State, split: Split) -> Iterator[tuple[str, Split]]:
    """Yield what is known where a condition holds, and where it does not, if earlier joins of the paths tell."""
    names = {name: sides for name, sides in split.names.items() if isinstance(sides[2], Union)}
    for key in one.splits.keys() | two.splits.keys():
        if one.splits.get(key) is two.splits.get(key):
            continue
        earlier = [each for state in (one, two) for each, _ in state.splits.get(key, ())]
        found: dict[tuple[int, str], _Sides] = {}
        for name in sorted({name for each in earlier for name in each.names.keys() & names.keys()}):
            mine, theirs, both = names[name]
            known = [_known(state, key, "names", name, value) for state, value in ((one, mine), (two, theirs))]
            sides = _sides(known)
            if sides is not None:
                found[name] = join(sides[0]), join(sides[1]), both
        objects: dict[int, tuple[HeapObject, HeapObject, HeapObject]] = {}
        for identifier in {identifier for each in earlier for identifier in each.objects.keys() & split.objects.keys()}:
            ours, others, joined = split.objects[identifier]
            pairs = ((one, ours), (two, others))
            versions = [_known(state, key, "objects", identifier, obj) for state, obj in pairs]
            parts = _sides(versions)
            if parts is not None:
                objects[identifier] = reduce(join_objects, parts[0]), reduce(join_objects, parts[1]), joined
        if found or objects:
            yield key, Split(found, objects)


def _sides(known: list[tuple[Any, Any]]) -> tuple[list[Any], list[Any]] | None:
    """Return what two paths know where a condition holds, and where it does not; ``None`` if it tells nothing."""
    if all(held is failed for held, failed in known):
        return None
    held = [side for side, _ in known if side is not None]
    failed = [side for _, side in known if side is not None]
    return (held, failed) if held and failed else None


def _known(state: State, key: str, kind: Literal["names", "objects"], item: Any, present: Any) -> tuple[Any, Any]:
    """Return what a name or an object is where a condition holds, and where it does not.

    ``None`` where it has no value; ``present`` for both where the joins of the path do not tell.
    """
    holds = outcome_of(state.assumptions, key)
    if holds is not None:
        return (present, None) if holds else (None, present)
    for split, first_holds in reversed(state.splits.get(key, ())):
        sides = getattr(split, kind).get(item)
        if sides is not None and sides[2] is present and sides[0] is not None and sides[1] is not None:
            return (sides[0], sides[1]) if first_holds else (sides[1], sides[0])
    return present, present


def take_side(state: State, key: str, holds: bool) -> None:
    """Restore what the path says on which a condition holds, or does not, as far as it has not changed since."""
    for split, first_holds in reversed(state.splits.get(key, ())):
        _take_side(state, split, 0 if first_holds is holds else 1)


def take_side_of_value(state: State, value: Value, excluded: frozenset[Value]) -> Value | None:
    """Restore what the path says from which a value came that is none of ``excluded``; return what it was there.

    After ``encoder = Encoder() if deep else None``, a test of ``encoder is not None`` tells which way was taken.
    ``None`` if no join is known that made the value, or if it may have come from either side.
    """
    for key, known in reversed(state.splits.items()):
        for split, first_holds in reversed(known):
            for one, two, joined in split.names.values():
                if joined is value and one is not None and two is not None:
                    is_possible = [not excluded.issuperset(alternatives(side)) for side in (one, two)]
                    side = one if is_possible[0] else two
                    is_smaller = len(alternatives(side)) < len(alternatives(value))
                    if is_possible[0] is not is_possible[1] and is_smaller:
                        state.assume(key, first_holds is is_possible[0])
                        _take_side(state, split, 0 if is_possible[0] else 1)
                        return side
    return None


def share_sides(state: State, env: int, name: str, value: Value) -> None:
    """Let a name that is bound to a joined value take back what the other names of this value take back."""
    for key, known in state.splits.items():
        if any(sides[2] is value for split, _ in known for sides in split.names.values()):
            state.splits = {
                **state.splits,
                key: tuple((_with_name(split, (env, name), value), first_holds) for split, first_holds in known),
            }


def _with_name(split: Split, name: tuple[int, str], value: Value) -> Split:
    sides = next((sides for sides in split.names.values() if sides[2] is value), None)
    return split if sides is None else replace(split, names={**split.names, name: sides})


def copy_sides(state: State, copies: Mapping[int, Pointer]) -> None:
    """Let the copies of objects take back what their originals take back; ``copies`` are by identifier of these."""
    for key, known in state.splits.items():
        if any(not copies.keys().isdisjoint(split.objects) for split, _ in known):
            state.splits = {
                **state.splits,
                key: tuple((_with_copies(state, split, copies), first_holds) for split, first_holds in known),
            }


def _with_copies(state: State, split: Split, copies: Mapping[int, Pointer]) -> Split:
    made = {}
    for identifier, versions in split.objects.items():
        copied = copies.get(identifier)
        if copied is not None:
            one, two, joined = (obj.transformed(lambda _, item: _copied(item, copies)) for obj in versions)
            is_joined = state.heap.get(identifier) is versions[2]
            present = state.heap.get(copied.id)
            made[copied.id] = one, two, present if is_joined and present is not None else joined
    return replace(split, objects={**split.objects, **made}) if made else split


def _copied(value: Value, copies: Mapping[int, Pointer]) -> Value:
    """Return a value of a copy: with the copies of what it points to."""
    match value:
        case Pointer(identifier):
            return copies.get(identifier, value)
        case Union(items):
            return join(_copied(item, copies) for item in items)
        case TupleValue(items):
            return TupleValue(tuple(_copied(item, copies) for item in items))
    return value


def _take_side(state: State, split: Split, side: int) -> None:
    for (env, name), sides in split.names.items():
        if state.lookup(env, name) is sides[2] and _is_telling(*sides):
            value = sides[side]
            if value is None:
                state.unbind(env, name)
            else:
                state.bind(env, name, value)
    for identifier, versions in split.objects.items():
        present = state.heap.get(identifier)
        if present is not None:
            restored = _restored(present, versions[side], versions[2])
            if restored is not present:
                state.write(identifier, restored)


def _restored(present: HeapObject, ours: HeapObject, joined: HeapObject) -> HeapObject:
    """Return an object with the facts of one path where it still has those of the join."""
    if present is joined:
        return ours
    if type(present) is not type(ours) or type(joined) is not type(ours):
        return present
    changes: dict[str, Any] = {}
    if present.devices is joined.devices and ours.devices is not joined.devices:
        changes = {"devices": ours.devices, "last_moved_at": ours.last_moved_at}
    fields = dict(present.fields)
    for name, value in joined.fields.items():
        own = ours.fields.get(name)
        if own is not value and fields.get(name) is value and isinstance(value, (Pointer, Tensor, Union)):
            fields.pop(name)
            if own is not None:
                fields[name] = own
    if fields != present.fields:
        changes["fields"] = fields
    return replace(present, **changes) if changes else present


def _is_telling(one: Value | None, two: Value | None, joined: Value | None) -> bool:
    """Return whether a value that is still the joined one has not been assigned again since."""
    if one is None or two is None:
        return isinstance(joined, (Pointer, Tensor))
    return isinstance(joined, (Tensor, Union)) and joined is not one and joined is not two
