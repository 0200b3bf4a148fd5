"""Facts about each conflicting value, one per line: its creation, moves, module and last use."""

from __future__ import annotations

from dataclasses import dataclass

from devfix.trace.diagnosis.blame import events_since, is_in_module, is_part, origin_of
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.failure_trace import FailureTrace, ModuleEvent, Owner, Position, Value, ValueEvent
from devfix.trace.names import device_noun, expression, name_of

__all__ = ["Fact", "ValueDescription", "describe_values"]

_MAX_ALSO_MISPLACED = 4


@dataclass(frozen=True)
class Fact:
    """One line about a value: the kind of fact, its position, and code or a remark."""

    kind: str
    position: Position | None
    text: str

    @property
    def where(self) -> str:
        """The position as text; empty if there is none."""
        return str(self.position or "")


@dataclass(frozen=True)
class ValueDescription:
    """A value with its facts.

    Attributes:
        name: its name in the failing code.
        value: the value.
        facts: the facts, in order.
        is_misplaced: whether it is the misplaced value.
        also_misplaced: names of other operands on the same wrong device.

    """

    name: str
    value: Value
    facts: tuple[Fact, ...]
    is_misplaced: bool
    also_misplaced: tuple[str, ...] = ()


def describe_values(diagnosis: Diagnosis) -> tuple[ValueDescription, ...]:
    """Return the misplaced value and, if there is one, the operand that it conflicts with."""
    failure, misplaced, peer = diagnosis.failure, diagnosis.misplaced, diagnosis.peer
    others = [value for value in failure.values if value is not misplaced and value.device == misplaced.device]
    names = [name_of(each, events_since(each, origin_of(each))) for each in others if peer and each.shape]
    found = [_describe_misplaced(diagnosis, tuple(dict.fromkeys(names))[:_MAX_ALSO_MISPLACED])]
    return (*found, *([_describe_peer(peer)] if peer else []))


def _describe_misplaced(diagnosis: Diagnosis, also_misplaced: tuple[str, ...]) -> ValueDescription:
    value, origin = diagnosis.misplaced, diagnosis.origin
    events = events_since(value, origin)
    facts = [*_origin_facts(value, origin), *_module_facts(value, events)]
    if not any(map(is_in_module, events)):
        facts += _last_use(diagnosis.failure, value, facts)
    return ValueDescription(diagnosis.name, value, tuple(facts), is_misplaced=True, also_misplaced=also_misplaced)


def _describe_peer(value: Value) -> ValueDescription:
    """Return the facts that led to the value's device, without the parameters that it was computed with."""
    history = value.device_history()
    if not history or is_part(value):
        origin = origin_of(value)
        events = events_since(value, origin)
        facts = [*_origin_facts(value, origin), *_module_facts(value, events)]
        return ValueDescription(name_of(value, events), value, tuple(facts), is_misplaced=False)
    data = [event for event in history if event.kind in ("moved", "created", "loaded") and not is_in_module(event)]
    facts = _origin_facts(value, data[0]) if data else []
    if value.last is not None and value.last.kind == "computed":
        facts.append(_fact("computed", value.last))
    return ValueDescription(name_of(value), value, tuple(facts), is_misplaced=False)


# --- origin ---------------------------------------------------------------------------------------------------------
def _origin_facts(value: Value, origin: ValueEvent | None) -> list[Fact]:
    if origin is None:
        return [Fact("created", None, "not observed: in another process, or outside of PyTorch")]
    if origin.kind != "moved":
        return [_fact(_fact_kind(origin), origin), *_copy_facts(origin)]
    source = _source_of_move(value, origin)
    found = [] if source is None or source.position == origin.position else [_fact(_fact_kind(source), source)]
    return [*found, _fact("moved", origin)]


def _source_of_move(value: Value, moved: ValueEvent) -> ValueEvent | None:
    """Return the event that produced the source of a transfer, through chained transfers."""
    by_index = {each.index: each for each in value.history}
    event = next((by_index[index] for index in moved.predecessors if index in by_index), None)
    while event is not None and event.kind == "moved":
        event = next((by_index[index] for index in event.predecessors if index in by_index), None)
    return event


def _fact_kind(event: ValueEvent) -> str:
    if event.from_loader:
        return "loader"
    return event.kind if event.kind in ("created", "loaded", "computed") else "moved"


def _fact(kind: str, event: ValueEvent) -> Fact:
    parts = [expression(event.position) if event.position else event.operation]
    if event.package is not None:
        parts.append(f"in {event.package}, {event.package.where}")
    if kind == "moved":
        parts.append(f"to {device_noun(event.device)}")
    return Fact(kind, event.position, "  ".join(parts))


def _copy_facts(origin: ValueEvent) -> list[Fact]:
    copy = origin.copy
    if copy is None or copy.by_module or not copy.stack:
        return []
    text = f"{expression(copy.stack[0])}  to {device_noun(copy.device)}, another tensor"
    return [Fact("copied", copy.stack[0], text)]


# --- modules --------------------------------------------------------------------------------------------------------
def _module_facts(value: Value, events: tuple[ValueEvent, ...]) -> list[Fact]:
    owner = value.owner or next((event.owner for event in reversed(events) if event.owner), None)
    if owner is None:
        return []
    facts = [Fact("part of", None, _owner_path(owner))]
    for event_kind, fact_kind in (("attached", "attached"), ("moved", "module")):
        matching = (event for event in owner.all_events if event.kind == event_kind)
        last = max(matching, key=lambda event: event.index, default=None)
        if last is not None and last.stack:
            facts.append(Fact(fact_kind, last.stack[0], _module_event_text(last)))
        elif event_kind == "moved":
            facts.append(Fact(fact_kind, None, "never moved"))
    return facts


def _owner_path(owner: Owner) -> str:
    kind = "plain attribute" if owner.kind == "attribute" else owner.kind
    if not owner.enclosing:
        return f"{owner.type}: {kind} {owner.attribute}"
    outermost = owner.enclosing[-1]
    return f"{outermost.type}: {kind} {outermost.path}.{owner.attribute} ({owner.type})"


def _module_event_text(event: ModuleEvent) -> str:
    if event.kind == "moved":
        return f"{expression(event.stack[0])}  last moved, to {device_noun(event.device or 'cpu')}"
    return f"{expression(event.stack[0])}  to {event.parent}"


# --- last use -------------------------------------------------------------------------------------------------------
def _last_use(failure: FailureTrace, value: Value, known: list[Fact]) -> list[Fact]:
    """Return the last line that passed or assigned the value before the failing call, unless a fact has that line."""
    last = _passed_at(failure, value) or _assigned_at(failure, value)
    if last is None or any(fact.where == str(last) for fact in known):
        return []
    return [Fact("last", last, f"{expression(last)}  the last line that could move it")]


def _passed_at(failure: FailureTrace, value: Value) -> Position | None:
    """Return the call in the nearest frame above the failing one that has a name for the value."""
    frames = sorted(name.frame for name in value.names if name.frame > 0)
    return failure.frames[frames[0]] if frames and frames[0] < len(failure.frames) else None


def _assigned_at(failure: FailureTrace, value: Value) -> Position | None:
    last = value.last.position if value.last else None
    return last if last is not None and str(last) != str(failure.where) else None
