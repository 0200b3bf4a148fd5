"""Attributes moved beside their siblings, in the method with which a class moves itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import ACCELERATOR, UNKNOWN, HeapObject, Tensor, alternatives
from devfix.analysis.observations import DeviceMismatch
from devfix.fixes.module_move import module_move_at
from devfix.fixes.modules.attribute_writes import Attribute, methods_of
from devfix.fixes.modules.module_roots import RootModule, moves_itself, own_mover, roots_named
from devfix.model import AppendCode, Edit, InsertStatement, Where
from devfix.syntax.tree import SourceTree, text_of

__all__ = ["module_beside_siblings", "moved_as_a_whole", "moved_with_siblings"]


def moved_with_siblings(observations: Observations, attributes: list[Attribute]) -> list[Edit]:
    """``self.returns = self.returns.to(device)`` behind the last of its kind; nothing where one has no such place."""
    edits: dict[Edit, None] = {}
    for attribute in attributes:
        edit = next(_beside(attribute), None) or next(_handed_over(attribute), None)
        if edit is None:
            return []
        edits[edit] = None
    return list(edits)


def _beside(attribute: Attribute) -> Iterator[Edit]:
    if attribute.cls is None:
        return
    for tree, _, method in methods_of(attribute.cls):
        moves = [node for node in ast.walk(method) if isinstance(node, ast.Assign) and _moved(node) is not None]
        if any(_moved(move) == attribute.name for move in moves):
            continue
        beside = [move for move in moves if _has_arrived(attribute, _moved(move))]
        if beside:
            last = max(beside, key=lambda move: move.lineno)
            yield InsertStatement(tree.path, tree.span(last), Where.AFTER, _like(tree, last, attribute.name))


def _handed_over(attribute: Attribute) -> Iterator[Edit]:
    """``self.x.to(device)`` in ``Graph(self.x, self.y.to(device))``, where a method makes the object that fails."""
    for tree, _, method in methods_of(attribute.cls) if attribute.cls is not None else ():
        for call in (node for node in ast.walk(method) if isinstance(node, ast.Call)):
            made = [obj for obj in attribute.owners if obj.allocated_at is not None and obj.allocated_at.node is call]
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            moves = [move for node in given for move in _move_of_attribute(node)]
            names = {what.attr for _, what in moves}
            if not made or not moves or not all(_arrived(made, name) for name in names):
                continue
            move, what = moves[0]
            wanted = f"{tree.source(what.value)}.{attribute.name}"
            left = [node for node in given if text_of(node) == wanted]
            if len(left) == 1:
                yield AppendCode(tree.path, tree.span(left[0]), tree.source(move).removeprefix(tree.source(what)))


def _move_of_attribute(node: ast.expr) -> Iterator[tuple[ast.Call, ast.Attribute]]:
    """``self.y.to(device)``, with what it moves."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name()) as what, attr="to" | "cuda")):
            yield node, what


def moved_as_a_whole(observations: Observations, attributes: list[Attribute]) -> list[Edit]:
    """``Graph(x, y).to(device)``, where the class has a ``to`` of its own; nothing where an object has no place."""
    edits: dict[Edit, None] = {}
    mismatch, memory = attributes[0].uses[0].mismatch, attributes[0].uses[0].memory
    for obj in (obj for attribute in attributes for obj in attribute.owners):
        allocated_at = obj.allocated_at
        if (
            allocated_at is None
            or obj.kind != "instance"
            or not isinstance(allocated_at.node, ast.Call)
            or not moves_itself(memory, obj)
        ):
            return []
        if _made_by_itself(allocated_at, obj):
            return []  # its own ``to`` makes it anew: what that leaves behind is the cause
        if any(_leaves_behind(attribute) for attribute in attributes if obj in attribute.owners):
            return []  # called once more, it would leave the same behind
        words = module_move_at(observations, mismatch, allocated_at.call_frame)
        if words is None or not words.plain or not words.trailer.startswith(".to("):
            return []
        if not words.ready(allocated_at.call_frame, allocated_at.stmt):
            return []
        if _gives_itself(memory, obj):
            edits[AppendCode(allocated_at.tree.path, allocated_at.span, words.trailer)] = None
            continue
        match allocated_at.stmt:
            case ast.Assign(targets=[ast.Name() | ast.Attribute() as name], value=value) if value is allocated_at.node:
                code = f"{allocated_at.tree.source(name)}{words.trailer}"
                edits[
                    InsertStatement(
                        allocated_at.tree.path, allocated_at.tree.span(allocated_at.stmt), Where.AFTER, code
                    )
                ] = None
            case _:
                return []  # what its ``to`` returns is not the object
    return list(edits)


