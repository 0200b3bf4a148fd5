"""The state of a path: environments and heap, cheap to fork and to join."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, cast

from devfix.analysis.domain.heap import Heap
from devfix.analysis.domain.joins import join_entries
from devfix.analysis.domain.objects import HeapObject, Module, join_objects
from devfix.analysis.domain.records import replace
from devfix.analysis.domain.runtime import Runtime
from devfix.analysis.domain.splits import Split, Splits, add_splits
from devfix.analysis.domain.values import NONE, Bound, Function, Partial, Pointer, TupleValue, Union, Value

__all__ = ["RETURNED", "Base", "State", "Unreachable"]

RETURNED = "return"  # a name that no program can bind, for the results of several exits of a function


class Unreachable(Exception):
    """Raised when an expression ends the path (``sys.exit()``)."""


class Base:
    """The definitions of imported modules: the same on every path, evaluated on first use.

    ``journal`` lists the objects and environments that any path has written, in the order of the run, an object that
    is on other devices afterwards with a negative identifier; ``optimizers`` the optimizers that any path has made;
    ``ended`` the environments of calls that have ended, which only the functions defined in them refer to;
    ``computed`` the objects with attributes of computed names; ``handled`` is the work of joins, copies and
    searches, in steps of the budget that are not counted yet.
    """

    def __init__(self) -> None:
        self.handled = 0
        self.ended: set[int] = set()
        self.computed: set[int] = set()
        self.journal: list[int] = []
        self.optimizers: list[int] = []
        self.heap = Heap()
        self.envs: dict[int, dict[str, Value]] = {}

    def absorb(self, state: State) -> None:
        """Add the objects and names that the body of an imported module has created."""
        self.heap.update(state.heap)
        for key, env in state.envs.items():
            self.envs.setdefault(key, {}).update(env)


_NOTHING: AbstractSet[int] = frozenset()  # most branches write nothing: program points are forks


class Branch:
    """The heap objects that a path has written since it forked: a join compares only these."""

    __slots__ = ("depth", "parent", "written")

    def __init__(self, parent: Branch | None) -> None:
        self.parent = parent
        self.depth: int = parent.depth + 1 if parent is not None else 0
        self.written: AbstractSet[int] = _NOTHING

    def note(self, key: int) -> None:
        """Add an object that the path has written."""
        if isinstance(self.written, set):
            self.written.add(key)
        else:
            self.written = {key}

    def note_all(self, keys: set[int]) -> None:
        """Add objects that the path has written."""
        if isinstance(self.written, set):
            self.written |= keys
        elif keys:
            self.written = set(keys)

    def written_since(self, ancestor: Branch) -> set[int]:
        """Return the objects that the path has written since it forked off ``ancestor``."""
        written, branch = set[int](), self
        while branch is not ancestor:
            written |= branch.written
            assert branch.parent is not None
            branch = branch.parent
        return written


_SETTINGS = Runtime()


class State:
    """Environments (names to values) and heap (identifiers to objects) of one path, on top of a shared base.

    ``fork`` copies lazily: the table of environments, an environment or a page of the heap is copied when a fork first
    writes to it; objects are immutable.
    ``assumptions`` holds the assumed outcomes of unknown conditions, ``splits`` the two sides of earlier
    joins, ``saved`` the files that the path may have written, ``runtime`` PyTorch's
    settings: all of them are replaced and never changed, so that forks share them.
    """

    __slots__ = ("_owned", "assumptions", "base", "branch", "envs", "heap", "runtime", "saved", "splits")

    def __init__(self, base: Base) -> None:
        self.base = base
        self.heap = Heap()
        self.envs: Mapping[int, dict[str, Value]] = {}
        self.assumptions: Mapping[str, bool] = {}
        self.splits: Splits = {}
        self.saved: frozenset[str] = frozenset()
        self.runtime = _SETTINGS
        self.branch = Branch(None)
        self._owned: set[int] | None = None  # environments; None while the table of environments is shared

    def fork(self) -> State:
        """Return an independent copy."""
        copy = State.__new__(State)
        copy.base = self.base
        copy.heap = self.heap.copy()
        copy.envs = self.envs
        copy.assumptions = self.assumptions
        copy.splits = self.splits
        copy.saved = self.saved
        copy.runtime = self.runtime
        copy.branch = Branch(self.branch)
        copy._owned = self._owned = None
        return copy

    def assume(self, key: str, holds: bool) -> None:
        """Assume the outcome of a condition."""
        self.assumptions = {**self.assumptions, key: holds}

    def set_runtime(self, **settings: Any) -> None:
        """Change settings of PyTorch on this path."""
        self.runtime = replace(self.runtime, **settings)

    # --- names ------------------------------------------------------------------------------------------------
    def lookup(self, key: int, name: str) -> Value | None:
        """Return the value of a name in one environment; ``None`` if it is not bound."""
        env = self.envs.get(key)
        found = env.get(name) if env is not None else None
        if found is not None:
            return found
        env = self.base.envs.get(key)
        return env.get(name) if env is not None else None

    def names(self, key: int) -> dict[str, Value]:
        """Return all names of an environment."""
        return {**self.base.envs.get(key, {}), **self.envs.get(key, {})}

    def bind(self, key: int, name: str, value: Value) -> None:
        """Bind a name."""
        envs, owned = self._own_envs()
        if key not in owned:
            envs[key] = dict(envs.get(key, ()))
            owned.add(key)
        envs[key][name] = value
        self.base.journal.append(key)

    def unbind(self, key: int, name: str) -> None:
        """Remove a name."""
        if name in self.envs.get(key, ()):
            self.bind(key, name, self.envs[key][name])
            del self.envs[key][name]

    def add_env(self, key: int) -> None:
        """Add an empty environment."""
        self._own_envs()[0][key] = {}

    def drop_env(self, key: int) -> None:
        """Remove an environment that nothing refers to."""
        self._own_envs()[0].pop(key, None)

    def _own_envs(self) -> tuple[dict[int, dict[str, Value]], set[int]]:
        """Return the table of environments, which no other state shares, and those of them that no other shares."""
        if self._owned is None:
            self.envs, self._owned = dict(self.envs), set()
        return cast("dict[int, dict[str, Value]]", self.envs), self._owned

    # --- objects ----------------------------------------------------------------------------------------------
    def at(self, key: int) -> HeapObject:
        """Return the object with this identifier; a neutral one for an object of a path that has ended.

        A generator may yield such an object, before it raises.
        """
        return self.heap.get(key) or self.base.heap.get(key) or _ENDED

    def has(self, key: int) -> bool:
        """Return whether there is an object with this identifier."""
        return key in self.heap or key in self.base.heap

    def heap_objects(self) -> Iterator[tuple[int, HeapObject]]:
        """Yield every object with its identifier."""
        yield from self.heap.items()
        for key, obj in self.base.heap.items():
            if key not in self.heap:
                yield key, obj

    def write(self, key: int, obj: HeapObject) -> None:
        """Replace the object with this identifier."""
        former = self.heap.get(key)
        self.heap[key] = obj
        self.branch.note(key)
        is_moved = former is not None and former.devices != obj.devices
        self.base.journal.append(-key if is_moved else key)

    def heap_object(self, pointer: Pointer) -> HeapObject:
        """Return the object at a pointer."""
        return self.at(pointer.id)

    def update(self, pointer: Pointer, **changes: Any) -> None:
        """Replace attributes of an object (of :class:`HeapObject`, not of the program)."""
        self.write(pointer.id, replace(self.at(pointer.id), **changes))

    def set_mode(self, pointer: Pointer, training: bool | None) -> None:
        """Set whether a module is in training mode: no change that a function's callers have to forget."""
        obj = self.at(pointer.id)
        if isinstance(obj, Module) and obj.training is not training:
            self.heap[pointer.id] = replace(obj, training=training)
            self.branch.note(pointer.id)

    def set_field(self, pointer: Pointer, name: str, value: Value) -> None:
        """Set one field of an object."""
        obj = self.at(pointer.id)
        self.write(pointer.id, replace(obj, fields={**obj.fields, name: value}))

    def delete_field(self, pointer: Pointer, name: str) -> None:
        """Delete one field of an object."""
        obj = self.at(pointer.id)
        fields = {key: value for key, value in obj.fields.items() if key != name}
        self.write(pointer.id, replace(obj, fields=fields))

    @staticmethod
    def join(states: list[State], replaced: bool = False, left: int | None = None) -> State | None:
        """Return the join of the states of several paths; ``None`` if there is none.

        With ``replaced``, a path may have replaced a module by another one, as an exception handler does: an object
        that one path cannot reach any more is taken from the other.  So it is where a function is ``left``: of the
        names in this environment, only what it returns keeps objects.
        """
        if not states:
            return None
        joined, *remaining = states
        for state in remaining:
            joined = _join(joined, state, replaced or left is not None, left)
        return joined

    def reachable(self, keys: Collection[int], past: Collection[int] = (), left: int | None = None) -> set[int]:
        """Return which of these objects are reachable from a name, and not through the objects ``past`` alone.

        Of the names in the environment ``left``, what a function returns is the only one.
        """
        live = [env for key, env in self.envs.items() if key not in self.base.ended and key != left]
        values = [value for env in (*self.base.envs.values(), *live) for value in env.values()]
        if left is not None:
            values.append(self.lookup(left, RETURNED) or NONE)
        return self.reachable_from(values, keys, past)

    def reachable_from(self, values: Collection[Value], keys: Collection[int], past: Collection[int] = ()) -> set[int]:
        """Return which of these objects are reachable from values, and not through the objects ``past`` alone."""
        pending = list(values)
        seen, missing, entered = {*past}, set(keys), set[int]()
        while pending and missing:
            value = pending.pop()
            if isinstance(value, Pointer):
                if value.id not in seen and self.has(value.id):
                    seen.add(value.id)
                    missing.discard(value.id)
                    pending.extend(self.at(value.id).contents)
            elif isinstance(value, (Union, TupleValue)):
                pending.extend(value.alternatives if isinstance(value, Union) else value.items)
            elif isinstance(value, Bound):
                pending += value.receiver, value.function
            elif isinstance(value, Partial):
                pending += value.function, *value.args, *(given for _, given in value.keywords)
            elif isinstance(value, Function):
                for key in self.base.ended.intersection(value.scope) - entered:
                    entered.add(key)
                    pending += self.envs.get(key, {}).values()
        return set(keys) - missing


