"""Tensors created on the CPU and used on the accelerator: groups that belong together, and their fixes."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.objects import Container, object_at
from devfix.analysis.domain.values import UNKNOWN, Const, Number, TupleValue, alternatives
from devfix.analysis.observations import DeviceMismatch, Operand
from devfix.analysis.scopes import value_of
from devfix.fixes.index_moves import index_on_cpu
from devfix.fixes.insertion_point import headers, inside_module, read_expression
from devfix.fixes.modules.loss_weights import is_loss_weight
from devfix.fixes.modules.parameter_copies import create_like_parameter
from devfix.fixes.tensors.companions import move_beside_companion
from devfix.fixes.tensors.conditional_moves import move_beside_conditional, move_under_condition
from devfix.fixes.tensors.misplaced_items import MisplacedItem, moved_siblings
from devfix.fixes.tensors.partial_moves import move_beside_parts
from devfix.fixes.tensors.tensor_creation import FactoryCall, initialized_later
from devfix.fixes.value_scope import device_for_tensor
from devfix.fixes.vendored_code import foreign_part
from devfix.model import AppendCode, Edit, Fix, InsertStatement, Where
from devfix.syntax.tree import text_of, walk

__all__ = ["TensorCreation", "creation_fixes", "misplaced_creations"]

Use = tuple[DeviceMismatch, Operand]


@dataclass(frozen=True, eq=False)
class TensorCreation:
    """A call that creates a tensor, the program points at which it created a failing one, and the failing uses."""

    site_id: int
    points: tuple[ProgramPoint, ...]
    factory: FactoryCall
    uses: tuple[Use, ...]

    @property
    def point(self) -> ProgramPoint:
        """The first program point."""
        return self.points[0]

    @property
    def text(self) -> str:
        """The tensor's name or creating call, for messages."""
        return self.factory.text

    @property
    def is_in_helper(self) -> bool:
        """Whether the tensor is created in a helper function that none of its uses is in."""
        frames = {call_frame.activation for mismatch, _ in self.uses for call_frame in mismatch.point.call_stack}
        return self.point.call_frame.activation not in frames and not isinstance(
            self.point.call_frame.activation.node, ast.Module
        )

    def partners(self, call_frame: CallFrame) -> list[str]:
        """Return the other operands, as written in the function that ``call_frame`` runs."""
        texts = [
            text
            for mismatch, _ in self.uses
            if mismatch.point.call_frame.activation.node is call_frame.activation.node
            for text in mismatch.partners
        ]
        return list(dict.fromkeys(texts))


# --- groups ---------------------------------------------------------------------------------------------------------
def misplaced_creations(observations: Observations) -> Iterator[list[TensorCreation]]:
    """Yield groups of misplaced creations, in program order; the origins of one operand form a group."""
    uses: dict[int, list[Use]] = {}
    parents: dict[int, int] = {}
    for mismatch in observations.mismatches:
        for operand in mismatch.cpu:
            if any(origin.attribute_id for origin in operand.origins):
                continue  # stored in an attribute: reported by DEV202
            site_ids = [origin.site_id for origin in operand.origins if origin.kind == "made"]
            for site_id in site_ids if operand.is_certain else ():
                uses.setdefault(site_id, []).append((mismatch, operand))
                parents[_representative(parents, site_id)] = _representative(parents, site_ids[0])
    groups: dict[int, list[int]] = {}
    for site_id in sorted(uses):
        groups.setdefault(_representative(parents, site_id), []).append(site_id)
    for site_ids in groups.values():
        group = [_creation(observations, site_id, uses[site_id]) for site_id in site_ids]
        if all(creation is not None for creation in group):
            yield [creation for creation in group if creation is not None]


def _representative(parents: dict[int, int], site_id: int) -> int:
    while parents.setdefault(site_id, site_id) != site_id:
        site_id = parents[site_id]
    return site_id


def _creation(observations: Observations, site_id: int, uses: list[Use]) -> TensorCreation | None:
    """Return the creation for a site; ``None`` if another rule reports the cause."""
    distinct = {(mismatch.point.key, operand.text): (mismatch, operand) for mismatch, operand in uses}
    mismatch, operand = uses[0]
    point = _creation_point(observations, site_id, mismatch)
    if not isinstance(point.node, ast.Call) or foreign_part(point.tree.path) or is_loss_weight(observations, site_id):
        return None
    is_stored = site_id not in observations.shape_dependencies and _is_stored_by_constructor(point, mismatch)
    if is_stored or moved_siblings(observations, MisplacedItem(site_id, (), (mismatch,), (operand.text,))):
        return None
    points = tuple(dict.fromkeys(_creation_point(observations, site_id, mismatch) for mismatch, _ in uses))
    return TensorCreation(site_id, points, FactoryCall.at(point), tuple(distinct.values()))


