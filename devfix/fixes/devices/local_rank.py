"""Processes of one machine: which line uses accelerator 0, and what names the process's own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from devfix.analysis import Facts
from devfix.analysis.domain.location import Level, Site
from devfix.analysis.domain.values import Number, Ref, Text, Unknown
from devfix.analysis.observations import Meeting, Operand
from devfix.analysis.scenarios import device_words
from devfix.analysis.scopes import visible
from devfix.fixes.device_expression import binds, bound_before
from devfix.fixes.insertion_point import Move, enclosing
from devfix.model import Edit, InsertStatement, ReplaceExpression, Where
from devfix.syntax.tree import SourceTree, text_of

__all__ = ["Stray", "current_edit", "index_edits", "rank_at", "strays"]

_RANKS = ("local_rank", "localrank", "LOCAL_RANK")
_OWNERS = ("self", "args", "opt", "cfg", "config", "hparams", "trainer")


@dataclass(frozen=True, eq=False)
class Stray:
    """A line that uses accelerator 0 in every process.

    ``named`` is the expression that says so (``"cuda:0"``, ``0``), ``None`` where the line means the current one.
    """

    site: Site
    node: ast.expr
    named: ast.expr | None
    meeting: Meeting


def strays(facts: Facts) -> Iterator[Stray]:
    """What meets the accelerator of its process, or its process group, from accelerator 0: each line once."""
    two = facts.two
    if two is None or not two.distributed:
        return
    found: dict[ast.AST, Stray] = {}
    for meeting in two.meetings:
        turned = two.set_current is not None and two.set_current.order < meeting.site.order
        for operand in meeting.cpu if turned else meeting.accelerator:
            stray = _stray(two, meeting, operand)
            if stray is not None:
                found.setdefault(stray.named or stray.node, stray)
    yield from found.values()


def _stray(two: Facts, meeting: Meeting, operand: Operand) -> Stray | None:
    site: Site | None = None
    calls = list(two.placings)
    memory = meeting.site.memory
    if operand.module is not None and memory is not None:
        site = memory.record(operand.module).moved
    elif operand.births and operand.births[0].kind == "moved":
        site = next(iter(two.placings[calls[operand.births[0].key]].values())).site
    elif operand.text.startswith(("[", "(")):  # device_ids of a wrapper
        named = _ids(meeting.site.node)
        return Stray(meeting.site, named, _zero(meeting.site.tree, named), meeting) if named is not None else None
    if site is None or not isinstance(site.node, ast.Call):
        return None
    words = _words(site.node)
    return Stray(site, site.node, None if words is None else _zero(site.tree, words), meeting)


def _words(call: ast.Call) -> ast.expr | None:
    """What a move, or a factory, says of its device; ``None`` where it means the current accelerator."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "cuda" and call.args:
        return call.args[0]
    return device_words(call)


def _ids(call: ast.AST) -> ast.expr | None:
    """The one device of ``device_ids``."""
    if not isinstance(call, ast.Call):
        return None
    given = [keyword.value for keyword in call.keywords if keyword.arg == "device_ids"] or call.args[1:2]
    listed = given[0] if given else None
    return listed.elts[0] if isinstance(listed, (ast.List, ast.Tuple)) and len(listed.elts) == 1 else None


def _zero(tree: SourceTree, node: ast.expr, depth: int = 0) -> ast.expr | None:
    """The literal that says 0: ``"cuda:0"``, ``0``, the index in ``torch.device("cuda", 0)``; through plain names."""
    if isinstance(node, ast.Constant):
        return node if node.value in ("cuda:0", 0) and node.value is not False else None
    if isinstance(node, ast.Call) and text_of(node.func).split(".")[-1] == "device" and node.args:
        return _zero(tree, node.args[-1], depth)
    if isinstance(node, ast.IfExp):
        return _zero(tree, node.body, depth)
    if isinstance(node, ast.Name) and depth < 3:
        bindings = [
            stmt.value
            for stmt in tree.nodes
            if isinstance(stmt, ast.Assign) and [text_of(target) for target in stmt.targets] == [node.id]
        ]
        return _zero(tree, bindings[0], depth + 1) if len(bindings) == 1 else None
    return None


