"""Stability of loops: whether a round of a loop's body has brought anything new.

Every round makes its objects anew.  A state brings nothing new if each of its values is one that the earlier state
has, up to the identifiers of these objects.  Only what the rounds have written is compared: environments that were
copied, objects in :attr:`Branch.written`.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields
from typing import Any

from devfix.analysis.domain.joins import EITHER, ENTRIES, MADE_UNION, OPTIONS, UNION
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.objects import Container, ways_to_join
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import (
    Bound,
    Builtin,
    ClassValue,
    Function,
    IterableOf,
    Origin,
    Parameters,
    Partial,
    Pointer,
    Super,
    Tensor,
    TupleValue,
    Union,
    Unknown,
    Value,
    alternatives,
    join,
)
from devfix.syntax.tree import position

__all__ = ["brings_nothing_new", "widen"]

_COMPOSED = (Bound, Builtin, ClassValue, Function, IterableOf, Parameters, Partial, Super, Tensor, TupleValue)
_PARTS: dict[type, tuple[str, ...]] = {kind: tuple(part.name for part in fields(kind)) for kind in _COMPOSED}
_OBJECT_ORIGINS = ("parameter", "buffer", "kept")  # their site is an object
_IDENTIFIER = re.compile(r"#\d+")
_MADE_IN_LOOP = -1


def brings_nothing_new(state: State, earlier: State, start: int, overwritten: Mapping[int, Collection[str]]) -> bool:
    """Return whether a path from ``earlier`` to ``state``, both at the head of a loop, leads to nothing new.

    Args:
        state: the later state.
        earlier: the earlier state.
        start: the latest identifier before the loop; the loop has made objects with higher ones.
        overwritten: per environment, the names that the next round overwrites before it reads them.

    """
    return _Comparison(state, earlier, start, overwritten).holds()


def widen(state: State, earlier: State, start: int) -> None:
    """Widen the names and fields that are new in a state: containers that the loop makes have any number of items."""
    comparison = _Comparison(state, earlier, start, {})
    for key, name, known in list(comparison.new_names()):
        state.bind(key, name, _widened(state, state.envs[key][name], known, start))
    for key in sorted(comparison.written()):
        for name, known in list(comparison.new_fields(key)):
            if name in state.at(key).fields:  # else it is a container, which another name has widened
                state.set_field(Pointer(key), name, _widened(state, state.at(key).fields[name], known, start))


def _widened(state: State, value: Value, known: Value | None, start: int) -> Value:
    options = alternatives(value)
    for option in options:
        if isinstance(option, Pointer) and option.id > start and isinstance(state.at(option.id), Container):
            contents = state.at(option.id).contents
            state.update(option, fields={}, default_item=join(contents) if contents else None)
    if any(isinstance(option, (Pointer, TupleValue)) for option in options):
        return join(IterableOf(join(each.items)) if isinstance(each, TupleValue) else each for each in options)
    return join((known, value)) if known is not None else value


class _Comparison:
    """The search for objects of the earlier state that those of the later one can stand for."""

    def __init__(self, state: State, earlier: State, start: int, overwritten: Mapping[int, Collection[str]]) -> None:
        self._state = state
        self._earlier = earlier
        self._start = start
        self._overwritten = overwritten
        self._counterparts: dict[int, int] = {}
        self._refuted: set[tuple[int, int]] = set()

    def holds(self) -> bool:
        """Return whether the state brings nothing new."""
        state, earlier = self._state, self._earlier
        return (
            earlier.runtime.join(state.runtime) == earlier.runtime
            and state.saved <= earlier.saved
            and earlier.assumptions.items() <= state.assumptions.items()
            and next(self.new_names(), None) is None
            and all(self._is_known_object(key, key) for key in self.written())
        )

    def new_names(self) -> Iterator[tuple[int, str, Value | None]]:
        """Yield environment and name of each new value, and the earlier value."""
        for key, names in self._state.envs.items():
            known = self._earlier.envs.get(key)
            if known is None or known is names:
                continue  # a call has made it, or nothing has written it
            base = self._earlier.base.envs.get(key, {})
            overwritten = self._overwritten.get(key, ())
            for name, value in names.items():
                old = known.get(name, base.get(name))
                if name not in overwritten and not self._is_known(value, old):
                    yield key, name, old

    def written(self) -> Iterator[int]:
        """Yield the objects that the path has written and that new names do not stand for."""
        for key in self._state.branch.written_since(self._earlier.branch):
            if key not in self._counterparts and self._earlier.has(key):
                yield key

    def new_fields(self, key: int) -> Iterator[tuple[str, Value | None]]:
        """Yield each field of an object with a new value, and its earlier value."""
        known = self._earlier.at(key).fields
        for name, value in self._state.at(key).fields.items():
            if not self._is_known(value, known.get(name)):
                yield name, known.get(name)

    def _is_known(self, value: Value | None, known: Value | None) -> bool:
        """Return whether every alternative of a value is one that is known."""
        if value is known or value is None:
            return True
        if known is None:
            return False
        options = alternatives(known)
        return all(any(self._is_same(option, other) for other in options) for option in alternatives(value))

    def _is_same(self, one: Any, two: Any) -> bool:
        """Return whether values, or facts about objects, are the same."""
        if one is two:
            return True
        if type(one) is not type(two):
            return False
        match one:
            case Pointer(key):
                return bool(key == two.id) or self._is_counterpart(key, two.id)
            case Union():
                return self._is_known(one, two)
            case Unknown(symbol):
                return _IDENTIFIER.sub("", symbol) == _IDENTIFIER.sub("", two.symbol)
            case Origin(kind) if kind in _OBJECT_ORIGINS:
                mine, theirs = ((each.kind, each.site_id, each.path) for each in (one, two))
                return bool(self._anonymous(mine) == self._anonymous(theirs))
            case ProgramPoint():
                return one.node is two.node and one.call_path == two.call_path
            case ast.ClassDef():  # the class of a named tuple is made at each call
                return (one.name, position(one)) == (two.name, position(two))
            case tuple():
                return len(one) == len(two) and all(map(self._is_same, one, two))
            case int() | frozenset():
                return bool(self._anonymous(one) == self._anonymous(two))
        if type(one) in _PARTS:
            return all(self._is_same(getattr(one, name), getattr(two, name)) for name in _PARTS[type(one)])
        return bool(one == two)

    def _is_counterpart(self, key: int, other: int) -> bool:
        """Return whether an object that the loop has made can be one that an earlier round has made.

        A pair is refuted once: it might hold with other counterparts of its parts, but to try these takes exponential
        time, and a round that is taken to bring something new only costs another one.
        """
        if key in self._counterparts or key <= self._start or other <= self._start:
            return self._counterparts.get(key) == other
        if (key, other) in self._refuted:
            return False
        found = dict(self._counterparts)
        if self._is_known_object(key, other):
            return True
        self._counterparts = found
        self._refuted.add((key, other))
        return False

    def _is_known_object(self, key: int, other: int) -> bool:
        self._counterparts[key] = other
        obj, known = self._state.at(key), self._earlier.at(other)
        if obj is known or type(obj) is not type(known):
            return obj is known
        return all(
            self._is_known_fact(way, getattr(obj, name), getattr(known, name)) for name, way in ways_to_join(type(obj))
        )

    def _is_known_fact(self, way: Any, fact: Any, known: Any) -> bool:
        """Return whether the join of two facts about objects, in the declared way, is the known one."""
        if fact is known:
            return True
        if way is ENTRIES["join"]:
            return all(self._is_known(value, known.get(name)) for name, value in fact.items())
        if way is OPTIONS["join"]:
            return self._is_known(fact, known)
        if way in (UNION["join"], MADE_UNION["join"]):
            return bool(self._anonymous(fact) <= self._anonymous(known))
        if way is EITHER["join"]:
            return bool(fact <= known)
        return self._is_same(fact, known)

    def _anonymous(self, fact: Any) -> Any:
        """Return a fact without the identifiers of objects that the loop has made."""
        if isinstance(fact, frozenset):
            return Counter(map(self._anonymous, fact))
        if isinstance(fact, tuple):
            return tuple(map(self._anonymous, fact))
        if isinstance(fact, Pointer):
            return Pointer(self._anonymous(fact.id))
        return _MADE_IN_LOOP if isinstance(fact, int) and fact > self._start else fact
