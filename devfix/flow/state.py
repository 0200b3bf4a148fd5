"""The interpreter's memory: environments and heap, cheap to fork and to join."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from devfix.flow.values import Record, Ref, Value, union

__all__ = ["State"]


class State:
    """Environments (names to values) and heap (identity to record).

    ``fork`` copies lazily: an environment is copied when a fork first writes to it; records are immutable.
    ``assumptions`` holds what the current path takes unknown conditions for; ``saved`` the files that it has written.
    """

    def __init__(self) -> None:
        self.heap: dict[int, Record] = {}
        self.envs: dict[int, dict[str, Value]] = {}
        self.assumptions: dict[str, bool] = {}
        self.saved: frozenset[str] = frozenset()
        self._owned: set[int] = set()

    def fork(self) -> State:
        """An independent copy."""
        copy = State()
        copy.heap = dict(self.heap)
        copy.envs = dict(self.envs)
        copy.assumptions = dict(self.assumptions)
        copy.saved = self.saved
        self._owned = set()
        return copy

    def env(self, key: int) -> dict[str, Value]:
        """An environment, for reading."""
        return self.envs[key]

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

    def record(self, ref: Ref) -> Record:
        """What a reference points at."""
        return self.heap[ref.id]

    def update(self, ref: Ref, **changes: Any) -> None:
        """Change attributes of a record."""
        self.heap[ref.id] = replace(self.heap[ref.id], **changes)

    def put(self, ref: Ref, name: str, value: Value) -> None:
        """Set one field of a record."""
        record = self.heap[ref.id]
        self.heap[ref.id] = replace(record, fields={**record.fields, name: value})

    def drop(self, ref: Ref, name: str) -> None:
        """Delete one field of a record."""
        record = self.heap[ref.id]
        fields = {key: value for key, value in record.fields.items() if key != name}
        self.heap[ref.id] = replace(record, fields=fields)

    @staticmethod
    def join(states: list[State]) -> State | None:
        """The state after several paths meet; ``None`` where there is no path."""
        if not states:
            return None
        first, *others = states
        for other in others:
            first = _join(first, other)
        return first


def _join(one: State, two: State) -> State:
    if one is two:
        return one
    joined = State()
    joined.heap = dict(two.heap)
    for key, record in one.heap.items():
        other = two.heap.get(key)
        joined.heap[key] = record if other is None or other is record else _join_records(record, other)
    joined.envs = dict(two.envs)
    for key, env in one.envs.items():
        other_env = two.envs.get(key)
        joined.envs[key] = env if other_env is None or other_env is env else _join_fields(env, other_env)
    joined.saved = one.saved & two.saved
    joined.assumptions = {
        key: value for key, value in one.assumptions.items() if two.assumptions.get(key) is value
    }
    return joined


def _join_fields(one: dict[str, Value], two: dict[str, Value]) -> dict[str, Value]:
    joined = dict(two)
    for name, value in one.items():
        if name in two and two[name] is not value:
            joined[name] = union((value, two[name]))
        else:
            joined[name] = value
    return joined


def _latest(one: Any, two: Any) -> Any:
    if one is None or two is None:
        return one or two
    return one if one.order >= two.order else two


def _join_records(one: Record, two: Record) -> Record:
    rest = one.rest if two.rest is None else two.rest if one.rest is None else union((one.rest, two.rest))
    info = dict(two.info)
    for key, value in one.info:
        if isinstance(value, frozenset) and isinstance(info.get(key), frozenset):
            info[key] = info[key] | value
        else:
            info.setdefault(key, value)
    return replace(
        two,
        fields=_join_fields(one.fields, two.fields),
        rest=rest,
        places=one.places | two.places,
        weights=one.weights or two.weights,
        moved=_latest(one.moved, two.moved),
        attached=_latest(one.attached, two.attached),
        info=tuple(info.items()),
    )
