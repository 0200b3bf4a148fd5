"""Training invariants besides the losses: the parameters with a gradient, and the optimizers' settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from devfix.verify.records import Run, Steps

__all__ = ["describe_gradient_change", "describe_recipe_change", "format_shapes"]

_Groups = tuple[Mapping[str, Any], ...]


def format_shapes(shapes: Sequence[tuple[int, ...]]) -> str:
    """Return shapes as text, such as ``10×784, 10``."""
    return ", ".join("×".join(map(str, shape)) or "a scalar" for shape in shapes)


def describe_gradient_change(run: Run, reference: Run) -> str | None:
    """Return how the parameters with a gradient differ from the reference's; None if they do not."""
    more, fewer = Counter(run.gradients), Counter(reference.gradients)
    for adverb, shapes in (("now", more - fewer), ("no longer", fewer - more)):
        if shapes:
            have = "parameter {} has" if shapes.total() == 1 else "parameters {} have"
            return f"{shapes.total()} {have.format(adverb)} a gradient ({format_shapes(list(shapes.elements()))})"
    return None


def describe_recipe_change(run: Run, reference: Run) -> str | None:
    """Return how the steps of optimizers and schedulers differ from the reference's; None if they do not.

    Another number of parameter groups is no difference: omitted parameters may be added as one more group with the
    settings of the others.
    """
    same_groups = True
    for number, ours, theirs in _pairs(run.recipe, reference.recipe):
        if ours is None or theirs is None:
            extra = ours or theirs
            name = extra.name if extra else ""
            return f"{name} {'is called' if _is_clipping(name) else 'steps'} {'more' if ours else 'fewer'} times"
        if ours.name != theirs.name:
            return f"there is {_describe_kind(ours.name)} where the reference has {_describe_kind(theirs.name)}"
        same_groups = same_groups and len(ours.groups) == len(theirs.groups)
        changed = _describe_changed_settings(ours.groups, theirs.groups)
        if changed and _is_clipping(ours.name):
            return f"call {number} of {ours.name} has {changed}"
        if changed:
            return f"step {number} of the optimizers and schedulers ({ours.name}) has {changed}"
    if same_groups and run.rest_of_recipe != reference.rest_of_recipe:
        return "the settings of late optimizer or scheduler steps differ"
    return None


def _is_clipping(name: str) -> bool:
    return name.startswith("clip_grad")


def _describe_kind(name: str) -> str:
    return f"a call of {name}" if _is_clipping(name) else f"a step of {name}"


def _pairs(one: Sequence[Steps], other: Sequence[Steps]) -> Iterator[tuple[int, Steps | None, Steps | None]]:
    """Yield the steps of both at each change or end of one of them.

    The number, from 1, counts clipping and steps apart.
    """
    numbers = Counter[bool]()
    rest = [iter(one), iter(other)]
    now: list[Steps | None] = [next(each, None) for each in rest]
    while now[0] is not None or now[1] is not None:
        current = now[0] or now[1]
        kind = current is not None and _is_clipping(current.name)
        yield numbers[kind] + 1, now[0], now[1]
        done = min(each.times for each in now if each is not None)
        numbers[kind] += done
        for side, each in enumerate(now):
            if each is not None:
                now[side] = each._replace(times=each.times - done) if each.times > done else next(rest[side], None)


def _describe_changed_settings(ours: _Groups, theirs: _Groups) -> str | None:
    if len(ours) == len(theirs):
        for one, other in zip(ours, theirs):
            if _settings(one) != _settings(other):
                return _first_changed_settings(one, other)
        return _describe_regrouping(ours, theirs)
    known = [_settings(group) for group in theirs]
    ours = tuple(_settings(group) for group in ours)
    added = next((group for group in ours if group not in known), None)
    if added is not None:
        return _first_changed_settings(added, known[0]) if known else "settings instead of none"
    lost = next((group for group in known if group not in ours), None)
    return None if lost is None else f"no group with {_format_settings(lost)} any more"


def _settings(group: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in group.items() if name != "params"}


def _describe_regrouping(ours: _Groups, theirs: _Groups) -> str | None:
    """Return a description if parameters changed to a group with other settings, judged by their shapes."""
    if {group["params"] for group in ours} != {group["params"] for group in theirs}:
        return None
    settings = Counter((group["params"], str(_settings(group))) for group in ours)
    settings.subtract(Counter((group["params"], str(_settings(group))) for group in theirs))
    return "parameters that moved to a group with other settings" if any(settings.values()) else None


def _first_changed_settings(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    names = [name for name in {**other, **_settings(one)} if name != "params" and one.get(name) != other.get(name)]
    return ", ".join(f"{name}={one.get(name)!r} instead of {other.get(name)!r}" for name in names[:2])


def _format_settings(group: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in list(group.items())[:2])