def _creation_point(observations: Observations, site_id: int, mismatch: DeviceMismatch) -> ProgramPoint:
    """Return the creation that reaches this use: the latest before it, preferably in the same call frame."""
    visits = observations.creation_points.get(site_id) or [observations.sources[site_id].point]
    earlier = [point for point in visits if point.time < mismatch.point.time] or visits
    frames = {call_frame.activation for call_frame in mismatch.point.call_stack}
    return next((point for point in reversed(earlier) if point.call_frame.activation in frames), earlier[-1])


def _is_stored_by_constructor(point: ProgramPoint, mismatch: DeviceMismatch) -> bool:
    """Whether the tensor is stored by a constructor: the object's other attributes then determine its device."""
    frames = {call_frame.activation for call_frame in mismatch.point.call_stack}
    return any(
        getattr(call_frame.activation.node, "name", "") == "__init__" and call_frame.activation not in frames
        for call_frame in point.call_stack
    )


# --- plans ----------------------------------------------------------------------------------------------------------
def creation_fixes(observations: Observations, group: list[TensorCreation]) -> Iterator[Fix]:
    """Yield fixes for a group of creations, best first."""
    described = ", ".join(dict.fromkeys(f"`{creation.text}`" for creation in group))
    seen: set[tuple[Edit, ...]] = set()
    for plans in _PLANS:
        edits: dict[Edit, None] = {}
        for creation in group:
            found = next((found for plan in plans if (found := plan(observations, creation))), None)
            if found is None:
                break
            edits.update(dict.fromkeys(found))
        else:
            if tuple(edits) not in seen:
                seen.add(tuple(edits))
                yield Fix(
                    f"create {described} on the device" if _creates_on_device(edits) else f"move {described}",
                    tuple(edits),
                )
    yield from _index_moves(group)


def _index_moves(group: list[TensorCreation]) -> Iterator[Fix]:
    """Yield the fix that leaves the tensors on the CPU, if an index on the accelerator selects from them."""
    mismatches = dict.fromkeys(mismatch for creation in group for mismatch, _ in creation.uses)
    edits = [index_on_cpu(mismatch) for mismatch in mismatches]
    known = [edit for edit in edits if edit is not None]
    if known and len(known) == len(edits):
        yield Fix("move the index to the CPU", tuple(dict.fromkeys(known)))


def _creates_on_device(edits: dict[Edit, None]) -> bool:
    return not any(isinstance(edit, (AppendCode, InsertStatement)) for edit in edits)


def _at_creation(observations: Observations, creation: TensorCreation, use_globals: bool) -> list[Edit]:
    if creation.site_id in observations.dataset_values:
        return []  # datasets stay on the CPU: their loaders may pin memory or use workers
    call_frame = creation.point.call_frame
    device = device_for_tensor(observations, creation.point, call_frame, creation.partners(call_frame), use_globals)
    conditional = (
        move_under_condition(observations, creation.point, creation.factory)
        if device is None or device.startswith("next(")
        else None
    )
    if conditional is not None and use_globals:
        return [conditional]
    if device is None:
        return []
    later = initialized_later(creation.factory)
    if later is not None:
        name, statement = later
        code = f"{name} = {name}.to({device})"
        return [InsertStatement(creation.factory.tree.path, creation.factory.tree.span(statement), Where.AFTER, code)]
    edit = creation.factory.edit(device)
    return [edit] if edit is not None else []


def _like_parameter(observations: Observations, creation: TensorCreation) -> list[Edit]:
    """Create the tensor on the device of the parameter whose shape it has."""
    return create_like_parameter(observations, creation.site_id, creation.point, creation.uses[0][0])


def _beside_conditional(observations: Observations, creation: TensorCreation) -> list[Edit]:
    """Move the tensor beside another one that is moved only if there is an accelerator."""
    edit = move_beside_conditional(
        observations, creation.point, creation.factory, [mismatch for mismatch, _ in creation.uses]
    )
    return [edit] if edit is not None and creation.site_id not in observations.dataset_values else []


def _beside_parts(observations: Observations, creation: TensorCreation) -> list[Edit]:
    """Move the tensor as its other parts are moved, or use the copy that is already on the device."""
    origins = {
        (origin.site_id, origin.path)
        for _, operand in creation.uses
        for origin in operand.origins
        if origin.source_id == creation.site_id
    }
    return move_beside_parts(observations, origins, [mismatch for mismatch, _ in creation.uses])


def _beside_companions(observations: Observations, creation: TensorCreation) -> list[Edit]:
    """Move the tensor like other data passed to the same call."""
    return [*move_beside_companion(observations, creation.site_id, [mismatch for mismatch, _ in creation.uses])]


