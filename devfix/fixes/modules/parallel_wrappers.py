"""Moves of modules that are only wrapped (``DataParallel``, ``DistributedDataParallel``).

The wrapper names the device.
"""

from __future__ import annotations

import ast

from devfix.analysis.domain.location import CallFrame
from devfix.analysis.domain.objects import Module
from devfix.analysis.domain.values import Pointer, alternatives
from devfix.analysis.observations import DeviceMismatch
from devfix.analysis.scopes import visible
from devfix.fixes.insertion_point import all_live
from devfix.fixes.module_move import ModuleMove
from devfix.fixes.modules.module_roots import RootModule
from devfix.fixes.reorder import reach
from devfix.model import AppendCode, Fix, InsertStatement, Where
from devfix.syntax.tree import text_of

__all__ = ["declare_device", "move_for_wrapper"]

_DECLARATION = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")'


def move_for_wrapper(mismatch: DeviceMismatch, call_frame: CallFrame, root: RootModule) -> ModuleMove | None:
    """Return ``.to(local_rank)`` for a module that is wrapped with ``device_ids=[local_rank]``."""
    call = _wrapper(mismatch, root)
    ids = next((keyword.value for keyword in call.keywords if keyword.arg == "device_ids"), None) if call else None
    if not isinstance(ids, ast.List) or not ids.elts or isinstance(ids.elts[0], ast.Starred):
        return None
    first = ids.elts[0]
    if call not in call_frame.tree.parents or not all_live(mismatch.point, call_frame, first):
        return None
    names = {node.id for node in ast.walk(first) if isinstance(node, ast.Name)}
    return ModuleMove(f".to({call_frame.tree.source(first)})", None, None, None, frozenset(names))


def declare_device(mismatch: DeviceMismatch, root: RootModule) -> Fix | None:
    """Return a fix that declares a device for a program that has none and relies on ``DataParallel``.

    ``DataParallel`` requires the module on ``device_ids[0]``:
    https://docs.pytorch.org/docs/stable/generated/torch.nn.DataParallel.html
    """
    call, point = _wrapper(mismatch, root), root.allocated_at
    call_frame, node = point.call_frame, point.node
    if call is None or text_of(call.func).split(".")[-1] != "DataParallel" or not isinstance(node, ast.Call):
        return None
    assign = call_frame.stmt
    if not isinstance(assign, ast.Assign) or assign.value is not node or call not in call_frame.tree.parents:
        return None
    is_bound = (
        "device" in visible(mismatch.point, call_frame)
        or "device" in reach(call_frame.tree, call_frame.tree.tree).writes
    )
    if is_bound or "torch" not in visible(mismatch.point, call_frame):
        return None
    path, tree = call_frame.tree.path, call_frame.tree
    edits = (
        InsertStatement(path, tree.span(assign), Where.BEFORE, _DECLARATION),
        AppendCode(path, tree.span(node), ".to(device)"),
    )
    return Fix("declare a device and move the module to it", edits)


def _wrapper(mismatch: DeviceMismatch, root: RootModule) -> ast.Call | None:
    """Return the call that wraps the root module: the failing call, or the construction of the wrapper."""
    node, state = mismatch.point.node, mismatch.point.state
    if isinstance(node, ast.Call) and text_of(node.func).split(".")[-1] in ("DDP", "DistributedDataParallel"):
        return node
    for _, obj in state.heap_objects() if state is not None else ():
        wrapped = alternatives(obj.fields["module"]) if isinstance(obj, Module) and obj.data_parallel else ()
        if any(isinstance(option, Pointer) and option.id in root.chain for option in wrapped):
            allocated_at = obj.allocated_at.node if obj.allocated_at is not None else None
            return allocated_at if isinstance(allocated_at, ast.Call) else None
    return None
