"""The interpreter's memory: environments and heap, cheap to fork and to join."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from devfix.analysis.domain.values import Bound, HeapObject, Pointer, TupleValue, Union, Value, join

__all__ = ["Base", "State", "Unreachable"]


class Unreachable(Exception):
    """An expression ended the path (``sys.exit()``)."""


class Base:
    """What imported modules define: the same on every path, evaluated when it is first asked for."""

    def __init__(self) -> None:
        self.heap: dict[int, HeapObject] = {}
        self.envs: dict[int, dict[str, Value]] = {}

    def absorb(self, state: State) -> None:
        """Take over what the body of an imported module has made."""
        self.heap.update(state.heap)
        for key, env in state.envs.items():
            self.envs.setdefault(key, {}).update(env)


class Branch:
    """What one path has written since it left the path above: joins look at nothing else."""

    __slots__ = ("above", "depth", "written")

    def __init__(self, above: Branch | None) -> None:
        self.above = above
        self.depth: int = above.depth + 1 if above is not None else 0
        self.written: set[int] = set()


class State:
    """Environments (names to values) and heap (identity to record) of one path, over what all paths share.

    ``fork`` copies lazily: an environment is copied when a fork first writes to it; records are immutable.
    ``assumptions`` holds what the current path takes unknown conditions for; ``saved`` the files that it may
    have written.
    """

    def __init__(self, base: Base) -> None:
        self.base = base
        self.heap: dict[int, HeapObject] = {}
        self.envs: dict[int, dict[str, Value]] = {}
        self.assumptions: dict[str, bool] = {}
        self.saved: frozenset[str] = frozenset()
        self.branch = Branch(None)
        self._owned: set[int] = set()

    def fork(self) -> State:
        """An independent copy."""
        copy = State(self.base)
        copy.heap = dict(self.heap)
        copy.envs = dict(self.envs)
        copy.assumptions = dict(self.assumptions)
        copy.saved = self.saved
        copy.branch = Branch(self.branch)
        self._owned = set()
        return copy

    # --- names ------------------------------------------------------------------------------------------------
    def lookup(self, key: int, name: str) -> Value | None:
        """The value of a name in one environment, ``None`` where it is not bound."""
        env = self.envs.get(key)
        if env is not None and name in env:
            return env[name]
        env = self.base.envs.get(key)
        return env.get(name) if env is not None else None

    def names(self, key: int) -> dict[str, Value]:
        """All names of an environment."""
        return {**self.base.envs.get(key, {}), **self.envs.get(key, {})}

    def bind(self, key: int, name: str, value: Value) -> None:
        """Bind a name."""
        if key not in self._owned:
            self.envs[key] = dict(self.envs.get(key, ()))
            self._owned.add(key)
        self.envs[key][name] = value

    def unbind(self, key: int, name: str) -> None:
        """Forget a name."""
        if name in self.envs.get(key, ()):
            self.bind(key, name, self.envs[key][name])
            del self.envs[key][name]

    # --- objects ----------------------------------------------------------------------------------------------
    def at(self, key: int) -> HeapObject:
        """The record with this identity."""
        obj = self.heap.get(key)
        return obj if obj is not None else self.base.heap[key]

    def has(self, key: int) -> bool:
        """Whether there is a record with this identity."""
        return key in self.heap or key in self.base.heap

    def heap_objects(self) -> Iterator[tuple[int, HeapObject]]:
        """Every record with its identity."""
        yield from self.heap.items()
        for key, obj in self.base.heap.items():
            if key not in self.heap:
                yield key, obj

    def write(self, key: int, obj: HeapObject) -> None:
        """Put a record in its place."""
        self.heap[key] = obj
        self.branch.written.add(key)

    def heap_object(self, ref: Pointer) -> HeapObject:
        """What a reference points at."""
        return self.at(ref.id)

    def update(self, ref: Pointer, **changes: Any) -> None:
        """Change attributes of a record."""
        self.write(ref.id, replace(self.at(ref.id), **changes))

    def set_field(self, ref: Pointer, name: str, value: Value) -> None:
        """Set one field of a record."""
        obj = self.at(ref.id)
        self.write(ref.id, replace(obj, fields={**obj.fields, name: value}))

    def delete_field(self, ref: Pointer, name: str) -> None:
        """Delete one field of a record."""
        obj = self.at(ref.id)
        fields = {key: value for key, value in obj.fields.items() if key != name}
        self.write(ref.id, replace(obj, fields=fields))

    @staticmethod
    def join(states: list[State], replaced: bool = False) -> State | None:
        """The state after several paths meet; ``None`` where there is no path.

        ``replaced``: a path may have let go of a module and made another one, as an exception's handler does.  The
        module is then as the others left it.
        """
        if not states:
            return None
        first, *others = states
        for other in others:
            first = _join(first, other, replaced)
        return first

    def reaches(self, key: int) -> bool:
        """Whether a name leads to an object."""
        envs = (*self.base.envs.values(), *self.envs.values())
        waiting, seen = [value for env in envs for value in env.values()], set[int]()
        while waiting:
            value = waiting.pop()
            if isinstance(value, Pointer):
                if value.id == key:
                    return True
                if value.id not in seen and self.has(value.id):
                    seen.add(value.id)
                    obj = self.at(value.id)
                    waiting.extend(obj.fields.values())
                    waiting.extend([obj.default_item] if obj.default_item is not None else [])
            elif isinstance(value, (Union, TupleValue)):
                waiting.extend(value.alternatives if isinstance(value, Union) else value.items)
            elif isinstance(value, Bound):
                waiting.append(value.receiver)
        return False


def _join(one: State, two: State, replaced: bool = False) -> State:
    if one is two:
        return one
    joined = State(one.base)
    joined.branch, written = _written_since(one.branch, two.branch)
    joined.heap = dict(two.heap)
    for key in written:
        mine = one.heap.get(key) or one.base.heap.get(key)
        theirs = two.heap.get(key) or one.base.heap.get(key)
        if mine is not None and theirs is not None and mine is not theirs:
            if replaced and mine.kind == "module" and mine.devices != theirs.devices:
                held = one.reaches(key), two.reaches(key)
                if held in ((True, False), (False, True)):
                    joined.heap[key] = mine if held[0] else theirs
                    continue
            joined.heap[key] = _join_records(mine, theirs)
        elif mine is not None:
            joined.heap[key] = mine
    joined.envs = {**one.envs, **two.envs}
    for key in one.envs.keys() | two.envs.keys():
        names, others = one.envs.get(key), two.envs.get(key)
        if names is others:
            continue
        base = one.base.envs.get(key, {})
        if (names is not None and others is not None) or base:
            joined.envs[key] = _join_fields(names or {}, others or {}, base)
    joined.saved = one.saved | two.saved
    joined.assumptions = {key: value for key, value in one.assumptions.items() if two.assumptions.get(key) is value}
    return joined


def _written_since(one: Branch, two: Branch) -> tuple[Branch, set[int]]:
    """The branch that two paths have in common, and what either has written since."""
    written: set[int] = set()
    while one is not two:
        if one.depth >= two.depth:
            written |= one.written
            assert one.above is not None
            one = one.above
        else:
            written |= two.written
            assert two.above is not None
            two = two.above
    written |= one.written  # the path above may itself be one of the two
    one.written |= written
    return one, written


def _join_fields(one: dict[str, Value], two: dict[str, Value], base: dict[str, Value]) -> dict[str, Value]:
    joined = {**two, **one}
    for name in joined:
        mine, theirs = one.get(name, base.get(name)), two.get(name, base.get(name))
        if mine is not None and theirs is not None and mine is not theirs:
            joined[name] = join((mine, theirs))
    return joined


def _latest(one: Any, two: Any) -> Any:
    if one is None or two is None:
        return one or two
    return one if one.time >= two.time else two


def _join_records(one: HeapObject, two: HeapObject) -> HeapObject:
    rest = (
        one.default_item
        if two.default_item is None
        else two.default_item
        if one.default_item is None
        else join((one.default_item, two.default_item))
    )
    info = dict(two.info)
    for key, value in one.info:
        if isinstance(value, frozenset) and isinstance(info.get(key), frozenset):
            info[key] = info[key] | value
        else:
            info.setdefault(key, value)
    return replace(
        two,
        fields=_join_fields(one.fields, two.fields, {}),
        default_item=rest,
        devices=one.devices | two.devices,
        weights=one.weights or two.weights,
        last_moved_at=_latest(one.last_moved_at, two.last_moved_at),
        attached_at=_latest(one.attached_at, two.attached_at),
        info=tuple(info.items()),
    )
