"""Summaries of functions: after a number of contexts, a call has the joined result of the earlier ones.

So the cost of a program is bounded per function, and no program is left in part for its size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from itertools import chain
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import Module, module_at
from devfix.analysis.domain.records import dataclass, replace
from devfix.analysis.domain.values import (
    MOST_ORIGINS,
    UNKNOWN,
    WIDENING_LIMIT,
    Bound,
    Builtin,
    Const,
    Device,
    DeviceValue,
    IterableOf,
    Origin,
    Parameters,
    Partial,
    Pointer,
    Super,
    Tensor,
    TupleValue,
    Union,
    Value,
    alternatives,
    join,
)

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter
    from devfix.analysis.domain.state import State

__all__ = ["Summary", "pointers_in"]

MOST_STEPS = 1_500  # of a function whose every context is followed
MOST_CONTEXTS = 2  # of a larger one, with arguments in the same places
MOST_KINDS = 8  # of contexts of a larger one that are told apart by arguments that are nowhere: flags, names
MOST_DEPTH = 3  # levels of containers that are told apart
MOST_PLACED = 32  # objects of one call whose places count
_PER_STEP = 4  # modules that are searched in the time of a step


@dataclass(eq=False)
class Summary:
    """What the calls of one function have done so far.

    Attributes:
        steps: steps that they took, with those of the functions that they called.
        contexts: number of calls that were followed, by the places of their arguments.
        results: their results, an unknown value for one that the call has created.
        changes: a call has changed objects that existed before it.
        moves: a call has moved some of them.

    """

    steps: int = 0
    contexts: Counter[object] = field(default_factory=Counter)
    results: dict[object, list[_Result]] = field(default_factory=dict)
    changes: bool = False
    moves: bool = False

    @property
    def is_large(self) -> bool:
        """Return whether the function has taken many steps."""
        return self.steps >= MOST_STEPS

    def is_settled(self, places: object) -> bool:
        """Return whether another context with arguments in these places is not worth its cost."""
        return self.is_large and self.contexts[places] >= MOST_CONTEXTS

    def places(self, interp: Interpreter, arguments: Sequence[Value]) -> object:
        """Return where the arguments of a call are, if the function is large."""
        if not self.is_large:
            return None
        places = _Places(interp.now, constants=len(self.contexts) <= MOST_KINDS)
        found = [places.of(argument) for argument in arguments]
        return tuple(found) if places.constants else tuple([place for place in found if place is not None])

    @contextmanager
    def context(self, interp: Interpreter, places: object, start: int) -> Iterator[None]:
        """Count a call that is followed in the body; what it creates has identifiers from ``start`` on."""
        self.contexts[places] += 1
        steps, written = interp.steps, len(interp.base.journal)
        try:
            yield
        finally:
            self.steps += interp.steps - steps
            self._note_changes([key for key in interp.base.journal[written:] if abs(key) < start])

    def note_result(self, places: object, result: Value, arguments: Sequence[Value], start: int) -> None:
        """Note the result of a call; objects with identifiers above ``start`` are its own."""
        if places is None:
            return  # every context is still followed
        known = self.results.setdefault(places, [])
        if len(known) < WIDENING_LIMIT:
            kept = _noted(result, arguments, start)
            if kept not in known:
                known.append(kept)

    def _note_changes(self, keys: Sequence[int]) -> None:
        self.changes = self.changes or bool(keys)
        self.moves = self.moves or any(key < 0 for key in keys)

    def apply(self, interp: Interpreter, places: object, arguments: Sequence[Value]) -> Value:
        """Return the result of a call that is not followed; what it may change is unknown afterwards."""
        if self.moves:
            interp.escape(arguments)
        elif self.changes:  # a module may have other attributes now; its weights are where they were
            interp.escape(argument for argument in arguments if module_at(interp, argument) is None)
        return join(result.of(arguments) for result in self.results.get(places, ()))


@dataclass(frozen=True)
class _Result:
    """The result of a call.

    Attributes:
        value: the result.
        position: the position of the argument that it is.
        origins: where the tensors of each argument come from; the result of another call comes from its arguments.

    """

    value: Value
    position: int | None = None
    origins: tuple[tuple[Origin, ...], ...] = ()

    def of(self, arguments: Sequence[Value]) -> Value:
        """Return the result of a call with other arguments in the same places."""
        if self.position is not None:
            return arguments[self.position]
        renamed: dict[Origin, dict[Origin, None]] = {}
        for known, argument in zip(self.origins, arguments, strict=False):
            for origin in known:
                renamed.setdefault(origin, {}).update(dict.fromkeys(_origins(argument)))
        return _renamed(self.value, renamed) if renamed else self.value


def _noted(result: Value, arguments: Sequence[Value], start: int) -> _Result:
    if any(pointer.id > start for pointer in pointers_in([result])):
        return _Result(UNKNOWN)
    if isinstance(result, (Tensor, Pointer)) and result in arguments:
        return _Result(UNKNOWN, arguments.index(result))
    return _Result(result, None, tuple(map(_origins, arguments)) if _origins(result) else ())


def _origins(value: Value) -> tuple[Origin, ...]:
    """Return the origins of the tensors in a value."""
    match value:
        case Tensor():
            return value.origins
        case Union(items) | TupleValue(items):
            return tuple(dict.fromkeys(origin for item in items for origin in _origins(item)))
    return ()


def _renamed(value: Value, renamed: Mapping[Origin, Iterable[Origin]]) -> Value:
    """Return a value with other origins of its tensors."""
    match value:
        case Tensor():
            origins = dict.fromkeys(new for origin in value.origins for new in renamed.get(origin, (origin,)))
            return replace(value, origins=tuple(origins)[: max(MOST_ORIGINS, len(value.origins))])
        case Union(items):
            return join(_renamed(item, renamed) for item in items)
        case TupleValue(items):
            return TupleValue(tuple(_renamed(item, renamed) for item in items))
    return value


@dataclass
class _Places:
    """Where values are: a key for contexts that need not be told apart.

    Attributes:
        state: the state of the call.
        constants: values that are nowhere are told apart, too, by type, and flags and strings by value.
        known: places of objects, by identifier and depth: some hold each other.

    """

    state: State
    constants: bool
    known: dict[tuple[int, int], object] = field(default_factory=dict)

    def of(self, value: Value, depth: int = 0) -> object:
        """Return where a value is; ``None`` if it is nowhere, and constants are not told apart."""
        if isinstance(value, Pointer):
            key = value.id, depth
            if key not in self.known and len(self.known) >= MOST_PLACED:
                return Pointer
            if key not in self.known:
                self.known[key] = self._of_object(value, depth)
            return self.known[key]
        if isinstance(value, (Tensor, DeviceValue)):
            return type(value), value.device
        if isinstance(value, Union):
            return self._of_all(value.alternatives, frozenset, depth)
        if isinstance(value, TupleValue) and depth < MOST_DEPTH:
            return self._of_all(value.items, tuple, depth + 1)
        if not self.constants:
            return None
        if isinstance(value, Const) and (value.value is None or isinstance(value.value, (bool, str))):
            return repr(value.value)
        return type(value)

    def _of_all(self, values: Iterable[Value], kind: Callable[[list[object]], object], depth: int) -> object:
        found = [self.of(value, depth) for value in values]
        return kind(found) if self.constants or found.count(None) < len(found) else None

    def _of_object(self, pointer: Pointer, depth: int) -> object:
        obj = self.state.heap_object(pointer)
        if isinstance(obj, Module):
            return frozenset(_devices_of_weights(self.state, pointer))
        if depth >= MOST_DEPTH:
            return Pointer
        inner = self._of_all(obj.contents, frozenset, depth + 1)
        return (type(obj), obj.devices, inner) if self.constants or obj.devices or inner is not None else None


def _devices_of_weights(state: State, pointer: Pointer) -> set[Device]:
    """Return the devices of the weights in a tree of modules."""
    devices, seen, pending = set[Device](), {pointer.id}, [state.heap_object(pointer)]
    while pending:
        module = pending.pop()
        if isinstance(module, Module):
            if module.weights:
                devices |= module.devices
            for option in chain.from_iterable(map(alternatives, module.contents)):
                if isinstance(option, Pointer) and option.id not in seen:
                    seen.add(option.id)
                    pending.append(state.heap_object(option))
    state.base.handled += len(seen) // _PER_STEP
    return devices


def pointers_in(values: Iterable[Value]) -> Iterator[Pointer]:
    """Yield the pointers in values."""
    pending: list[Value] = list(values)
    while pending:
        match pending.pop():
            case Pointer() as pointer:
                yield pointer
            case Union(items) | TupleValue(items):
                pending.extend(items)
            case Bound(_, inner) | Builtin(inner, _) | IterableOf(inner) | Super(_, inner) | Parameters(inner):
                pending.append(inner)
            case Partial(_, args, keywords):
                pending.extend([*args, *(value for _, value in keywords)])
