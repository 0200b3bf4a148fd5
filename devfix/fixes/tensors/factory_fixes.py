"""Tensors that are made on the CPU and meet the accelerator: which belong together, and where each could be moved."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.observations import DeviceMismatch, Operand
from devfix.fixes.insertion_point import headers, inside_module
from devfix.fixes.modules.parameter_copies import shaped_like_parameter
from devfix.fixes.tensors.companions import beside_companion
from devfix.fixes.tensors.conditional_moves import beside_flagged, under_flag
from devfix.fixes.tensors.misplaced_items import MisplacedItem, made_siblings
from devfix.fixes.tensors.partial_moves import beside_parts
from devfix.fixes.tensors.tensor_creation import Making, drawn_later
from devfix.fixes.value_scope import device_for_tensor
from devfix.fixes.vendored_code import foreign_part
from devfix.model import AppendCode, Edit, Fix, InsertStatement, Where

__all__ = ["Made", "made_on_cpu", "fixes"]

Use = tuple[DeviceMismatch, Operand]


@dataclass(frozen=True, eq=False)
class Made:
    """One place that makes a tensor, the moments at which it made one that fails, and where that one fails."""

    key: int
    moments: tuple[ProgramPoint, ...]
    making: Making
    uses: tuple[Use, ...]

    @property
    def point(self) -> ProgramPoint:
        """The first of the moments."""
        return self.moments[0]

    @property
    def words(self) -> str:
        """What people call the tensor."""
        return self.making.words

    @property
    def in_a_helper(self) -> bool:
        """Whether another function makes it than those that use it."""
        frames = {call_frame.activation for mismatch, _ in self.uses for call_frame in mismatch.point.call_stack}
        return self.point.call_frame.activation not in frames and not isinstance(
            self.point.call_frame.activation.node, ast.Module
        )

    def partners(self, call_frame: CallFrame) -> list[str]:
        """What it meets, in the words of the function that ``level`` runs."""
        texts = [
            text
            for mismatch, _ in self.uses
            if mismatch.point.call_frame.activation.node is call_frame.activation.node
            for text in mismatch.partners
        ]
        return list(dict.fromkeys(texts))


# --- what belongs together ------------------------------------------------------------------------------------------
def made_on_cpu(observations: Observations) -> Iterator[list[Made]]:
    """Groups of made tensors, in the order of their making: those of one operand are repaired together."""
    uses: dict[int, list[Use]] = {}
    above: dict[int, int] = {}
    for mismatch in observations.mismatches:
        for operand in mismatch.cpu:
            if any(origin.attribute_id for origin in operand.origins):
                continue  # an attribute that nothing moves: another rule names the cause
            keys = [origin.site_id for origin in operand.origins if origin.kind == "made"]
            for key in keys if operand.is_certain else ():
                uses.setdefault(key, []).append((mismatch, operand))
                above[_top(above, key)] = _top(above, keys[0])
    groups: dict[int, list[int]] = {}
    for key in sorted(uses):
        groups.setdefault(_top(above, key), []).append(key)
    for keys in groups.values():
        group = [_made(observations, key, uses[key]) for key in keys]
        if all(made is not None for made in group):
            yield [made for made in group if made is not None]


def _top(above: dict[int, int], key: int) -> int:
    while above.setdefault(key, key) != key:
        key = above[key]
    return key


def _made(observations: Observations, key: int, uses: list[Use]) -> Made | None:
    """What a rule needs to know of one making; ``None`` where another rule names the cause."""
    distinct = {(mismatch.point.key, operand.text): (mismatch, operand) for mismatch, operand in uses}
    mismatch, operand = uses[0]
    point = _moment(observations, key, mismatch)
    if not isinstance(point.node, ast.Call) or foreign_part(point.tree.path):
        return None
    kept = key not in observations.sized and _kept_by_constructor(point, mismatch)
    if kept or made_siblings(observations, MisplacedItem(key, (), (mismatch,), (operand.text,))):
        return None
    moments = tuple(dict.fromkeys(_moment(observations, key, mismatch) for mismatch, _ in uses))
    return Made(key, moments, Making(point.tree, point.node), tuple(distinct.values()))


def _moment(observations: Observations, key: int, mismatch: DeviceMismatch) -> ProgramPoint:
    """The moment at which the value that fails was made: the last before it, in the same activation if there is one."""
    visits = observations.visits.get(key) or [observations.sources[key].point]
    earlier = [point for point in visits if point.time < mismatch.point.time] or visits
    frames = {call_frame.activation for call_frame in mismatch.point.call_stack}
    return next((point for point in reversed(earlier) if point.call_frame.activation in frames), earlier[-1])


def _kept_by_constructor(point: ProgramPoint, mismatch: DeviceMismatch) -> bool:
    """Whether an object keeps the tensor from its construction on: its other attributes decide where it belongs."""
    frames = {call_frame.activation for call_frame in mismatch.point.call_stack}
    return any(
        getattr(call_frame.activation.node, "name", "") == "__init__" and call_frame.activation not in frames
        for call_frame in point.call_stack
    )


# --- where it could be moved ----------------------------------------------------------------------------------------
def fixes(observations: Observations, group: list[Made]) -> Iterator[Fix]:
    """Fixes in the order in which an expert would try them."""
    described = ", ".join(dict.fromkeys(f"`{made.words}`" for made in group))
    seen: set[tuple[Edit, ...]] = set()
    for plans in _PLANS:
        edits: dict[Edit, None] = {}
        for made in group:
            found = next((found for plan in plans if (found := plan(observations, made))), None)
            if found is None:
                break
            edits.update(dict.fromkeys(found))
        else:
            if tuple(edits) not in seen:
                seen.add(tuple(edits))
                yield Fix(
                    f"make {described} on the device" if _is_made_there(edits) else f"move {described}", tuple(edits)
                )


def _is_made_there(edits: dict[Edit, None]) -> bool:
    return not any(isinstance(edit, (AppendCode, InsertStatement)) for edit in edits)


def _where_made(observations: Observations, made: Made, outside: bool) -> list[Edit]:
    if made.key in observations.in_datasets:
        return []  # the data set, too, would be on the device: its loader may pin memory or have workers
    call_frame = made.point.call_frame
    device = device_for_tensor(observations, made.point, call_frame, made.partners(call_frame), outside)
    flagged = (
        under_flag(observations, made.point, made.making) if device is None or device.startswith("next(") else None
    )
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


def _with_parameter(observations: Observations, made: Made) -> list[Edit]:
    """Where the parameter is whose shape it has."""
    return shaped_like_parameter(observations, made.key, made.point, made.uses[0][0])


def _beside_another(observations: Observations, made: Made) -> list[Edit]:
    """Next to another tensor that moves only where there is an accelerator."""
    edit = beside_flagged(observations, made.point, made.making, [mismatch for mismatch, _ in made.uses])
    return [edit] if edit is not None and made.key not in observations.in_datasets else []


def _beside_parts(observations: Observations, made: Made) -> list[Edit]:
    """As its other parts are moved, or with the copy that is on the device already."""
    origins = {
        (origin.site_id, origin.path)
        for _, operand in made.uses
        for origin in operand.origins
        if origin.site_id == made.key
    }
    return beside_parts(observations, origins, [mismatch for mismatch, _ in made.uses])


def _beside_companions(observations: Observations, made: Made) -> list[Edit]:
    """As other data is moved that goes into the same call."""
    return [*beside_companion(observations, made.key, [mismatch for mismatch, _ in made.uses])]


def _by_its_own_words(observations: Observations, made: Made) -> list[Edit]:
    """Where it is made, with a device that this function knows; a helper gains nothing from outside."""
    return _where_made(observations, made, outside=not made.in_a_helper)


def _by_any_words(observations: Observations, made: Made) -> list[Edit]:
    """Where it is made, with any device that is live there."""
    return _where_made(observations, made, outside=True)


def _at_the_call(observations: Observations, made: Made) -> list[Edit]:
    """Behind the calls that make one that fails, if the helper gives one tensor."""
    return _behind_calls(observations, made, made.moments)


def _at_every_call(observations: Observations, made: Made) -> list[Edit]:
    """Behind each call of the helper."""
    return _behind_calls(observations, made, observations.visits.get(made.key, list(made.moments)))


def _behind_calls(observations: Observations, made: Made, sites: Iterable[ProgramPoint]) -> list[Edit]:
    edits = [_behind_call(observations, made, point) for point in sites]
    return list(dict.fromkeys(edit for edit in edits if edit is not None)) if all(edits) else []


def _behind_call(observations: Observations, made: Made, point: ProgramPoint) -> Edit | None:
    for caller, callee in reversed(list(pairwise(point.call_stack))):
        name = getattr(callee.activation.node, "name", None)
        calls = [
            node
            for root in headers(caller.stmt)
            for node in ast.walk(root)
            if isinstance(node, ast.Call) and observations.gives_tensor.get(node) and _last_name(node.func) == name
        ]
        if len(calls) != 1:
            return None
        device = device_for_tensor(observations, point, caller, made.partners(caller))
        if device is not None:
            return AppendCode(caller.tree.path, caller.tree.span(calls[0]), f".to({device})")
    return None


def _last_name(node: ast.expr) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


def _at_uses(observations: Observations, made: Made) -> list[Edit]:
    """In each operation in which it fails."""
    edits: dict[Edit, None] = {}
    for mismatch, operand in made.uses:
        point = mismatch.point
        node = _operand_node(point, operand.text)
        device = device_for_tensor(observations, point, point.call_frame, mismatch.partners)
        if node is None or device is None or foreign_part(point.tree.path):
            return []
        if device.startswith("next(") and inside_module(point.call_frame):
            return []  # a model does not look for its own weights to move what it is given
        edits[AppendCode(point.tree.path, point.tree.span(node), f".to({device})")] = None
    return list(edits)


def _operand_node(point: ProgramPoint, text: str) -> ast.expr | None:
    """The expression that is the operand, if it stands in the file as it is read (not the left of ``+=``)."""
    for node in ast.walk(point.node):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) and ast.unparse(node) == text:
            is_read = isinstance(getattr(node, "ctx", None), (ast.Load, type(None)))
            if is_read and node in point.tree.parents and not isinstance(point.tree.parents[node], ast.AugAssign):
                return node
            if is_read and isinstance(point.tree.parents.get(node), ast.AugAssign):
                augmented = point.tree.parents[node]
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
