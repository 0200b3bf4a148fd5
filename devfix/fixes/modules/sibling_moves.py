"""Moves beside the moves of sibling attributes, in the method with which a class moves itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.objects import HeapObject
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import ACCELERATOR, UNKNOWN, Tensor, alternatives
from devfix.analysis.observations import DeviceMismatch
from devfix.analysis.stdlib.instances import InstanceObject
from devfix.fixes.module_move import module_move_at
from devfix.fixes.modules.attribute_writes import Attribute, methods_of
from devfix.fixes.modules.module_roots import RootModule, has_to_method, root_names, to_method
from devfix.model import AppendCode, Edit, InsertStatement, Where
from devfix.syntax.tree import SourceTree, text_of

__all__ = ["move_beside_sibling_attributes", "move_beside_sibling_modules", "move_owners"]


def move_beside_sibling_attributes(observations: Observations, attributes: list[Attribute]) -> list[Edit]:
    """Return ``self.returns = self.returns.to(device)`` after the last sibling's move, for each attribute.

    Empty if an attribute has no moved sibling.
    """
    edits: dict[Edit, None] = {}
    for attribute in attributes:
        edit = next(_beside(attribute), None) or next(_in_construction(attribute), None)
        if edit is None:
            return []
        edits[edit] = None
    return list(edits)


def _beside(attribute: Attribute) -> Iterator[Edit]:
    if attribute.cls is None:
        return
    for tree, _, method in methods_of(attribute.cls):
        moves = [node for node in ast.walk(method) if isinstance(node, ast.Assign) and _moved_name(node) is not None]
        if any(_moved_name(move) == attribute.name for move in moves):
            continue
        beside = [move for move in moves if _is_sibling_moved(attribute, _moved_name(move))]
        if beside:
            last = max(beside, key=lambda move: move.lineno)
            yield InsertStatement(tree.path, tree.span(last), Where.AFTER, _rename_move(tree, last, attribute.name))


def _in_construction(attribute: Attribute) -> Iterator[Edit]:
    """Yield ``self.x.to(device)`` in ``Graph(self.x, self.y.to(device))``, the construction of the failing object."""
    for tree, _, method in methods_of(attribute.cls) if attribute.cls is not None else ():
        for call in (node for node in ast.walk(method) if isinstance(node, ast.Call)):
            constructed = [
                obj for obj in attribute.owners if obj.allocated_at is not None and obj.allocated_at.node is call
            ]
            arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
            moves = [move for node in arguments for move in _move_of_attribute(node)]
            names = {receiver.attr for _, receiver in moves}
            if not constructed or not moves or not all(_is_on_accelerator(constructed, name) for name in names):
                continue
            move, receiver = moves[0]
            target = f"{tree.source(receiver.value)}.{attribute.name}"
            unmoved = [node for node in arguments if text_of(node) == target]
            if len(unmoved) == 1:
                yield AppendCode(
                    tree.path, tree.span(unmoved[0]), tree.source(move).removeprefix(tree.source(receiver))
                )


def _move_of_attribute(node: ast.expr) -> Iterator[tuple[ast.Call, ast.Attribute]]:
    """Yield ``self.y.to(device)`` and ``self.y`` if ``node`` is such a move."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name()) as receiver, attr="to" | "cuda")):
            yield node, receiver


def move_owners(observations: Observations, attributes: list[Attribute]) -> list[Edit]:
    """Return moves of the objects that have the attributes (``Graph(x, y).to(device)``); empty if one has no ``to``."""
    edits: dict[Edit, None] = {}
    mismatch, state = attributes[0].uses[0].mismatch, attributes[0].uses[0].state
    for obj in (obj for attribute in attributes for obj in attribute.owners):
        allocated_at = obj.allocated_at
        if (
            allocated_at is None
            or not isinstance(obj, InstanceObject)
            or not isinstance(allocated_at.node, ast.Call)
            or not has_to_method(state, obj)
        ):
            return []
        if _constructed_in_class(allocated_at, obj):
            return []  # its ``to`` creates a new object: an attribute that it does not move is the cause
        if any(_has_moved_siblings(attribute) for attribute in attributes if obj in attribute.owners):
            return []  # another call of its ``to`` would not move the attribute either
        move_style = module_move_at(observations, mismatch, allocated_at.call_frame)
        if move_style is None or not move_style.is_unconditional or not move_style.trailer.startswith(".to("):
            return []
        if not move_style.is_bound_before(allocated_at.call_frame, allocated_at.stmt):
            return []
        if _returns_value(state, obj):
            edits[AppendCode(allocated_at.tree.path, allocated_at.span, move_style.trailer)] = None
            continue
        match allocated_at.stmt:
            case ast.Assign(targets=[ast.Name() | ast.Attribute() as name], value=value) if value is allocated_at.node:
                code = f"{allocated_at.tree.source(name)}{move_style.trailer}"
                edits[
                    InsertStatement(
                        allocated_at.tree.path, allocated_at.tree.span(allocated_at.stmt), Where.AFTER, code
                    )
                ] = None
            case _:
                return []  # its ``to`` does not return the object
    return list(edits)


