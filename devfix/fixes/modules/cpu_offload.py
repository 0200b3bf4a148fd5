"""Modules that the program keeps on the CPU on purpose: their input comes there, and their output goes back."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import ACCELERATOR, CPU, Pointer, Tensor, alternatives
from devfix.analysis.observations import DeviceMismatch, Operand
from devfix.analysis.scenarios import device_words
from devfix.analysis.scopes import device_of, value_of
from devfix.fixes.devices.derived_devices import read_off
from devfix.fixes.insertion_point import headers
from devfix.fixes.modules.module_roots import chain_of
from devfix.fixes.value_scope import device_for_tensor
from devfix.model import AppendCode, Edit, Fix
from devfix.syntax.tree import SourceTree

__all__ = ["ListAppend", "kept_there", "stays"]


@dataclass(eq=False)
class ListAppend:
    """A module that stays on the CPU: where it was sent there, its name, and the calls that bring it the accelerator's.

    ``calls`` are the places of these calls, each with the moment at which it fails.  ``readable`` says that what it
    gives is known to be a tensor: a pretrained model of transformers gives an object that cannot be moved.
    """

    moved: ProgramPoint
    name: str
    readable: bool
    calls: dict[ast.Call, tuple[ProgramPoint, CallFrame]] = field(default_factory=dict)


def stays(observations: Observations, point: ProgramPoint, part: Pointer) -> ProgramPoint | None:
    """Where the module was sent to the CPU, if its program means it to stay there.

    It never trains, it was there already, and the program says so in a statement of its own (``teacher.cpu()``) or
    with a device that it has named for it (``.to(teacher_device)``): a literal at its construction, and the program's
    one ``device``, may be a slip.
    """
    memory = point.state
    moved = memory.heap_object(part).last_moved_at if memory is not None and memory.has(part.id) else None
    if memory is None or moved is None or not isinstance(moved.node, ast.Call) or moved.state is None:
        return None
    placed = observations.device_assignments.get(moved.node, {})
    if set(placed) != {CPU} or memory.heap_object(part).devices != frozenset({CPU}):
        return None
    if moved.state.has(part.id) and moved.state.heap_object(part).devices != frozenset({CPU}):
        return None  # it comes from the accelerator: DEV701 knows whether it goes back
    chain = set(chain_of(memory, part))
    if any(chain & set(step.modules) for step in observations.steps):
        return None
    return moved if _says_so(moved, moved.node) else None


def _says_so(moved: ProgramPoint, call: ast.Call) -> bool:
    words = device_words(call)
    if isinstance(words, (ast.Name, ast.Attribute)):
        value, name = value_of(moved, moved.call_frame, words), ast.unparse(words).split(".")[-1].lower()
        if name in ("device", "dev") or value is None:
            return False
        return {device_of(option) for option in alternatives(value)} == {CPU} and not read_off(moved, words)
    return isinstance(call.func, ast.Attribute) and isinstance(call.func.value, (ast.Name, ast.Attribute))


def kept_there(observations: Observations) -> list[ListAppend]:
    """Each such module that is given values on the accelerator, by the places that give them."""
    found: dict[ProgramPoint, ListAppend] = {}
    for mismatch in observations.mismatches:
        for operand in mismatch.cpu:
            moved = stays(observations, mismatch.point, operand.module) if operand.module is not None else None
            called = _called(mismatch, operand) if moved is not None and not mismatch.latent else None
            if moved is not None and called is not None:
                call, call_frame = called
                readable = not _gives_object(mismatch.point, operand)
                kept = found.setdefault(moved, ListAppend(moved, ast.unparse(call.func), readable))
                kept.calls.setdefault(call, (mismatch.point, call_frame))
    return list(found.values())


def _gives_object(point: ProgramPoint, operand: Operand) -> bool:
    assert point.state is not None
    assert operand.module is not None
    obj = point.state.heap_object(operand.module)
    return bool(obj.get("opaque")) and not obj.name.startswith(("torchvision.", "torch.", "timm."))


def _called(mismatch: DeviceMismatch, operand: Operand) -> tuple[ast.Call, CallFrame] | None:
    """The outermost call, on the stack of a meeting, of the module to which its weights belong."""
    memory = mismatch.point.state
    assert memory is not None
    assert operand.module is not None
    chain = set(chain_of(memory, operand.module))
    for call_frame in mismatch.point.call_stack:
        for root in headers(call_frame.stmt):
            for node in ast.walk(root):
                if isinstance(node, ast.Call) and _is_one_of(memory, mismatch.point, call_frame, node.func, chain):
                    return node, call_frame
    return None


def _is_one_of(memory: State, point: ProgramPoint, call_frame: CallFrame, node: ast.expr, chain: set[int]) -> bool:
    value = value_of(point, call_frame, node) if isinstance(node, (ast.Name, ast.Attribute)) else None
    return any(isinstance(option, Pointer) and option.id in chain for option in (alternatives(value) if value else ()))


def trip(observations: Observations, kept: ListAppend) -> Iterator[Fix]:
    """The input brought to the CPU, and where that alone does not do, the output brought back."""
    there: dict[Edit, None] = {}
    back: dict[Edit, None] = {}
    for call, (point, call_frame) in kept.calls.items():
        edits = _inputs(point, call_frame, call)
        if not edits:
            return
        there.update(dict.fromkeys(edits))
        device = device_for_tensor(observations, point, call_frame, [ast.unparse(argument) for argument in call.args])
        if device is not None and kept.readable and _gives_one(observations, call_frame.tree, call):
            back[AppendCode(call_frame.tree.path, call_frame.tree.span(call), f".to({device})")] = None
    yield Fix(f"bring the input of `{kept.name}` to the CPU", tuple(there))
    if len(back) == len(kept.calls):
        yield Fix(f"bring the input of `{kept.name}` to the CPU, and its output back", (*there, *back))


def _inputs(point: ProgramPoint, call_frame: CallFrame, call: ast.Call) -> list[Edit]:
    """``.cpu()`` behind each argument on the accelerator; nothing where some argument cannot be told."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if any(isinstance(node, ast.Starred) for node in given) or any(keyword.arg is None for keyword in call.keywords):
        return []
    found: list[Edit] = []
    for node in given:
        if isinstance(node, ast.Constant):
            continue
        value = value_of(point, call_frame, node)
        tensors = [option for option in alternatives(value) if isinstance(option, Tensor)] if value is not None else []
        if any(tensor.device == ACCELERATOR for tensor in tensors) or (value is None and len(given) == 1):
            found.append(AppendCode(call_frame.tree.path, call_frame.tree.span(node), ".cpu()"))
        elif value is None:
            return []
    return found


def _gives_one(observations: Observations, tree: SourceTree, call: ast.Call) -> bool:
    """Whether a call gives one tensor, as far as its neighbours tell."""
    if not observations.gives_tensor.get(call, True):
        return False
    parent = tree.parents.get(call)
    if isinstance(parent, ast.Assign):
        return not any(isinstance(target, (ast.Tuple, ast.List)) for target in parent.targets)
    return not (isinstance(parent, ast.Subscript) or (isinstance(parent, ast.Attribute) and parent.attr == "logits"))


__all__ += ["trip"]
