"""Planning the move of batch items: as others are moved, at the name that holds the item, or where it is used."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.move_observations import Transfer
from devfix.analysis.observations import Binding
from devfix.fixes.insertion_point import inside_module, same_function
from devfix.fixes.move_style import Move, style_at
from devfix.fixes.tensors.companions import beside_companion
from devfix.fixes.tensors.comprehensions import containers
from devfix.fixes.tensors.misplaced_items import (
    MisplacedItem,
    Placed,
    appended,
    bindings_of,
    expression_of,
    is_plain_access,
    made_siblings,
    shown,
)
from devfix.fixes.tensors.partial_moves import beside_parts
from devfix.fixes.tensors.sibling_style import beside_siblings, by_helper
from devfix.model import Edit, Fix, InsertStatement, Where

__all__ = ["candidates"]


def candidates(observations: Observations, misplaced_items: Sequence[MisplacedItem]) -> Iterator[Fix]:
    """Fixes for items of one batch, in the order in which an expert would try them."""
    origins = {(misplaced.key, misplaced.item) for misplaced in misplaced_items}
    near = beside_parts(
        observations, origins, [mismatch for misplaced in misplaced_items for mismatch in misplaced.mismatches]
    )
    if near:
        yield Fix(
            "move " + ", ".join(f"`{shown(observations, misplaced)}`" for misplaced in misplaced_items), tuple(near)
        )
    wanted = {misplaced.item for misplaced in misplaced_items}
    siblings = [
        transfer
        for transfer in observations.transfers
        if transfer.origin.site_id == misplaced_items[0].key
        and transfer.device == "accelerator"
        and transfer.origin.path not in wanted
    ] or made_siblings(observations, misplaced_items[0])
    for plan in (_beside_companions, beside_siblings, by_helper, _at_names, containers, _at_uses):
        placed: list[Placed] = []
        for misplaced in misplaced_items:
            parts = plan(observations, misplaced, siblings)
            if parts is None:
                break
            placed.extend(parts)
        else:
            edits = _under_one_flag(dict.fromkeys(part.edit for part in placed))
            if edits:
                described = ", ".join(dict.fromkeys(part.described for part in placed))
                yield Fix(f"move {described}", edits)


def _beside_companions(
    observations: Observations, misplaced: MisplacedItem, siblings: Sequence[Transfer]
) -> list[Placed] | None:
    """Behind the move of other data that goes into the same call, for data that the program makes itself."""
    if observations.sources[misplaced.key].kind != "made":
        return None
    edits = beside_companion(observations, misplaced.key, misplaced.mismatches)
    return [Placed(edit, f"`{edit.code.split(' =')[0]}`") for edit in edits] or None


def _under_one_flag(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Statements that go to one place under the same flag share one ``if``."""
    merged: list[Edit] = []
    for edit in edits:
        last = merged[-1] if merged else None
        if isinstance(edit, InsertStatement) and isinstance(last, InsertStatement) and edit.code.startswith("if "):
            head, body = edit.code.split("\n", 1)
            if replace(last, code="") == replace(edit, code="") and last.code.startswith(head + "\n"):
                merged[-1] = replace(last, code=f"{last.code}\n{body}")
                continue
        merged.append(edit)
    return tuple(merged)


# --- at the name that holds the item --------------------------------------------------------------------------------
def _at_names(
    observations: Observations, misplaced: MisplacedItem, siblings: Sequence[Transfer]
) -> list[Placed] | None:
    """Where the item gets its first name, if the device has a name there, too."""
    for binding in bindings_of(observations, misplaced):
        placed = _at_name(observations, misplaced, binding)
        if placed is not None:
            return [placed]
    return None


def _at_name(observations: Observations, misplaced: MisplacedItem, binding: Binding) -> Placed | None:
    point, name = binding.point, binding.name
    tree, statement = point.tree, point.stmt
    style = style_at(observations, point, misplaced)
    if style is None or not name.isidentifier() or inside_module(point.call_frame):
        return None
    trailer, guard = style
    if binding.kind == "assign" and binding.value is not None and is_plain_access(binding.value) and guard is None:
        return appended(tree, binding.value, trailer, name)
    code = f"{name} = {name}{trailer}"
    if guard is not None:
        code = f"if {guard}:\n    {code}"
    if binding.kind == "target" and isinstance(statement, (ast.For, ast.AsyncFor)):
        if _dispatches(statement, name):
            return None
        where = Where.BODY_START
    elif binding.kind == "param":
        function = point.call_frame.activation.node
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or _dispatches(function, name):
            return None
        edit = InsertStatement(tree.path, tree.span(function), Where.BODY_START, code)
        return Placed(edit, f"`{name}`")
    elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.With)):
        where = Where.BODY_START if isinstance(statement, ast.With) else Where.AFTER
    else:
        return None
    return Placed(InsertStatement(tree.path, tree.span(statement), where, code), f"`{name}`")


def _dispatches(function: ast.AST, name: str) -> bool:
    """Whether a function asks what its argument is, or a loop its item: it may be anything, not only a tensor."""
    return any(_asks_about(node, name) for node in ast.walk(function))


def _asks_about(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Match):
        return ast.unparse(node.subject) == name
    if not isinstance(node, ast.Call) or not node.args:
        return False
    asks = ast.unparse(node.func).split(".")[-1] in ("isinstance", "hasattr", "is_tensor")
    return asks and ast.unparse(node.args[0]) == name


# --- where it is used -----------------------------------------------------------------------------------------------
def _at_uses(observations: Observations, misplaced: MisplacedItem, siblings: Sequence[Transfer]) -> list[Placed] | None:
    """Appended to the item in each operation that needs it on the device."""
    placed: dict[tuple[object, ...], Placed] = {}
    for mismatch, text in zip(misplaced.mismatches, misplaced.texts, strict=False):
        for call_frame in mismatch.point.call_stack:
            if inside_module(call_frame):
                break
            node = expression_of(mismatch.point, call_frame, misplaced, text)
            trailer = (
                _trailer_at(observations, misplaced, siblings, mismatch.point, call_frame) if node is not None else None
            )
            if node is not None and trailer is not None:
                span = call_frame.tree.span(node)
                placed[(call_frame.tree.path, span)] = appended(call_frame.tree, node, trailer, ast.unparse(node))
                break
        else:
            return None
        if not placed:
            return None
    return list(placed.values())


def _trailer_at(
    observations: Observations,
    misplaced: MisplacedItem,
    siblings: Sequence[Transfer],
    point: ProgramPoint,
    call_frame: CallFrame,
) -> str | None:
    beside = [transfer for transfer in siblings if same_function(transfer.point.call_frame, call_frame)]
    if beside:
        return Move(beside[-1].point).trailer()
    style = style_at(observations, point, misplaced, call_frame)
    return style[0] if style is not None and style[1] is None else None