def _has_moved_siblings(attribute: Attribute) -> bool:
    """Whether the class moves siblings of the attribute, but not the attribute."""
    return any(_beside(attribute))


def _returns_value(state: State, obj: HeapObject) -> bool:
    """Whether a class's ``to`` returns a value on every visible path."""
    method = to_method(state, obj)
    if method is None or not isinstance(method.node, ast.FunctionDef):
        return False
    last = method.node.body[-1]
    returns = [node for node in ast.walk(method.node) if isinstance(node, ast.Return)]
    returned = [text_of(node.value) if node.value is not None else "None" for node in returns]
    return isinstance(last, (ast.Return, ast.If, ast.With)) and "None" not in returned


def _constructed_in_class(allocated_at: ProgramPoint, obj: HeapObject) -> bool:
    """Whether a method of the class constructs the object."""
    owners = [
        call_frame.activation.function.owner
        for call_frame in allocated_at.call_stack
        if call_frame.activation.function is not None
    ]
    return any(owner is not None and owner is obj.cls for owner in owners)


def _moved_name(stmt: ast.Assign) -> str | None:
    """Return ``rewards`` of ``self.rewards = self.rewards.to(device)``."""
    match stmt:
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name(), attr=name) as target],
            value=ast.Call(func=ast.Attribute(value=moved, attr="to" | "cuda")),
        ) if ast.unparse(moved) == ast.unparse(target):
            return name
    return None


def _is_sibling_moved(attribute: Attribute, sibling: str | None) -> bool:
    """Whether the sibling of every object is on the accelerator at the failing use."""
    return _is_on_accelerator(attribute.owners, sibling or "")


def _is_on_accelerator(owners: list[HeapObject], name: str) -> bool:
    values = [option for obj in owners for option in alternatives(obj.fields.get(name, UNKNOWN))]
    return bool(values) and all(isinstance(option, Tensor) and option.device == ACCELERATOR for option in values)


def _rename_move(tree: SourceTree, move: ast.Assign, name: str) -> str:
    """Return the statement of a sibling's move with another attribute name."""
    text, own = tree.source(move), tree.source(move.targets[0])
    receiver = own.rpartition(".")[0]
    return text.replace(own, f"{receiver}.{name}", 2)


def move_beside_sibling_modules(
    observations: Observations, mismatch: DeviceMismatch, root: RootModule
) -> Iterator[Edit]:
    """Yield ``self.decoder.cuda()`` after ``self.encoder.cuda()``, in the method with which an object moves itself."""
    for point in observations.moves:
        moved = _moved_attribute(point)
        if moved is None or getattr(point.call_frame.activation.node, "name", "") == "__init__":
            continue
        own = moved.rpartition(".")[0]
        names = [name for name in root_names(mismatch.point, point.call_frame, root) if name.rpartition(".")[0] == own]
        if not names or moved in names or any(isinstance(p, _LOOPS) for p in point.tree.ancestors(point.stmt)):
            continue
        code = point.tree.source(point.stmt).replace(moved, names[0])
        yield InsertStatement(point.tree.path, point.tree.span(point.stmt), Where.AFTER, code)


_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def _moved_attribute(point: ProgramPoint) -> str | None:
    """Return ``self.encoder`` of the statement ``self.encoder.cuda()`` in a method of its object."""
    function = point.call_frame.activation.function
    match point.stmt:
        case ast.Expr(value=call):
            targets: list[ast.expr] = []
        case ast.Assign(targets=targets, value=call):
            pass
        case _:
            return None
    if function is None or function.owner is None or call is not point.node:
        return None
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name(id=own)) as moved, attr="to" | "cuda")):
            first = [argument.arg for argument in function.node.args.args[:1]]
            is_reassigned = all(ast.unparse(target) == ast.unparse(moved) for target in targets)
            return ast.unparse(moved) if first == [own] and is_reassigned else None
    return None
