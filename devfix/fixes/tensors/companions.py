"""Data that goes into one call together with other data: moved where the other is, by a statement like its own."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from devfix.analysis import Facts
from devfix.analysis.domain.location import Level, Site
from devfix.analysis.domain.values import CPU, Tensor, options
from devfix.analysis.move_observations import Transfer
from devfix.analysis.observations import Meeting
from devfix.analysis.scopes import value_of
from devfix.fixes.device_expression import bound_before
from devfix.fixes.insertion_point import Move, headers, inside_module
from devfix.model import InsertStatement, Where

__all__ = ["beside_companion"]


def beside_companion(facts: Facts, key: int, meetings: Iterable[Meeting]) -> list[InsertStatement]:
    """``adj = adj.cuda()`` behind ``features = features.cuda()``, for ``model(features, adj)``.

    ``key`` is where the data was made.  Nothing where some of the ``meetings`` comes from no such call.
    """
    edits: dict[InsertStatement, None] = {}
    for meeting in dict.fromkeys(meetings):
        found = next(_beside(facts, key, meeting), None)
        if found is None:
            return []
        edits[found] = None
    return list(edits)


def _beside(facts: Facts, key: int, meeting: Meeting) -> Iterator[InsertStatement]:
    for level in meeting.site.levels:
        if inside_module(level):
            return
        for call in (node for root in headers(level.stmt) for node in ast.walk(root) if isinstance(node, ast.Call)):
            names = [argument.id for argument in call.args if isinstance(argument, ast.Name)]
            names += [keyword.value.id for keyword in call.keywords if isinstance(keyword.value, ast.Name)]
            for name in names:
                if _is_the_culprit(meeting.site, level, name, key):
                    yield from _behind_moves(facts, level, name, [other for other in names if other != name])


def _is_the_culprit(site: Site, level: Level, name: str, key: int) -> bool:
    value = value_of(site, level, ast.Name(name, ast.Load()))
    return any(
        isinstance(option, Tensor) and option.place == CPU and any(birth.key == key for birth in option.births)
        for option in (options(value) if value is not None else ())
    )


def _behind_moves(facts: Facts, level: Level, name: str, others: list[str]) -> Iterator[InsertStatement]:
    """Behind the last move of a companion, in the function to which the names of both belong."""
    moves = [transfer for transfer in facts.transfers if _rebinds(transfer) in others]
    for transfer in sorted(moves, key=lambda transfer: transfer.site.key, reverse=True):
        site = transfer.site
        if site.level.frame.env != _home(level, name) or site.level.frame.env != _home(level, _rebinds(transfer)):
            continue
        last = max((node.lineno for node in _stores(site.level.frame.node, name)), default=0)
        if last >= site.stmt.lineno or not bound_before(site.level, name):
            continue
        code = f"{name} = {name}{Move(site).trailer()}"
        yield InsertStatement(site.tree.path, site.tree.span(site.stmt), Where.AFTER, code)


def _rebinds(transfer: Transfer) -> str:
    """``x`` of a statement ``x = x.to(device)``; empty for another one."""
    stmt, called = transfer.site.stmt, transfer.call.func
    if transfer.place != "accelerator" or not isinstance(stmt, ast.Assign) or stmt.value is not transfer.call:
        return ""
    moved = called.value.id if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) else None
    named = [target.id for target in stmt.targets if isinstance(target, ast.Name)]
    return moved if moved is not None and named == [moved] else ""


def _home(level: Level, name: str) -> int:
    """The scope that a name of a function belongs to: its own, or the module's."""
    frame = level.frame
    own = {node.id for node in _stores(frame.node, name)}
    given = {argument.arg for argument in ast.walk(frame.node) if isinstance(argument, ast.arg)}
    return frame.env if name in own | given else frame.module.env


def _stores(function: ast.AST, name: str) -> Iterator[ast.Name]:
    return (
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
    )
