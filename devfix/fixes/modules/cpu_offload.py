"""Modules kept on the CPU on purpose: move their inputs to the CPU and their outputs back."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.objects import module_at
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import ACCELERATOR, CPU, Pointer, Tensor, alternatives
from devfix.analysis.observations import DeviceMismatch, Operand
from devfix.analysis.scenarios import device_argument_of
from devfix.analysis.scopes import device_of, value_of
from devfix.fixes.devices.derived_devices import is_derived_device
from devfix.fixes.insertion_point import headers
from devfix.fixes.modules.module_roots import chain_of
from devfix.fixes.value_scope import device_for_tensor
from devfix.model import AppendCode, Edit, Fix
from devfix.syntax.tree import SourceTree

__all__ = ["OffloadedModule", "offload_move", "offloaded_modules", "transfer_fixes"]


@dataclass(eq=False)
class OffloadedModule:
    """A module kept on the CPU: its move to the CPU, its name, and its calls with accelerator tensors.

    ``calls`` maps each call to its program point and call frame. ``returns_tensor`` is true if the output is known to
    be a tensor; a pretrained transformers model returns an object without ``.to()``.
    """

    moved: ProgramPoint
    name: str
    returns_tensor: bool
    calls: dict[ast.Call, tuple[ProgramPoint, CallFrame]] = field(default_factory=dict)


def offload_move(observations: Observations, point: ProgramPoint, part: Pointer) -> ProgramPoint | None:
    """Return the move of ``part`` to the CPU if the program keeps the module there on purpose, else ``None``.

    A move is intentional if the module is never trained, was already on the CPU, and is moved in a separate statement
    (``teacher.cpu()``) or to a dedicated device (``.to(teacher_device)``). A literal in the construction and the
    program's only ``device`` may be mistakes.
    """
    state = point.state
    moved = state.heap_object(part).last_moved_at if state is not None and state.has(part.id) else None
    if state is None or moved is None or not isinstance(moved.node, ast.Call) or moved.state is None:
        return None
    assignments = observations.device_assignments.get(moved.node, {})
    if set(assignments) != {CPU} or state.heap_object(part).devices != frozenset({CPU}):
        return None
    if moved.state.has(part.id) and moved.state.heap_object(part).devices != frozenset({CPU}):
        return None  # moved from the accelerator: DEV701 checks that it is moved back
    chain = set(chain_of(state, part))
    if any(chain & set(step.modules) for step in observations.steps):
        return None
    return moved if _is_intended(moved, moved.node) else None


def _is_intended(moved: ProgramPoint, call: ast.Call) -> bool:
    device_argument = device_argument_of(call)
    if isinstance(device_argument, (ast.Name, ast.Attribute)):
        value, name = (
            value_of(moved, moved.call_frame, device_argument),
            ast.unparse(device_argument).split(".")[-1].lower(),
        )
        if name in ("device", "dev") or value is None:
            return False
        return {device_of(option) for option in alternatives(value)} == {CPU} and not is_derived_device(
            moved, device_argument
        )
    return isinstance(call.func, ast.Attribute) and isinstance(call.func.value, (ast.Name, ast.Attribute))


def offloaded_modules(observations: Observations) -> list[OffloadedModule]:
    """Return each such module that is called with accelerator tensors, with those calls."""
    found: dict[ProgramPoint, OffloadedModule] = {}
    for mismatch in observations.mismatches:
        for operand in mismatch.cpu:
            moved = offload_move(observations, mismatch.point, operand.module) if operand.module is not None else None
            called = _call_of_module(mismatch, operand) if moved is not None and not mismatch.latent else None
            if moved is not None and called is not None:
                call, call_frame = called
                returns_tensor = not _returns_object(mismatch.point, operand)
                offloaded = found.setdefault(moved, OffloadedModule(moved, ast.unparse(call.func), returns_tensor))
                offloaded.calls.setdefault(call, (mismatch.point, call_frame))
    return list(found.values())


def _returns_object(point: ProgramPoint, operand: Operand) -> bool:
    assert point.state is not None
    assert operand.module is not None
    obj = module_at(point.state, operand.module)
    return obj is not None and obj.opaque and not obj.name.startswith(("torchvision.", "torch.", "timm."))


def _call_of_module(mismatch: DeviceMismatch, operand: Operand) -> tuple[ast.Call, CallFrame] | None:
    """Return the outermost call on the stack of a mismatch that runs the module, with its call frame."""
    state = mismatch.point.state
    assert state is not None
    assert operand.module is not None
    chain = set(chain_of(state, operand.module))
    for call_frame in mismatch.point.call_stack:
        for root in headers(call_frame.stmt):
            for node in ast.walk(root):
                if isinstance(node, ast.Call) and _is_one_of(state, mismatch.point, call_frame, node.func, chain):
                    return node, call_frame
    return None


def _is_one_of(state: State, point: ProgramPoint, call_frame: CallFrame, node: ast.expr, chain: set[int]) -> bool:
    value = value_of(point, call_frame, node) if isinstance(node, (ast.Name, ast.Attribute)) else None
    return any(isinstance(option, Pointer) and option.id in chain for option in (alternatives(value) if value else ()))


def transfer_fixes(observations: Observations, offloaded: OffloadedModule) -> Iterator[Fix]:
    """Yield fixes that move the inputs to the CPU; the second one also moves the outputs back."""
    input_edits: dict[Edit, None] = {}
    output_edits: dict[Edit, None] = {}
    for call, (point, call_frame) in offloaded.calls.items():
        edits = _move_inputs(point, call_frame, call)
        if not edits:
            return
        input_edits.update(dict.fromkeys(edits))
        device = device_for_tensor(observations, point, call_frame, [ast.unparse(argument) for argument in call.args])
        if device is not None and offloaded.returns_tensor and _returns_tensor(observations, call_frame.tree, call):
            output_edits[AppendCode(call_frame.tree.path, call_frame.tree.span(call), f".to({device})")] = None
    yield Fix(f"move the input of `{offloaded.name}` to the CPU", tuple(input_edits))
    if len(output_edits) == len(offloaded.calls):
        yield Fix(f"move the input of `{offloaded.name}` to the CPU and its output back", (*input_edits, *output_edits))


def _move_inputs(point: ProgramPoint, call_frame: CallFrame, call: ast.Call) -> list[Edit]:
    """Return ``.cpu()`` edits for all accelerator arguments; nothing if an argument's device is unknown."""
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    if any(isinstance(node, ast.Starred) for node in arguments) or any(
        keyword.arg is None for keyword in call.keywords
    ):
        return []
    found: list[Edit] = []
    for node in arguments:
        if isinstance(node, ast.Constant):
            continue
        value = value_of(point, call_frame, node)
        tensors = [option for option in alternatives(value) if isinstance(option, Tensor)] if value is not None else []
        if any(tensor.device == ACCELERATOR for tensor in tensors) or (value is None and len(arguments) == 1):
            found.append(AppendCode(call_frame.tree.path, call_frame.tree.span(node), ".cpu()"))
        elif value is None:
            return []
    return found


def _returns_tensor(observations: Observations, tree: SourceTree, call: ast.Call) -> bool:
    """Whether the context of a call shows that it returns a single tensor."""
    if not observations.returns_tensor.get(call, True):
        return False
    parent = tree.parents.get(call)
    if isinstance(parent, ast.Assign):
        return not any(isinstance(target, (ast.Tuple, ast.List)) for target in parent.targets)
    return not (isinstance(parent, ast.Subscript) or (isinstance(parent, ast.Attribute) and parent.attr == "logits"))
