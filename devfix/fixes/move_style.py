"""How a function moves things: the code to append, the device that it names, the flag under which it does so."""

from __future__ import annotations

import ast

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.scopes import module_names
from devfix.fixes.device_expression import device_of_a_module, said_here
from devfix.fixes.insertion_point import Move, all_live, device_at, last_move
from devfix.fixes.tensors.misplaced_items import MisplacedItem

__all__ = ["device_words", "style_at"]


def style_at(
    observations: Observations, point: ProgramPoint, misplaced: MisplacedItem, call_frame: CallFrame | None = None
) -> tuple[str, str | None] | None:
    """How this function moves things: the code to append, and the flag under which it does so."""
    call_frame = call_frame or point.call_frame
    move = last_move(observations.moves, misplaced.mismatches[0].point.time)
    if move is not None and move.legacy:
        legacy = _legacy(point, call_frame, move)
        if legacy is not None:
            return legacy
    device = device_words(observations, point, misplaced, call_frame)
    if device is None:
        return None
    return (
        f".to({device}, non_blocking=True)" if _overlaps(observations, point, misplaced) else f".to({device})"
    ), None


def device_words(
    observations: Observations, point: ProgramPoint, misplaced: MisplacedItem, call_frame: CallFrame | None = None
) -> str | None:
    """What names the device at a level: as the last move of a module says it, or the device of a module there."""
    call_frame = call_frame or point.call_frame
    move = last_move(observations.moves, misplaced.mismatches[0].point.time)
    like = move.arguments if move is not None else None
    device = device_at(point, call_frame, observations.preferred_device, like=like)
    if device is None:
        device = said_here(observations, point, call_frame) or _device_of_module(misplaced, point, call_frame)
    if device is None and move is not None and move.arguments.strip("\"'").startswith("cuda"):
        device = move.arguments
    return device


def _overlaps(observations: Observations, point: ProgramPoint, misplaced: MisplacedItem) -> bool:
    """Whether new moves say ``non_blocking=True``: as the file's other moves of batches do, and where it has none.

    What the program makes itself lies in no pinned memory: it is moved so where other data is, and not of itself.
    """
    made = observations.sources[misplaced.key].kind == "made"
    others = [
        transfer
        for transfer in observations.transfers
        if transfer.device == "accelerator" and transfer.point.tree is point.tree
        if transfer.origin.kind == "batch" or (made and transfer.origin.kind == "made")
    ]
    return (not others and not made) or any("non_blocking" in Move(transfer.point).arguments for transfer in others)


def _legacy(point: ProgramPoint, call_frame: CallFrame, move: Move) -> tuple[str, str | None] | None:
    call = move.point.node
    assert isinstance(call, ast.Call)
    parts = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not all(all_live(point, call_frame, part) for part in parts):
        return None
    if move.guard is None:
        return move.trailer(), None
    if not all_live(point, call_frame, move.guard.test):
        return None
    guard = move.point.tree.source(move.guard.test)
    inside = any(
        isinstance(parent, ast.If) and ast.unparse(parent.test) == ast.unparse(move.guard.test)
        for parent in point.tree.ancestors(call_frame.stmt)
    )
    return move.trailer(), None if inside else guard


def _device_of_module(misplaced: MisplacedItem, point: ProgramPoint, call_frame: CallFrame) -> str | None:
    """``next(model.parameters()).device``, where the model has a name and the device has none."""
    wanted = {
        operand.module.id for mismatch in misplaced.mismatches for operand in mismatch.accelerator if operand.module
    }
    assert point.state is not None
    above = set(wanted)
    for key, obj in point.state.heap_objects():
        if obj.kind == "module" and any(getattr(value, "id", None) in above for value in obj.fields.values()):
            above.add(key)
    names = [name for name in module_names(point, call_frame, above) if name != "self"]
    return f"next({names[0]}.parameters()).device" if names else device_of_a_module(point, call_frame)