def _with_local_device(observations: Observations, creation: TensorCreation) -> list[Edit]:
    """Create the tensor with a device expression of its function; a helper must not depend on globals."""
    return _at_creation(observations, creation, use_globals=not creation.is_in_helper)


def _with_any_device(observations: Observations, creation: TensorCreation) -> list[Edit]:
    """Create the tensor with any device expression in scope."""
    return _at_creation(observations, creation, use_globals=True)


def _at_the_call(observations: Observations, creation: TensorCreation) -> list[Edit]:
    """Move the result of the calls that return a failing tensor, if the helper returns a single tensor."""
    return _after_calls(observations, creation, creation.points)


def _at_every_call(observations: Observations, creation: TensorCreation) -> list[Edit]:
    """Move the result of every call of the helper."""
    return _after_calls(
        observations, creation, observations.creation_points.get(creation.site_id, list(creation.points))
    )


def _after_calls(observations: Observations, creation: TensorCreation, points: Iterable[ProgramPoint]) -> list[Edit]:
    edits = [_after_call(observations, creation, point) for point in points]
    return list(dict.fromkeys(edit for edit in edits if edit is not None)) if all(edits) else []


def _after_call(observations: Observations, creation: TensorCreation, point: ProgramPoint) -> Edit | None:
    for caller, callee in reversed(list(pairwise(point.call_stack))):
        name = getattr(callee.activation.node, "name", None)
        calls = [
            node
            for root in headers(caller.stmt)
            for node in ast.walk(root)
            if isinstance(node, ast.Call) and observations.returns_tensor.get(node) and _last_name(node.func) == name
        ]
        if len(calls) != 1:
            return None
        device = device_for_tensor(observations, point, caller, creation.partners(caller))
        if device is not None:
            return AppendCode(caller.tree.path, caller.tree.span(calls[0]), f".to({device})")
    return None


def _last_name(node: ast.expr) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


def _at_uses(observations: Observations, creation: TensorCreation) -> list[Edit]:
    """Move the tensor in each failing operation."""
    edits: dict[Edit, None] = {}
    for mismatch, operand in creation.uses:
        point = mismatch.point
        node = _operand_node(point, operand.text)
        device = device_for_tensor(observations, point, point.call_frame, mismatch.partners)
        if node is None or device is None or foreign_part(point.tree.path):
            return []
        if inside_module(point.call_frame) and _is_of_module(point, device):
            return []  # a module does not move its inputs to where it is: its caller does
        edits[AppendCode(point.tree.path, point.tree.span(node), f".to({device})")] = None
    return list(edits)


def _is_of_module(point: ProgramPoint, device: str) -> bool:
    """Return whether a device is that of the module's parameters, or an attribute that its method does not read.

    ``Module.to`` leaves such an attribute as it is.
    """
    read = {text_of(node) for node in walk(point.call_frame.activation.node) if isinstance(node, ast.Attribute)}
    return device.startswith("next(") or (device.startswith("self.") and device not in read)


def _operand_node(point: ProgramPoint, text: str) -> ast.expr | None:
    """Return the operand's expression if it is read (not the target of ``+=``); of arithmetic, its only tensor."""
    node = read_expression(point.node, text)
    tensor = _only_tensor(point, node) if isinstance(node, _OPERANDS) else None
    return tensor if tensor in point.tree.parents and not _holds_tensors(point, tensor) else None


def _holds_tensors(point: ProgramPoint, node: ast.expr) -> bool:
    """Return whether an expression is a list, a tuple or a dictionary, which has no ``to``."""
    assert point.state is not None
    options = alternatives(value_of(point, point.call_frame, node) or UNKNOWN)
    held = (isinstance(each, TupleValue) or object_at(point.state, each, Container) is not None for each in options)
    return any(held)


_OPERANDS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp)


def _only_tensor(point: ProgramPoint, node: ast.expr) -> ast.expr | None:
    """Return the tensor of arithmetic with numbers, ``masks`` of ``masks * gamma``; ``None`` if there are several."""
    if not isinstance(node, ast.BinOp):
        return node
    tensors = [side for side in (node.left, node.right) if not _is_number(point, side)]
    return _only_tensor(point, tensors[0]) if len(tensors) == 1 else None


def _is_number(point: ProgramPoint, node: ast.expr) -> bool:
    value = Const(node.value) if isinstance(node, ast.Constant) else value_of(point, point.call_frame, node)
    return isinstance(value, Number) or (isinstance(value, Const) and isinstance(value.value, (int, float)))


_PLANS = (
    (
        _like_parameter,
        _beside_conditional,
        _beside_parts,
        _beside_companions,
        _with_local_device,
        _at_the_call,
        _with_any_device,
    ),
    (_at_the_call,),
    (_at_every_call,),
    (_at_uses,),
    (_with_any_device,),
)