# --- the process's own number ---------------------------------------------------------------------------------------
def rank_at(facts: Facts, site: Site, level: Level) -> str | None:
    """An expression for the number of the process on its machine: ``local_rank``, ``args.local_rank``."""
    names = visible(site, level)
    plain = [name for name in names if name.lower() in ("local_rank", "localrank")]
    plain += [name for name, value in names.items() if _is_rank(value) and name not in plain]
    for name in plain:
        if _may_count(names[name]) and bound_before(level, name):
            return name
    for owner in _OWNERS:
        text = f"{owner}.local_rank"
        if owner in names and bound_before(level, owner) and _has(site, level, text):
            return text
    return None


def _is_rank(value: object) -> bool:
    """The value of ``LOCAL_RANK``, or what a launcher gives as the first argument."""
    symbol = getattr(value, "symbol", "") if isinstance(value, (Number, Text, Unknown)) else ""
    return isinstance(value, Number) and (symbol == "rank" or any(word in symbol for word in _RANKS))


def _may_count(value: object) -> bool:
    return isinstance(value, (Number, Unknown))


def _has(site: Site, level: Level, text: str) -> bool:
    owner, name = text.split(".")
    value = visible(site, level)[owner]
    if isinstance(value, Ref) and site.memory is not None:
        held = site.memory.record(value).fields.get(name)
        return held is not None and _may_count(held)
    return text in level.tree.text


# --- edits ----------------------------------------------------------------------------------------------------------
def index_edits(stray: Stray, rank: str) -> Iterator[Edit]:
    """``"cuda:0"`` becomes ``f"cuda:{local_rank}"``, ``0`` becomes ``local_rank``; ``output_device`` goes along."""
    tree = stray.site.tree
    literals = [stray.named]
    if stray.named is stray.node and isinstance(stray.meeting.site.node, ast.Call):
        given = stray.meeting.site.node.keywords
        literals += [_zero(tree, keyword.value) for keyword in given if keyword.arg == "output_device"]
    for node in literals:
        if isinstance(node, ast.Constant):
            code = rank if node.value == 0 else f'f"cuda:{{{rank}}}"'
            yield ReplaceExpression(tree.path, tree.span(node), code)


def current_edit(facts: Facts, stray: Stray) -> Edit | None:
    """``torch.cuda.set_device(local_rank)``, behind what makes the number known, ahead of the first use."""
    for level in reversed(stray.site.levels):
        rank = rank_at(facts, stray.site, level)
        if rank is None or "torch" not in visible(stray.site, level):
            continue
        code = f"torch.cuda.set_device({rank})"
        guard = Move(stray.site).guard
        if isinstance(guard, ast.If) and level is stray.site.level and guard is _outermost(level):
            return InsertStatement(level.tree.path, level.tree.span(guard), Where.BODY_START, code)
        if facts.asks_available:
            code = f"if torch.cuda.is_available():\n    {code}"
        anchor = _behind(level, rank)
        where = Where.BEFORE if anchor is None else Where.AFTER
        return InsertStatement(level.tree.path, level.tree.span(anchor or _outermost(level)), where, code)
    return None


def _outermost(level: Level) -> ast.stmt:
    around = enclosing(level.tree, level.stmt, (ast.stmt,))
    return around[-1] if around else level.stmt


def _behind(level: Level, rank: str) -> ast.stmt | None:
    """The last statement of the function's body, ahead of the level's, that binds the number or starts the group."""
    first, name = _outermost(level), rank.split(".")[0]
    body = getattr(level.frame.node, "body", [])
    found = None
    for statement in body if isinstance(body, list) else []:
        if statement is first:
            break
        starts = isinstance(statement, ast.Expr) and "init_process_group" in text_of(statement.value)
        if binds(statement, name) or starts:
            found = statement
    return found
