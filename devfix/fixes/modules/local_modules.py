"""Moves of modules that the function which calls them constructs, to the device of a tensor there."""

from __future__ import annotations

import ast

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame
from devfix.analysis.observations import DeviceMismatch
from devfix.fixes.modules.module_roots import RootModule
from devfix.fixes.value_scope import device_for_tensor
from devfix.model import AppendCode, Fix

__all__ = ["move_to_operand"]


def move_to_operand(observations: Observations, mismatch: DeviceMismatch, root: RootModule) -> Fix | None:
    """Return the fix that constructs a module where its input is: ``pool = nn.Conv1d(3, 3, 3).to(x.device)``."""
    made, node = root.allocated_at.call_frame, root.allocated_at.node
    is_used_here = any(used.activation is made.activation for used in mismatch.point.call_stack)
    if not is_used_here or made.activation.function is None or not isinstance(node, ast.Call):
        return None
    frame = CallFrame(made.activation, made.stmt)
    device = device_for_tensor(observations, mismatch.point, frame, outside=False)
    if device is None:
        return None
    edit = AppendCode(made.tree.path, made.tree.span(node), f".to({device})")
    return Fix(f"construct the module on `{device}`", (edit,))
