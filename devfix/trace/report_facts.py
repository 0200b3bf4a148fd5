"""What there is to say of each value that met, line by line: born, moved, passed on, part of which module."""

from __future__ import annotations

from dataclasses import dataclass

from devfix.trace.diagnosis.blame import birth, is_in_module, is_part, line_from
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.names import expression, name_of, place
from devfix.trace.story import Happening, ModuleHappening, Owner, Position, Story, Value

__all__ = ["Fact", "Told", "told_values"]

_MOST_OTHERS = 4


@dataclass(frozen=True)
class Fact:
    """One line: a word, where it was, and the code or a remark."""

    kind: str
    where: str
    text: str


@dataclass(frozen=True)
class Told:
    """A value with its facts; ``culprit`` is the one that is out of place, ``with_it`` what else is."""

    name: str
    value: Value
    facts: tuple[Fact, ...]
    culprit: bool
    with_it: tuple[str, ...] = ()


def told_values(diagnosis: Diagnosis) -> tuple[Told, ...]:
    """The culprit, and its peer."""
    story, culprit, peer = diagnosis.story, diagnosis.culprit, diagnosis.peer
    others = [value for value in story.values if value is not culprit and value.device == culprit.device]
    along = dict.fromkeys(name_of(value, line_from(value, birth(value))) for value in others if peer and value.shape)
    told = [_culprit(diagnosis, tuple(along)[:_MOST_OTHERS])]
    return (*told, *([_peer(story, peer)] if peer else []))


def _culprit(diagnosis: Diagnosis, along: tuple[str, ...]) -> Told:
    value, born = diagnosis.culprit, diagnosis.born
    line = line_from(value, born)
    facts = [*_origin(value, born), *_module(value, line)]
    if not any(map(is_in_module, line)):
        facts += _last_chance(diagnosis.story, value, facts)
    return Told(diagnosis.name, value, tuple(facts), True, along)


def _peer(story: Story, value: Value) -> Told:
    """What it met: how it came to its device, without the parameters that it was computed with."""
    strand = value.strand()
    if not strand or is_part(value):
        born = birth(value)
        line = line_from(value, born)
        return Told(name_of(value, line), value, (*_origin(value, born), *_module(value, line)), False)
    data = [event for event in strand if event.kind in ("moved", "created", "loaded") and not is_in_module(event)]
    facts = _origin(value, data[0]) if data else []
    if value.last is not None and value.last.kind == "computed":
        facts.append(_fact("computed", value.last))
    return Told(name_of(value), value, tuple(facts), False)


# --- where it comes from --------------------------------------------------------------------------------------------
def _origin(value: Value, born: Happening | None) -> list[Fact]:
    if born is None:
        return [Fact("born", "", "not seen: it came from outside of this process, or of PyTorch")]
    if born.kind != "moved":
        return [_fact(_word(born), born), *_copies(born)]
    first = _before(value, born)
    told = [] if first is None or first.position == born.position else [_fact(_word(first), first)]
    return [*told, _fact("moved", born)]


def _before(value: Value, moved: Happening) -> Happening | None:
    """What a transfer took: something that was computed, else what was made first."""
    by_index = {each.index: each for each in value.history}
    event = next((by_index[index] for index in moved.before if index in by_index), None)
    while event is not None and event.kind == "moved":
        event = next((by_index[index] for index in event.before if index in by_index), None)
    return event


def _word(event: Happening) -> str:
    if event.loader:
        return "loader"
    return {"created": "born", "loaded": "loaded", "computed": "computed"}.get(event.kind, "moved")


def _fact(word: str, event: Happening) -> Fact:
    code = expression(event.position) if event.position else event.operation
    parts = [code]
    if event.package is not None:
        parts.append(f"in {event.package}, {event.package.where}")
    if word == "moved":
        parts.append(f"to {place(event.device)}")
    return Fact(word, str(event.position or ""), "  ".join(parts))


def _copies(born: Happening) -> list[Fact]:
    copy = born.copy
    if copy is None or copy.module or not copy.chain:
        return []
    return [Fact("copied", str(copy.chain[0]), f"{expression(copy.chain[0])}  to {place(copy.device)}, another tensor")]


# --- modules --------------------------------------------------------------------------------------------------------
def _module(value: Value, line: tuple[Happening, ...]) -> list[Fact]:
    owner = value.owner or next((event.owner for event in reversed(line) if event.owner), None)
    if owner is None:
        return []
    events = [event for events in (owner.events, *(each.events for each in owner.above)) for event in events]
    facts = [Fact("part of", "", _path(owner))]
    for kind, word in (("attached", "attached"), ("moved", "module")):
        last = max((event for event in events if event.kind == kind), key=lambda event: event.index, default=None)
        if last is not None and last.chain:
            facts.append(Fact(word, str(last.chain[0]), _module_text(last)))
        elif kind == "moved":
            facts.append(Fact(word, "", "never moved"))
    return facts


def _path(owner: Owner) -> str:
    kind = "plain attribute" if owner.kind == "attribute" else owner.kind
    if not owner.above:
        return f"{owner.type}: {kind} {owner.attribute}"
    outermost = owner.above[-1]
    return f"{outermost.type}: {kind} {outermost.path}.{owner.attribute} ({owner.type})"


def _module_text(event: ModuleHappening) -> str:
    if event.kind == "moved":
        return f"{expression(event.chain[0])}  last moved, to {place(event.device or 'cpu')}"
    return f"{expression(event.chain[0])}  to {event.parent}"


# --- the last place where it could have been moved -------------------------------------------------------------------
def _last_chance(story: Story, value: Value, known: list[Fact]) -> list[Fact]:
    """Where the value was bound or passed last, before the call that failed; nothing where that is told already."""
    last = _passed(story, value) or _bound(story, value)
    if last is None or any(fact.where == str(last) for fact in known):
        return []
    return [Fact("last", str(last), f"{expression(last)}  the last line where it could have been moved")]


def _passed(story: Story, value: Value) -> Position | None:
    """The call of the nearest frame above the failing one that knows the value."""
    known = sorted(name.frame for name in value.names if name.frame > 0)
    return story.frames[known[0]] if known and known[0] < len(story.frames) else None


def _bound(story: Story, value: Value) -> Position | None:
    last = value.last.position if value.last else None
    return last if last is not None and str(last) != str(story.where) else None
