"""Planning the move of batch items: as others are moved, at the name that holds the item, or where it is used."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from devfix.analysis import Facts
from devfix.analysis.domain.location import Level, Site
from devfix.analysis.move_observations import Transfer
from devfix.analysis.observations import Binding
from devfix.fixes.insertion_point import Move, inside_module, same_function
from devfix.fixes.move_style import style_at
from devfix.fixes.tensors.companions import beside_companion
from devfix.fixes.tensors.comprehensions import containers
from devfix.fixes.tensors.misplaced_items import (
    Culprit,
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
from devfix.model import Edit, InsertStatement, Remedy, Where

__all__ = ["candidates"]


def candidates(facts: Facts, culprits: Sequence[Culprit]) -> Iterator[Remedy]:
    """Remedies for items of one batch, in the order in which an expert would try them."""
    origins = {(culprit.key, culprit.item) for culprit in culprits}
    near = beside_parts(facts, origins, [meeting for culprit in culprits for meeting in culprit.meetings])
    if near:
        yield Remedy("move " + ", ".join(f"`{shown(facts, culprit)}`" for culprit in culprits), tuple(near))
    wanted = {culprit.item for culprit in culprits}
    siblings = [
        transfer
        for transfer in facts.transfers
        if transfer.birth.key == culprits[0].key
        and transfer.place == "accelerator"
        and transfer.birth.item not in wanted
    ] or made_siblings(facts, culprits[0])
    for plan in (_beside_companions, beside_siblings, by_helper, _at_names, containers, _at_uses):
        placed: list[Placed] = []
        for culprit in culprits:
            parts = plan(facts, culprit, siblings)
            if parts is None:
                break
            placed.extend(parts)
        else:
            edits = _under_one_flag(dict.fromkeys(part.edit for part in placed))
            if edits:
                told = ", ".join(dict.fromkeys(part.told for part in placed))
                yield Remedy(f"move {told}", edits)


def _beside_companions(facts: Facts, culprit: Culprit, siblings: Sequence[Transfer]) -> list[Placed] | None:
    """Behind the move of other data that goes into the same call, for data that the program makes itself."""
    if facts.sources[culprit.key].kind != "made":
        return None
    edits = beside_companion(facts, culprit.key, culprit.meetings)
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
def _at_names(facts: Facts, culprit: Culprit, siblings: Sequence[Transfer]) -> list[Placed] | None:
    """Where the item gets its first name, if the device has a name there, too."""
    for binding in bindings_of(facts, culprit):
        placed = _at_name(facts, culprit, binding)
        if placed is not None:
            return [placed]
    return None


def _at_name(facts: Facts, culprit: Culprit, binding: Binding) -> Placed | None:
    site, name = binding.site, binding.name
    tree, statement = site.tree, site.stmt
    style = style_at(facts, site, culprit)
    if style is None or not name.isidentifier() or inside_module(site.level):
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
        function = site.level.frame.node
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
def _at_uses(facts: Facts, culprit: Culprit, siblings: Sequence[Transfer]) -> list[Placed] | None:
    """Appended to the item in each operation that needs it on the device."""
    placed: dict[tuple[object, ...], Placed] = {}
    for meeting, text in zip(culprit.meetings, culprit.texts, strict=False):
        for level in meeting.site.levels:
            if inside_module(level):
                break
            node = expression_of(meeting.site, level, culprit, text)
            trailer = _trailer_at(facts, culprit, siblings, meeting.site, level) if node is not None else None
            if node is not None and trailer is not None:
                span = level.tree.span(node)
                placed[(level.tree.path, span)] = appended(level.tree, node, trailer, ast.unparse(node))
                break
        else:
            return None
        if not placed:
            return None
    return list(placed.values())


def _trailer_at(facts: Facts, culprit: Culprit, siblings: Sequence[Transfer], site: Site, level: Level) -> str | None:
    beside = [transfer for transfer in siblings if same_function(transfer.site.level, level)]
    if beside:
        return Move(beside[-1].site).trailer()
    style = style_at(facts, site, culprit, level)
    return style[0] if style is not None and style[1] is None else None
