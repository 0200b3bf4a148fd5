"""How a function moves things: the code to append, the device that it names, the flag under which it does so."""

from __future__ import annotations

import ast

from devfix.analysis import Facts
from devfix.analysis.domain.location import Level, Site
from devfix.analysis.scopes import module_names
from devfix.fixes.device_expression import device_of_a_module, said_here
from devfix.fixes.insertion_point import Move, all_live, device_at, last_move
from devfix.fixes.tensors.misplaced_items import Culprit

__all__ = ["device_words", "style_at"]


def style_at(facts: Facts, site: Site, culprit: Culprit, level: Level | None = None) -> tuple[str, str | None] | None:
    """How this function moves things: the code to append, and the flag under which it does so."""
    level = level or site.level
    move = last_move(facts.moves, culprit.meetings[0].site.order)
    if move is not None and move.legacy:
        legacy = _legacy(site, level, move)
        if legacy is not None:
            return legacy
    device = device_words(facts, site, culprit, level)
    if device is None:
        return None
    return (f".to({device}, non_blocking=True)" if _overlaps(facts, site, culprit) else f".to({device})"), None


def device_words(facts: Facts, site: Site, culprit: Culprit, level: Level | None = None) -> str | None:
    """What names the device at a level: as the last move of a module says it, or the device of a module there."""
    level = level or site.level
    move = last_move(facts.moves, culprit.meetings[0].site.order)
    like = move.arguments if move is not None else None
    device = device_at(site, level, facts.preferred_device, like=like)
    if device is None:
        device = said_here(facts, site, level) or _device_of_module(culprit, site, level)
    if device is None and move is not None and move.arguments.strip("\"'").startswith("cuda"):
        device = move.arguments
    return device


def _overlaps(facts: Facts, site: Site, culprit: Culprit) -> bool:
    """Whether new moves say ``non_blocking=True``: as the file's other moves of batches do, and where it has none.

    What the program makes itself lies in no pinned memory: it is moved so where other data is, and not of itself.
    """
    made = facts.sources[culprit.key].kind == "made"
    others = [
        transfer
        for transfer in facts.transfers
        if transfer.place == "accelerator" and transfer.site.tree is site.tree
        if transfer.birth.kind == "batch" or (made and transfer.birth.kind == "made")
    ]
    return (not others and not made) or any("non_blocking" in Move(transfer.site).arguments for transfer in others)


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
    for key, record in site.memory.records():
        if record.kind == "module" and any(getattr(value, "id", None) in above for value in record.fields.values()):
            above.add(key)
    names = [name for name in module_names(site, level, above) if name != "self"]
    return f"next({names[0]}.parameters()).device" if names else device_of_a_module(site, level)
