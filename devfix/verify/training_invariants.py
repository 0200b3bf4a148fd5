"""What two runs must have in common beside their losses: the parameters that learn, and the optimizers' settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from devfix.verify.records import Run, Steps

__all__ = ["other_gradients", "other_recipe", "shapes_in_words"]

_Groups = tuple[Mapping[str, Any], ...]


def shapes_in_words(shapes: Sequence[tuple[int, ...]]) -> str:
    """Shapes as a reader writes them."""
    return ", ".join("×".join(map(str, shape)) or "a scalar" for shape in shapes)


def other_gradients(run: Run, reference: Run) -> str | None:
    """How the parameters that got a gradient are others than those of the reference; None if they are the same."""
    more, fewer = Counter(run.gradients), Counter(reference.gradients)
    for words, shapes in (("get", more - fewer), ("no longer get", fewer - more)):
        if shapes:
            return f"{shapes.total()} parameters {words} a gradient ({shapes_in_words(list(shapes.elements()))})"
    return None


def other_recipe(run: Run, reference: Run) -> str | None:
    """How optimizers or schedulers step otherwise than those of the reference; None if they do not.

    Another number of parameter groups is none: what is forgotten may be added as one group more, with the settings
    that the others have.
    """
    same_groups = True
    for number, ours, theirs in _pairs(run.recipe, reference.recipe):
        if ours is None or theirs is None:
            extra = ours or theirs
            return f"{extra.name if extra else ''} steps {'more' if ours else 'fewer'} times"
        if ours.name != theirs.name:
            return f"step {number} is one of {ours.name}, and was one of {theirs.name}"
        if ours.groups is not None and theirs.groups is not None:
            same_groups = same_groups and len(ours.groups) == len(theirs.groups)
            changed = _other_settings(ours.groups, theirs.groups)
            if changed:
                return f"step {number} of the optimizers ({ours.name}) has {changed}"
    if same_groups and run.rest_of_recipe != reference.rest_of_recipe:
        return "the settings of late optimizer or scheduler steps are others"
    return None


def _pairs(one: Sequence[Steps], other: Sequence[Steps]) -> Iterator[tuple[int, Steps | None, Steps | None]]:
    """The steps of both where one of them changes or ends, with their number from 1."""
    number = 1
    rest = [iter(one), iter(other)]
    now: list[Steps | None] = [next(each, None) for each in rest]
    while now[0] is not None or now[1] is not None:
        yield number, now[0], now[1]
        done = min(each.times for each in now if each is not None)
        number += done
        for side, each in enumerate(now):
            if each is not None:
                now[side] = each._replace(times=each.times - done) if each.times > done else next(rest[side], None)


def _other_settings(ours: _Groups, theirs: _Groups) -> str | None:
    if len(ours) == len(theirs):
        for one, other in zip(ours, theirs):
            if _settings(one) != _settings(other):
                return _first_other(one, other)
        return _other_places(ours, theirs)
    known = [_settings(group) for group in theirs]
    ours = tuple(_settings(group) for group in ours)
    strange = next((group for group in ours if group not in known), None)
    if strange is not None:
        return _first_other(strange, known[0]) if known else "settings where there were none"
    lost = next((group for group in known if group not in ours), None)
    return None if lost is None else f"no group any more with {_in_words(lost)}"


def _settings(group: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in group.items() if name != "params"}


def _other_places(ours: _Groups, theirs: _Groups) -> str | None:
    """Where parameters have come into a group with other settings, as far as their shapes tell."""
    if {group["params"] for group in ours} != {group["params"] for group in theirs}:
        return None
    settings = Counter((group["params"], str(_settings(group))) for group in ours)
    settings.subtract(Counter((group["params"], str(_settings(group))) for group in theirs))
    return "the parameters of its groups in other places" if any(settings.values()) else None


def _first_other(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    names = [name for name in {**other, **_settings(one)} if name != "params" and one.get(name) != other.get(name)]
    return ", ".join(f"{name}={one.get(name)!r} instead of {other.get(name)!r}" for name in names[:2])


def _in_words(group: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in list(group.items())[:2])
