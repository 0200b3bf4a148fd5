"""Where a module belongs that is only wrapped (``DataParallel``, ``DistributedDataParallel``): the wrapper says it."""

from __future__ import annotations

import ast

from devfix.analysis.domain.location import CallFrame
from devfix.analysis.domain.values import Pointer, alternatives
from devfix.analysis.observations import DeviceMismatch
from devfix.analysis.scopes import visible
from devfix.fixes.insertion_point import all_live
from devfix.fixes.module_move import ModuleMove
from devfix.fixes.modules.module_roots import RootModule
from devfix.fixes.reorder import reach
from devfix.model import AppendCode, Fix, InsertStatement, Where
from devfix.syntax.tree import text_of

__all__ = ["declared", "module_move_of_wrapper"]

_CHOICE = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")'


def module_move_of_wrapper(mismatch: DeviceMismatch, call_frame: CallFrame, root: RootModule) -> ModuleMove | None:
    """``.to(local_rank)`` for a module that is wrapped with ``device_ids=[local_rank]``."""
    call = _wrapper(mismatch, root)
    ids = next((keyword.value for keyword in call.keywords if keyword.arg == "device_ids"), None) if call else None
    if not isinstance(ids, ast.List) or not ids.elts or isinstance(ids.elts[0], ast.Starred):
        return None
    first = ids.elts[0]
    if call not in call_frame.tree.parents or not all_live(mismatch.point, call_frame, first):
        return None
    names = {node.id for node in ast.walk(first) if isinstance(node, ast.Name)}
    return ModuleMove(f".to({call_frame.tree.source(first)})", None, None, None, frozenset(names))


def declared(mismatch: DeviceMismatch, root: RootModule) -> Fix | None:
    """A device for a program that names none and leaves everything to ``DataParallel``, which wants the module there.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.DataParallel.html
    """
    call, point = _wrapper(mismatch, root), root.allocated_at
    call_frame, node = point.call_frame, point.node
    if call is None or text_of(call.func).split(".")[-1] != "DataParallel" or not isinstance(node, ast.Call):
        return None
    assign = call_frame.stmt
    if not isinstance(assign, ast.Assign) or assign.value is not node or call not in call_frame.tree.parents:
        return None
    bound = (
        "device" in visible(mismatch.point, call_frame)
        or "device" in reach(call_frame.tree, call_frame.tree.tree).writes
    )
    if bound or "torch" not in visible(mismatch.point, call_frame):
        return None
    path, tree = call_frame.tree.path, call_frame.tree
    edits = (
        InsertStatement(path, tree.span(assign), Where.BEFORE, _CHOICE),
        AppendCode(path, tree.span(node), ".to(device)"),
    )
    return Fix("choose a device, and move the module there", edits)


def _wrapper(mismatch: DeviceMismatch, root: RootModule) -> ast.Call | None:
    """The call that wraps the whole: the failing one, or that of a wrapper which holds it by now."""
    node, memory = mismatch.point.node, mismatch.point.state
    if isinstance(node, ast.Call) and text_of(node.func).split(".")[-1] in ("DDP", "DistributedDataParallel"):
        return node
    for _, obj in memory.heap_objects() if memory is not None else ():
        held = alternatives(obj.fields["module"]) if obj.get("data-parallel") and "module" in obj.fields else ()
        if any(isinstance(option, Pointer) and option.id in root.chain for option in held):
            allocated_at = obj.allocated_at.node if obj.allocated_at is not None else None
            return allocated_at if isinstance(allocated_at, ast.Call) else None
    return None
