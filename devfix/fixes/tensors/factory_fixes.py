"""Tensors that are made on the CPU and meet the accelerator: which belong together, and where each could be moved."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from devfix.analysis import Facts
from devfix.analysis.domain.location import Level, Site
from devfix.analysis.observations import Meeting, Operand
from devfix.fixes.device_expression import device_for
from devfix.fixes.insertion_point import headers, inside_module
from devfix.fixes.modules.parameter_copies import shaped_like_parameter
from devfix.fixes.tensors.companions import beside_companion
from devfix.fixes.tensors.conditional_moves import beside_flagged, under_flag
from devfix.fixes.tensors.misplaced_items import Culprit, made_siblings
from devfix.fixes.tensors.partial_moves import beside_parts
from devfix.fixes.tensors.tensor_creation import Making, drawn_later
from devfix.fixes.vendored_code import foreign_part
from devfix.model import AppendCode, Edit, InsertStatement, Remedy, Where

__all__ = ["Made", "made_on_cpu", "remedies"]

Use = tuple[Meeting, Operand]


@dataclass(frozen=True, eq=False)
class Made:
    """One place that makes a tensor, the moments at which it made one that fails, and where that one fails."""

    key: int
    moments: tuple[Site, ...]
    making: Making
    uses: tuple[Use, ...]

    @property
    def site(self) -> Site:
        """The first of the moments."""
        return self.moments[0]

    @property
    def words(self) -> str:
        """What people call the tensor."""
        return self.making.words

    @property
    def in_a_helper(self) -> bool:
        """Whether another function makes it than those that use it."""
        frames = {level.frame for meeting, _ in self.uses for level in meeting.site.levels}
        return self.site.level.frame not in frames and not isinstance(self.site.level.frame.node, ast.Module)

    def partners(self, level: Level) -> list[str]:
        """What it meets, in the words of the function that ``level`` runs."""
        texts = [
            text
            for meeting, _ in self.uses
            if meeting.site.level.frame.node is level.frame.node
            for text in meeting.partners
        ]
        return list(dict.fromkeys(texts))


# --- what belongs together ------------------------------------------------------------------------------------------
def made_on_cpu(facts: Facts) -> Iterator[list[Made]]:
    """Groups of made tensors, in the order of their making: those of one operand are repaired together."""
    uses: dict[int, list[Use]] = {}
    above: dict[int, int] = {}
    for meeting in facts.meetings:
        for operand in meeting.cpu:
            if any(birth.holder for birth in operand.births):
                continue  # an attribute that nothing moves: another rule names the cause
            keys = [birth.key for birth in operand.births if birth.kind == "made"]
            for key in keys if operand.sure else ():
                uses.setdefault(key, []).append((meeting, operand))
                above[_top(above, key)] = _top(above, keys[0])
    groups: dict[int, list[int]] = {}
    for key in sorted(uses):
        groups.setdefault(_top(above, key), []).append(key)
    for keys in groups.values():
        group = [_made(facts, key, uses[key]) for key in keys]
        if all(made is not None for made in group):
            yield [made for made in group if made is not None]


def _top(above: dict[int, int], key: int) -> int:
    while above.setdefault(key, key) != key:
        key = above[key]
    return key


def _made(facts: Facts, key: int, uses: list[Use]) -> Made | None:
    """What a rule needs to know of one making; ``None`` where another rule names the cause."""
    distinct = {(meeting.site.key, operand.text): (meeting, operand) for meeting, operand in uses}
    meeting, operand = uses[0]
    site = _moment(facts, key, meeting)
    if not isinstance(site.node, ast.Call) or foreign_part(site.tree.path):
        return None
    kept = key not in facts.sized and _kept_by_constructor(site, meeting)
    if kept or made_siblings(facts, Culprit(key, (), (meeting,), (operand.text,))):
        return None
    moments = tuple(dict.fromkeys(_moment(facts, key, meeting) for meeting, _ in uses))
    return Made(key, moments, Making(site.tree, site.node), tuple(distinct.values()))


def _moment(facts: Facts, key: int, meeting: Meeting) -> Site:
    """The moment at which the value that fails was made: the last before it, in the same activation if there is one."""
    visits = facts.visits.get(key) or [facts.sources[key].site]
    earlier = [site for site in visits if site.order < meeting.site.order] or visits
    frames = {level.frame for level in meeting.site.levels}
    return next((site for site in reversed(earlier) if site.level.frame in frames), earlier[-1])


def _kept_by_constructor(site: Site, meeting: Meeting) -> bool:
    """Whether an object keeps the tensor from its construction on: its other attributes decide where it belongs."""
    frames = {level.frame for level in meeting.site.levels}
    return any(
        getattr(level.frame.node, "name", "") == "__init__" and level.frame not in frames for level in site.levels
    )


# --- where it could be moved ----------------------------------------------------------------------------------------
def remedies(facts: Facts, group: list[Made]) -> Iterator[Remedy]:
    """Remedies in the order in which an expert would try them."""
    told = ", ".join(dict.fromkeys(f"`{made.words}`" for made in group))
    seen: set[tuple[Edit, ...]] = set()
    for plans in _PLANS:
        edits: dict[Edit, None] = {}
        for made in group:
            found = next((found for plan in plans if (found := plan(facts, made))), None)
            if found is None:
                break
            edits.update(dict.fromkeys(found))
        else:
            if tuple(edits) not in seen:
                seen.add(tuple(edits))
                yield Remedy(f"make {told} on the device" if _is_made_there(edits) else f"move {told}", tuple(edits))


def _is_made_there(edits: dict[Edit, None]) -> bool:
    return not any(isinstance(edit, (AppendCode, InsertStatement)) for edit in edits)


def _where_made(facts: Facts, made: Made, outside: bool) -> list[Edit]:
    if made.key in facts.in_datasets:
        return []  # the data set, too, would be on the device: its loader may pin memory or have workers
    level = made.site.level
    device = device_for(facts, made.site, level, made.partners(level), outside)
    flagged = under_flag(facts, made.site, made.making) if device is None or device.startswith("next(") else None
    if flagged is not None and outside:
        return [flagged]
    if device is None:
        return []
    later = drawn_later(made.making)
    if later is not None:
        name, statement = later
        code = f"{name} = {name}.to({device})"
        return [InsertStatement(made.making.tree.path, made.making.tree.span(statement), Where.AFTER, code)]
    edit = made.making.edit(device)
    return [edit] if edit is not None else []


def _with_parameter(facts: Facts, made: Made) -> list[Edit]:
    """Where the parameter is whose shape it has."""
    return shaped_like_parameter(facts, made.key, made.site, made.uses[0][0])


def _beside_another(facts: Facts, made: Made) -> list[Edit]:
    """Next to another tensor that moves only where there is an accelerator."""
    edit = beside_flagged(facts, made.site, made.making, [meeting for meeting, _ in made.uses])
    return [edit] if edit is not None and made.key not in facts.in_datasets else []


def _beside_parts(facts: Facts, made: Made) -> list[Edit]:
    """As its other parts are moved, or with the copy that is on the device already."""
    origins = {(birth.key, birth.item) for _, operand in made.uses for birth in operand.births if birth.key == made.key}
    return beside_parts(facts, origins, [meeting for meeting, _ in made.uses])


def _beside_companions(facts: Facts, made: Made) -> list[Edit]:
    """As other data is moved that goes into the same call."""
    return [*beside_companion(facts, made.key, [meeting for meeting, _ in made.uses])]


def _by_its_own_words(facts: Facts, made: Made) -> list[Edit]:
    """Where it is made, with a device that this function knows; a helper gains nothing from outside."""
    return _where_made(facts, made, outside=not made.in_a_helper)


def _by_any_words(facts: Facts, made: Made) -> list[Edit]:
    """Where it is made, with any device that is live there."""
    return _where_made(facts, made, outside=True)


def _at_the_call(facts: Facts, made: Made) -> list[Edit]:
    """Behind the calls that make one that fails, if the helper gives one tensor."""
    return _behind_calls(facts, made, made.moments)


def _at_every_call(facts: Facts, made: Made) -> list[Edit]:
    """Behind each call of the helper."""
    return _behind_calls(facts, made, facts.visits.get(made.key, list(made.moments)))


def _behind_calls(facts: Facts, made: Made, sites: Iterable[Site]) -> list[Edit]:
    edits = [_behind_call(facts, made, site) for site in sites]
    return list(dict.fromkeys(edit for edit in edits if edit is not None)) if all(edits) else []


def _behind_call(facts: Facts, made: Made, site: Site) -> Edit | None:
    for caller, callee in reversed(list(pairwise(site.levels))):
        name = getattr(callee.frame.node, "name", None)
        calls = [
            node
            for root in headers(caller.stmt)
            for node in ast.walk(root)
            if isinstance(node, ast.Call) and facts.gives_tensor.get(node) and _last_name(node.func) == name
        ]
        if len(calls) != 1:
            return None
        device = device_for(facts, site, caller, made.partners(caller))
        if device is not None:
            return AppendCode(caller.tree.path, caller.tree.span(calls[0]), f".to({device})")
    return None


def _last_name(node: ast.expr) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


def _at_uses(facts: Facts, made: Made) -> list[Edit]:
    """In each operation in which it fails."""
    edits: dict[Edit, None] = {}
    for meeting, operand in made.uses:
        site = meeting.site
        node = _operand_node(site, operand.text)
        device = device_for(facts, site, site.level, meeting.partners)
        if node is None or device is None or foreign_part(site.tree.path):
            return []
        if device.startswith("next(") and inside_module(site.level):
            return []  # a model does not look for its own weights to move what it is given
        edits[AppendCode(site.tree.path, site.tree.span(node), f".to({device})")] = None
    return list(edits)


def _operand_node(site: Site, text: str) -> ast.expr | None:
    """The expression that is the operand, if it stands in the file as it is read (not the left of ``+=``)."""
    for node in ast.walk(site.node):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) and ast.unparse(node) == text:
            is_read = isinstance(getattr(node, "ctx", None), (ast.Load, type(None)))
            if is_read and node in site.tree.parents and not isinstance(site.tree.parents[node], ast.AugAssign):
                return node
            if is_read and isinstance(site.tree.parents.get(node), ast.AugAssign):
                augmented = site.tree.parents[node]
                return node if getattr(augmented, "value", None) is node else None
    return None


_PLANS = (
    (
        _with_parameter,
        _beside_another,
        _beside_parts,
        _beside_companions,
        _by_its_own_words,
        _at_the_call,
        _by_any_words,
    ),
    (_at_the_call,),
    (_at_every_call,),
    (_at_uses,),
    (_by_any_words,),
)
