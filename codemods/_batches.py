"""Planning the move of batch items: beside a sibling, at the name that holds the item, or where it is used."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codemods._placing import Move, all_live, device_at, find_expression, last_move, same_function
from devfix.flow import Facts
from devfix.flow.facts import Binding, Meeting, Transfer
from devfix.flow.live import module_names
from devfix.flow.sites import Level, Site
from devfix.flow.syntax import SourceTree
from devfix.model import AppendCode, Edit, InsertStatement, Remedy, Where

__all__ = ["Culprit", "candidates", "shown"]

Item = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Culprit:
    """One batch item that stays on the CPU, with the operations in which it meets the accelerator."""

    key: int
    item: Item
    meetings: tuple[Meeting, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Placed:
    """One edit, and the words that tell it."""

    edit: Edit
    told: str


def shown(facts: Facts, culprit: Culprit) -> str:
    """What people call the item: its first name, else the expression that uses it."""
    names = [binding.name for binding in _bindings(facts, culprit)]
    return names[0] if names else culprit.texts[0]


def _bindings(facts: Facts, culprit: Culprit) -> list[Binding]:
    found: dict[tuple[object, ...], Binding] = {}
    for binding in facts.bindings:
        if binding.birth.key == culprit.key and binding.birth.item == culprit.item and binding.birth.kind != "load":
            found.setdefault((binding.site.key, binding.name), binding)
    return list(found.values())


def candidates(facts: Facts, culprits: Sequence[Culprit]) -> Iterator[Remedy]:
    """Remedies for items of one batch, in the order in which an expert would try them."""
    wanted = {culprit.item for culprit in culprits}
    siblings = [
        transfer
        for transfer in facts.transfers
        if transfer.birth.key == culprits[0].key and transfer.place == "accelerator" and transfer.birth.item not in wanted
    ]
    for plan in (_beside_siblings, _at_names, _whole_batch, _at_uses):
        placed: list[_Placed] = []
        for culprit in culprits:
            parts = plan(facts, culprit, siblings)
            if parts is None:
                break
            placed.extend(parts)
        else:
            edits = tuple(dict.fromkeys(part.edit for part in placed))
            if edits:
                told = ", ".join(dict.fromkeys(part.told for part in placed))
                yield Remedy(f"move {told}", edits)


# --- beside a sibling -----------------------------------------------------------------------------------------------
def _beside_siblings(facts: Facts, culprit: Culprit, siblings: Sequence[Transfer]) -> list[_Placed] | None:
    """Next to the moves of other items of the same batch, in their style."""
    for transfer in _last_of_each(siblings):
        for binding in _bindings(facts, culprit):
            if not same_function(binding.site.level, transfer.site.level):
                continue
            placed = _like_sibling(culprit, binding, transfer)
            if placed is not None:
                return [placed]
    return None


def _last_of_each(siblings: Sequence[Transfer]) -> list[Transfer]:
    """The last sibling move of each function, one per place."""
    last: dict[int, Transfer] = {}
    for transfer in siblings:
        known = last.get(id(transfer.site.level.frame.node))
        if known is None or transfer.site.key >= known.site.key:
            last[id(transfer.site.level.frame.node)] = transfer
    return list(last.values())


def _like_sibling(culprit: Culprit, binding: Binding, transfer: Transfer) -> _Placed | None:
    tree, statement = transfer.site.tree, transfer.site.stmt
    name = binding.name
    trailer = Move(transfer.site).trailer()
    if binding.kind == "assign" and binding.value is not None and _is_plain_access(binding.value):
        return _appended(tree, binding.value, trailer, name)
    if isinstance(statement, ast.Assign) and isinstance(statement.value, (ast.Tuple, ast.List)):
        for element in statement.value.elts:
            if isinstance(element, ast.Name) and element.id == name:
                return _appended(tree, element, trailer, name)
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or not name.isidentifier():
        return None
    if statement.lineno < binding.site.stmt.lineno and statement is not binding.site.stmt:
        return None
    edit = InsertStatement(tree.path, tree.span(statement), Where.AFTER, f"{name} = {name}{trailer}")
    return _Placed(edit, f"`{name}`")


def _is_plain_access(node: ast.expr) -> bool:
    """``batch["x"]``, ``batch.x``, ``next(it)``: an expression to which a move can be appended."""
    return isinstance(node, (ast.Subscript, ast.Attribute, ast.Call, ast.Name))


def _appended(tree: SourceTree, node: ast.expr, trailer: str, name: str) -> _Placed:
    return _Placed(AppendCode(tree.path, tree.span(node), trailer), f"`{name}`")


# --- at the name that holds the item --------------------------------------------------------------------------------
def _at_names(facts: Facts, culprit: Culprit, siblings: Sequence[Transfer]) -> list[_Placed] | None:
    """Where the item gets its first name, if the device has a name there, too."""
    for binding in _bindings(facts, culprit):
        placed = _at_name(facts, culprit, binding)
        if placed is not None:
            return [placed]
    return None


def _at_name(facts: Facts, culprit: Culprit, binding: Binding) -> _Placed | None:
    site, name = binding.site, binding.name
    tree, statement = site.tree, site.stmt
    style = _style(facts, site, culprit)
    if style is None or not name.isidentifier() or name == "self":
        return None
    trailer, guard = style
    if binding.kind == "assign" and binding.value is not None and _is_plain_access(binding.value) and guard is None:
        if not isinstance(binding.value, ast.Name):
            return _appended(tree, binding.value, trailer, name)
    code = f"{name} = {name}{trailer}"
    if guard is not None:
        code = f"if {guard}:\n    {code}"
    if binding.kind == "target" and isinstance(statement, (ast.For, ast.AsyncFor)):
        where = Where.BODY_START
    elif binding.kind == "param":
        function = site.level.frame.node
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        edit = InsertStatement(tree.path, tree.span(function), Where.BODY_START, code)
        return _Placed(edit, f"`{name}`")
    elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.With)):
        where = Where.BODY_START if isinstance(statement, ast.With) else Where.AFTER
    else:
        return None
    return _Placed(InsertStatement(tree.path, tree.span(statement), where, code), f"`{name}`")


def _style(facts: Facts, site: Site, culprit: Culprit, level: Level | None = None) -> tuple[str, str | None] | None:
    """How this function moves things: the code to append, and the flag under which it does so."""
    level = level or site.level
    move = last_move(facts.moves, culprit.meetings[0].site.order)
    if move is not None and move.legacy:
        legacy = _legacy(site, level, move)
        if legacy is not None:
            return legacy
    like = move.arguments if move is not None else None
    device = device_at(site, level, facts.preferred_device, like=like)
    if device is None:
        device = _device_of_module(culprit, site, level)
    if device is None and move is not None and move.arguments.strip("\"'").startswith("cuda"):
        device = move.arguments
    return (f".to({device}, non_blocking=True)", None) if device is not None else None


def _legacy(site: Site, level: Level, move: Move) -> tuple[str, str | None] | None:
    call = move.site.node
    assert isinstance(call, ast.Call)
    parts = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not all(all_live(site, level, part) for part in parts):
        return None
    if move.guard is None:
        return move.trailer(), None
    if not all_live(site, level, move.guard.test):
        return None
    guard = move.site.tree.source(move.guard.test)
    inside = any(
        isinstance(parent, ast.If) and ast.unparse(parent.test) == ast.unparse(move.guard.test)
        for parent in site.tree.ancestors(level.stmt)
    )
    return move.trailer(), None if inside else guard


def _device_of_module(culprit: Culprit, site: Site, level: Level) -> str | None:
    """``next(model.parameters()).device``, where the model has a name and the device has none."""
    wanted = {operand.module.id for meeting in culprit.meetings for operand in meeting.accelerator if operand.module}
    assert site.memory is not None
    above = set(wanted)
    for key, record in site.memory.heap.items():
        if record.kind == "module" and any(getattr(value, "id", None) in above for value in record.fields.values()):
            above.add(key)
    names = [name for name in module_names(site, level, above) if name != "self"]
    return f"next({names[0]}.parameters()).device" if names else None


# --- the whole batch ------------------------------------------------------------------------------------------------
def _whole_batch(facts: Facts, culprit: Culprit, siblings: Sequence[Transfer]) -> list[_Placed] | None:
    """``model(*batch)`` and ``model(**batch)``: everything that the batch holds, in one comprehension."""
    if siblings:
        return None
    root = Culprit(culprit.key, (), culprit.meetings, culprit.texts)
    for binding in _bindings(facts, root) or _held(facts, culprit):
        starred = _star(culprit, binding.name)
        style = _style(facts, binding.site, culprit)
        if starred is None or style is None or style[1] is not None:
            continue
        if starred == 2:
            code = f"{binding.name} = {{k: v{style[0]} for k, v in {binding.name}.items()}}"
        else:
            code = f"{binding.name} = [item{style[0]} for item in {binding.name}]"
        statement = binding.site.stmt
        loop = isinstance(statement, (ast.For, ast.AsyncFor))
        where = Where.BODY_START if loop else Where.AFTER
        tree = binding.site.tree
        return [_Placed(InsertStatement(tree.path, tree.span(statement), where, code), f"`{binding.name}`")]
    return None


def _held(facts: Facts, culprit: Culprit) -> list[Binding]:
    """Names that are bound to the container itself, where its shape is known."""
    return []


def _star(culprit: Culprit, name: str) -> int | None:
    """1 where some call takes ``*name``, 2 where it takes ``**name``."""
    for meeting in culprit.meetings:
        for level in meeting.site.levels:
            for node in ast.walk(level.stmt):
                if isinstance(node, ast.Starred) and isinstance(node.value, ast.Name) and node.value.id == name:
                    return 1
                if isinstance(node, ast.keyword) and node.arg is None and isinstance(node.value, ast.Name):
                    if node.value.id == name:
                        return 2
    return None


# --- where it is used -----------------------------------------------------------------------------------------------
def _at_uses(facts: Facts, culprit: Culprit, siblings: Sequence[Transfer]) -> list[_Placed] | None:
    """Appended to the item in each operation that needs it on the device."""
    placed: dict[tuple[object, ...], _Placed] = {}
    for meeting, text in zip(culprit.meetings, culprit.texts):
        found = _use(meeting, text)
        if found is None:
            return None
        level, node = found
        if siblings and same_function(siblings[-1].site.level, level):
            trailer = Move(siblings[-1].site).trailer()
        else:
            style = _style(facts, meeting.site, culprit, level)
            if style is None or style[1] is not None:
                return None
            trailer = style[0]
        span = level.tree.span(node)
        placed[(level.tree.path, span)] = _appended(level.tree, node, trailer, ast.unparse(node))
    return list(placed.values())


def _use(meeting: Meeting, text: str) -> tuple[Level, ast.expr] | None:
    """The expression that brings the item into the operation: in the failing statement, or in the call that led there."""
    node = meeting.site.node
    found = find_expression(node, text) if text != "…" else None
    if found is not None and _is_plain_access(found):
        return meeting.site.level, found
    return None