def _leaves_behind(attribute: Attribute) -> bool:
    """Whether the class moves itself, with siblings of the attribute and without it."""
    return any(_beside(attribute))


def _gives_itself(memory: State, obj: HeapObject) -> bool:
    """Whether its own ``to`` returns an object on every path that a reader sees."""
    method = own_mover(memory, obj)
    if method is None or not isinstance(method.node, ast.FunctionDef):
        return False
    last = method.node.body[-1]
    returns = [node for node in ast.walk(method.node) if isinstance(node, ast.Return)]
    given = [text_of(node.value) if node.value is not None else "None" for node in returns]
    return isinstance(last, (ast.Return, ast.If, ast.With)) and "None" not in given


def _made_by_itself(allocated_at: ProgramPoint, obj: HeapObject) -> bool:
    """Whether a method of the class makes the object."""
    owners = [
        call_frame.activation.function.owner
        for call_frame in allocated_at.call_stack
        if call_frame.activation.function is not None
    ]
    return any(owner is not None and owner is obj.cls for owner in owners)


def _moved(stmt: ast.Assign) -> str | None:
    """``rewards`` of ``self.rewards = self.rewards.to(device)``."""
    match stmt:
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name(), attr=name) as target],
            value=ast.Call(func=ast.Attribute(value=moved, attr="to" | "cuda")),
        ) if ast.unparse(moved) == ast.unparse(target):
            return name
    return None


def _has_arrived(attribute: Attribute, sibling: str | None) -> bool:
    """Whether every object's sibling is on the accelerator when the attribute fails."""
    return _arrived(attribute.owners, sibling or "")


def _arrived(owners: list[HeapObject], name: str) -> bool:
    held = [option for obj in owners for option in alternatives(obj.fields.get(name, UNKNOWN))]
    return bool(held) and all(isinstance(option, Tensor) and option.device == ACCELERATOR for option in held)


def _like(tree: SourceTree, move: ast.Assign, name: str) -> str:
    """The statement of a sibling with another name in both places."""
    text, own = tree.source(move), tree.source(move.targets[0])
    receiver = own.rpartition(".")[0]
    return text.replace(own, f"{receiver}.{name}", 2)


def module_beside_siblings(observations: Observations, mismatch: DeviceMismatch, root: RootModule) -> Iterator[Edit]:
    """``self.decoder.cuda()`` behind the move of ``self.encoder``, in the method with which an object moves itself."""
    for point in observations.moves:
        moved = _moved_attribute(point)
        if moved is None or getattr(point.call_frame.activation.node, "name", "") == "__init__":
            continue
        own = moved.rpartition(".")[0]
        names = [name for name in roots_named(mismatch.point, point.call_frame, root) if name.rpartition(".")[0] == own]
        if not names or moved in names or any(isinstance(p, _LOOPS) for p in point.tree.ancestors(point.stmt)):
            continue
        code = point.tree.source(point.stmt).replace(moved, names[0])
        yield InsertStatement(point.tree.path, point.tree.span(point.stmt), Where.AFTER, code)


_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def _moved_attribute(point: ProgramPoint) -> str | None:
    """``self.encoder`` of ``self.encoder.cuda()``, which a method says of its own object and nothing else."""
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
            kept = all(ast.unparse(target) == ast.unparse(moved) for target in targets)
            return ast.unparse(moved) if first == [own] and kept else None
    return None