_ENDED = HeapObject()


def _join(one: State, two: State, replaced: bool = False, left: int | None = None) -> State:
    if one is two:
        return one
    joined = State(one.base)
    joined.branch, written = _written_since(one.branch, two.branch)
    joined.heap = two.heap.copy()
    objects: dict[int, tuple[HeapObject, HeapObject, HeapObject]] = {}
    for key in written:
        mine = one.heap.get(key) or one.base.heap.get(key)
        theirs = two.heap.get(key) or one.base.heap.get(key)
        if mine is not None and theirs is not None and mine is not theirs:
            both = joined.heap[key] = join_objects(mine, theirs)
            objects[key] = mine, theirs, both
        elif mine is not None:
            joined.heap[key] = mine
    one.base.handled += len(objects)
    if replaced:
        moved = {
            key
            for key, (mine, theirs, _) in objects.items()
            if isinstance(mine, Module) and mine.devices != theirs.devices
        }
        reachable = [state.reachable(moved, left=left) if moved else set[int]() for state in (one, two)]
        for key in reachable[0] ^ reachable[1]:
            joined.heap[key] = objects.pop(key)[0 if key in reachable[0] else 1]
    names: dict[tuple[int, str], tuple[Value | None, Value | None, Value | None]] = {}
    joined.envs = envs = {**one.envs, **two.envs}
    for key in one.envs.keys() | two.envs.keys():
        ours, others = one.envs.get(key), two.envs.get(key)
        if ours is others:
            continue
        base = one.base.envs.get(key, {})
        if (ours is not None and others is not None) or base:
            env = envs[key] = join_entries(ours or {}, others or {}, base)
            for name, value in env.items():
                sides = (ours or base).get(name), (others or base).get(name)
                if sides[0] is not sides[1]:
                    names[key, name] = *sides, value
    joined.saved = one.saved | two.saved
    joined.runtime = one.runtime.join(two.runtime)
    joined.assumptions = {key: value for key, value in one.assumptions.items() if two.assumptions.get(key) is value}
    add_splits(joined, one, two, Split(names, objects))
    return joined


def _written_since(one: Branch, two: Branch) -> tuple[Branch, set[int]]:
    """Return the common ancestor of two branches, and the objects that either has written since."""
    written: set[int] = set()
    while one is not two:
        if one.depth >= two.depth:
            written |= one.written
            assert one.parent is not None
            one = one.parent
        else:
            written |= two.written
            assert two.parent is not None
            two = two.parent
    written |= one.written  # the common ancestor may be one of the two
    one.note_all(written)
    return one, written
