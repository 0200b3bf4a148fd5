"""Device checks: operations whose operands must be on the same device, and the device of their result."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence, Set
from itertools import combinations
from typing import TYPE_CHECKING

from devfix.analysis.domain.declined import declines_accelerator
from devfix.analysis.domain.narrowing import tensor_of_rank
from devfix.analysis.domain.objects import module_at
from devfix.analysis.domain.records import replace
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    NONE,
    OTHER_ACCELERATOR,
    UNKNOWN_DEVICE,
    Device,
    IterableOf,
    Origin,
    Pointer,
    Tensor,
    TupleValue,
    Union,
    Value,
    alternatives,
)
from devfix.analysis.observations import DeviceMismatch, Operand
from devfix.analysis.observations.execution import OperandsCompared
from devfix.analysis.scopes import condition_of
from devfix.analysis.torch.checkpoints import note_origin_use
from devfix.analysis.transfer.conditions import is_switched_off
from devfix.analysis.transfer.placeholders import is_placeholder
from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import called_name, names_in, text_of, walk

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["OperandSet", "check_same_device", "tensor_operands", "tensors_in", "weight_operands"]


class OperandSet:
    """One operand of an operation: its alternatives, each with its device.

    Attributes:
        alternatives: pairs of device and operand.
        devices: the devices of all alternatives.
        maybe_zero_dim: whether every alternative may be 0-dimensional.
        grad: whether it may require a gradient.
        is_single_number: whether it certainly is one number.
        may_join: whether the operation accepts it as a 0-dimensional CPU tensor, if it accepts any.

    """

    def __init__(
        self,
        alternatives: Sequence[tuple[Device, Operand]],
        maybe_zero_dim: bool = False,
        grad: bool = False,
        is_single_number: bool = False,
    ) -> None:
        self.alternatives = tuple(alternatives)
        self.devices = frozenset(device for device, _ in self.alternatives)
        self.maybe_zero_dim = maybe_zero_dim
        self.grad = grad
        self.is_single_number = is_single_number
        self.may_join = True

    @property
    def may_join_accelerator(self) -> bool:
        """Return whether PyTorch may move it: what is on the CPU may be a 0-dimensional tensor."""
        if not self.may_join:
            return False
        return any(device == CPU for device, _ in self.alternatives) and all(
            device != CPU or self.maybe_zero_dim or operand.maybe_zero_dim for device, operand in self.alternatives
        )

    def is_never_on(self, device: Device) -> bool:
        """Return whether no alternative can be on ``device``; false for an alternative's own device."""
        return bool(self.devices) and all(device.differs(other) for other in self.devices)

    def conflicts_with(self, other: OperandSet) -> bool:
        """Return whether an alternative of one operand is on none of the devices of the other one."""
        return any(map(other.is_never_on, self.devices)) or any(map(self.is_never_on, other.devices))


def tensor_operands(value: Tensor | Union, text: str) -> OperandSet:
    """Return a tensor as an operand; alternatives that are ``None`` are left out."""
    options = [option for option in alternatives(value) if option != NONE]
    pairs = [
        (
            option.device,
            Operand(text, option.origins, is_certain=option.is_certain, maybe_zero_dim=option.maybe_zero_dim),
        )
        if isinstance(option, Tensor)
        else (UNKNOWN_DEVICE, Operand(text))
        for option in options
    ]
    certain = [option for option in options if isinstance(option, Tensor)]
    maybe_zero_dim = len(certain) == len(options) and all(option.maybe_zero_dim for option in certain)
    is_single_number = len(certain) == len(options) and all(option.is_single_number for option in certain)
    return OperandSet(
        pairs, maybe_zero_dim, grad=any(option.grad for option in certain), is_single_number=is_single_number
    )


def weight_operands(interp: Interpreter, pointer: Pointer, text: str) -> OperandSet:
    """Return a module's own weights as an operand."""
    module = module_at(interp, pointer)
    devices = sorted(module.devices, key=lambda device: device.kind) if module is not None else []
    pairs = [(device, Operand(text, module=pointer)) for device in devices]
    is_frozen = module is not None and module.frozen
    return OperandSet(pairs, grad=interp.now.runtime.gradients and not is_frozen)


def tensors_in(interp: Interpreter, value: Value, text: str, depth: int = 0) -> list[OperandSet]:
    """Return the tensors in a value as operands: the value itself, or the items of containers."""
    if isinstance(value, Tensor):
        return [tensor_operands(value, text)]
    if isinstance(value, Union):
        if any(isinstance(option, Tensor) for option in value.alternatives):
            return [tensor_operands(value, text)]
        return []
    if depth > 3:
        return []
    if isinstance(value, TupleValue):
        return [operand for item in value.items for operand in tensors_in(interp, item, text, depth + 1)]
    if isinstance(value, IterableOf):
        return tensors_in(interp, value.element, text, depth + 1)
    if isinstance(value, Pointer):
        items = interp.heap_object(value).tensors()
        return [operand for item in items for operand in tensors_in(interp, item, text, depth + 1)]
    return []


def check_same_device(
    interp: Interpreter,
    node: ast.AST,
    operation: str,
    operands: Sequence[OperandSet],
    opaque: bool = False,
    allow_cpu_scalars: bool = False,
    written: OperandSet | None = None,
) -> tuple[Device, tuple[Origin, ...]]:
    """Record a device mismatch between operands; return the device and the origins of the result.

    With ``allow_cpu_scalars``, a zero-dimensional CPU tensor may be combined with tensors on another device, unless it
    is ``written`` in place.  ``opaque``: the operation is a call of code that cannot be read.

    A mismatch is recorded if some alternative of one operand differs from *every* alternative of another: then the
    devices differ on some path, whatever the conditions are.
    """
    operands = [one for one in operands if not _is_empty(interp, operation, one)]
    cpu: list[Operand] = []
    accelerator: list[Operand] = []
    compared = tuple(operand for one in operands for _, operand in one.alternatives)
    if compared:
        interp.observe(OperandsCompared(operation, compared, node))
    conflicts: dict[Device, list[OperandSet]] = {}  # cached: a large model has thousands of operands on two devices
    for one in operands:
        for device, operand in one.alternatives:
            if not device.known or (interp.scenario.multi_accelerator and device == CPU):
                if operand.origins and operand.origins[0].kind == "load":
                    _record_load_use(interp, node, operand, operands)
                continue
            if device not in conflicts:
                conflicts[device] = [each for each in operands if each.is_never_on(device)]
            for other in conflicts[device]:
                if allow_cpu_scalars and (
                    (one.may_join_accelerator and device == CPU and one is not written)
                    or (other.may_join_accelerator and other is not written)
                ):
                    continue
                if interp.scenario.multi_accelerator and CPU in other.devices:
                    continue
                (accelerator if device == ACCELERATOR else cpu).append(operand)
                for other_device, other_operand in other.alternatives:
                    (accelerator if other_device == ACCELERATOR else cpu).append(other_operand)
    if cpu and accelerator and not _is_meant(interp, cpu, opaque):
        point = interp.point(node)
        takes_numbers = (
            allow_cpu_scalars
            and (written is None or CPU not in written.devices)
            and all(each.may_join for each in operands if CPU in each.devices)
        )
        found = DeviceMismatch(
            point,
            operation,
            _distinct(cpu),
            _distinct(accelerator),
            opaque,
            interp.latent or is_switched_off(interp),
            takes_numbers,
            _always_differ({each.devices for each in operands}),
            any(one.devices == {ACCELERATOR} for one in operands),
        )
        is_excluded = _is_moved_on_condition(interp, found) or _is_told_apart(found)
        if not is_excluded and interp.observations.is_new(*_identity(found)):
            on_every_path = found.on_every_path and not (_is_asked_for(found) or _is_told_by_dimensions(found))
            point = interp.point(node, with_state=True)
            interp.observations.mismatches.append(replace(found, point=point, on_every_path=on_every_path))
        if interp.scenario.multi_accelerator:  # continue as if all were on the first operand's device (the weights')
            return next(iter(operands[0].devices)) if len(operands[0].devices) == 1 else UNKNOWN_DEVICE, ()
    return _result(operands)


def _always_differ(devices: Set[frozenset[Device]]) -> bool:
    """Return whether two of these sets of an operand's possible devices have no device in common."""
    return any(
        one and other and all(device.differs(each) for device in one for each in other)
        for one, other in combinations(devices, 2)
    )


def _is_meant(interp: Interpreter, cpu: list[Operand], opaque: bool) -> bool:
    """Return whether operands are on different devices on purpose, or never meet."""
    return (
        (opaque and _is_sent_to_cpu(interp, cpu))
        or _is_declined(interp)
        or _is_cut_short(interp)
        or _is_tried_again(interp)
    )


def _is_declined(interp: Interpreter) -> bool:
    """Return whether the path uses no accelerator: what is on the CPU is right there, and what is not is elsewhere."""
    scenario = interp.scenario
    return not (scenario.no_accelerator or scenario.multi_accelerator) and declines_accelerator(interp.now)


def _is_cut_short(interp: Interpreter) -> bool:
    """Return whether a call whose result nobody uses leads here, and is expected to raise an error of its own.

    Such a call is made for what happens before it fails: a wrapped layer keeps its input, and raises.
    """
    activation = interp.activation
    while activation is not None:
        stmt = activation.stmt
        parent = activation.module.tree.parents.get(stmt) if isinstance(stmt, ast.Expr) else None
        if isinstance(parent, ast.Try) and stmt in parent.body and any(map(_is_expected, parent.handlers)):
            return True
        activation = activation.parent
    return False


def _is_tried_again(interp: Interpreter) -> bool:
    """Return whether the statement is in a ``try`` whose handler repeats it with a tensor that it moves."""
    activation = interp.activation
    stmt = activation.stmt if activation is not None else None
    parent = activation.module.tree.parents.get(stmt) if activation is not None and stmt is not None else None
    return isinstance(parent, ast.Try) and stmt in parent.body and _moves_instead(parent)


@node_cache(4096)
def _moves_instead(stmt: ast.Try) -> bool:
    """Return whether a handler assigns to a name that the body assigns to, and moves something for that."""
    written = {text_of(target) for each in stmt.body if isinstance(each, ast.Assign) for target in each.targets}
    again = [
        each
        for handler in stmt.handlers
        for each in handler.body
        if isinstance(each, ast.Assign) and not written.isdisjoint(map(text_of, each.targets))
    ]
    calls = [node for each in again for node in walk(each) if isinstance(node, ast.Call)]
    return any(called_name(call) in ("to", "cuda", "cpu") for call in calls)


def _is_expected(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler ignores an error that only the program's own code raises."""
    is_ignored = all(isinstance(stmt, ast.Pass) for stmt in handler.body)
    return is_ignored and handler.type is not None and _OTHER_ERRORS.isdisjoint(names_in(handler.type))


# Errors that Python, the user or PyTorch raises
_OTHER_ERRORS = frozenset(
    "BaseException Exception RuntimeError KeyboardInterrupt SystemExit OSError IOError EOFError FileNotFoundError "
    "ImportError ModuleNotFoundError StopIteration AttributeError KeyError TypeError".split()
)


def _is_moved_on_condition(interp: Interpreter, found: DeviceMismatch) -> bool:
    """Return whether functions on the call stack move what is on the CPU under several conditions on something else.

    The conditions may cover all paths that lead to the operation.
    """
    if found.on_every_path:
        return False
    functions = {call_frame.activation.node for call_frame in found.point.call_stack}
    conditions: dict[Origin, set[ast.If]] = {}
    for transfer in interp.observations.transfers:
        condition = condition_of(transfer.point)
        if transfer.point.call_frame.activation.node in functions and condition is not None:
            conditions.setdefault(transfer.origin, set()).add(condition)
    origins = {origin for operand in found.cpu for origin in operand.origins}
    return bool(origins) and all(len(conditions.get(origin, ())) > 1 for origin in origins)


_KIND_CHECKS = frozenset(("isinstance", "torch.is_tensor", "hasattr", "len"))  # true of tensors on any device


def _is_told_apart(found: DeviceMismatch) -> bool:
    """Return whether a check of what is on the CPU decides if the operation is executed: ``if is_map(labels):``.

    The check may hold only for other values of the name.
    """
    function = found.point.call_frame.activation.node
    bound = Counter(
        node.id for node in walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    parents = found.point.tree.ancestors(found.point.stmt)
    tests = [parent.test for parent in parents if isinstance(parent, ast.If)]
    checked = {
        text_of(argument)
        for test in tests
        for node in ast.walk(test)
        if isinstance(node, ast.Call) and text_of(node.func) not in _KIND_CHECKS
        for argument in node.args
    }
    return bool(found.cpu) and all(operand.text in checked and bound[operand.text] > 1 for operand in found.cpu)


def _is_asked_for(found: DeviceMismatch) -> bool:
    """Return whether what is on the CPU is an entry that a batch need not have: ``if "mask" in batch:``."""
    parents = found.point.tree.ancestors(found.point.stmt)
    asked = {
        test.left.value
        for parent in parents
        if isinstance(parent, ast.If)
        for test in ast.walk(parent.test)
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In) and isinstance(test.left, ast.Constant)
    }
    entries = [origin.path[-1:] for operand in found.cpu for origin in operand.origins]
    return bool(asked and entries) and all(path and path[0] in asked for path in entries)


def _is_told_by_dimensions(found: DeviceMismatch) -> bool:
    """Return whether an ``if`` with several branches chooses the operation by the dimensions of one of its tensors.

    Which tensors come here is not known: ``if image.dim() == 3: ... elif image.dim() == 4: ...``.
    """
    tree = found.point.tree
    used = names_in(found.point.stmt)
    for parent in tree.ancestors(found.point.stmt):
        if isinstance(parent, ast.If) and isinstance(parent.test, ast.Compare):
            tensor = tensor_of_rank(parent.test.left)
            outer = tree.parents.get(parent)
            is_chosen = bool(parent.orelse) or (isinstance(outer, ast.If) and parent in outer.orelse)
            if is_chosen and isinstance(tensor, ast.Name) and tensor.id in used:
                return True
    return False


def _is_empty(interp: Interpreter, operation: str, operands: OperandSet) -> bool:
    """Return whether an operand that is on the CPU on some path is there a placeholder only."""
    on_cpu = [operand for device, operand in operands.alternatives if device == CPU]
    return bool(on_cpu) and all(is_placeholder(interp, operation, operand.origins) for operand in on_cpu)


def _record_load_use(interp: Interpreter, node: ast.AST, operand: Operand, operands: Sequence[OperandSet]) -> None:
    note_origin_use(interp, operand.origins[0], "tensor", node, any(ACCELERATOR in one.devices for one in operands))


def _is_sent_to_cpu(interp: Interpreter, operands: Sequence[Operand]) -> bool:
    """Return whether library code moves the operands of an object that it cannot see to the CPU: it belongs there."""
    origins = [origin for operand in operands for origin in operand.origins]
    return interp.observations.is_library and bool(origins) and all(origin.kind == "moved" for origin in origins)


def _identity(found: DeviceMismatch) -> tuple[object, ...]:
    """Return what tells a mismatch from others: two visits of a loop's body find the same."""
    operands = ((one.text, one.origins, one.module) for one in (*found.cpu, *found.accelerator))
    return DeviceMismatch, found.point.node, found.point.call_path, found.operation, len(found.cpu), *operands


def _distinct(operands: list[Operand]) -> tuple[Operand, ...]:
    seen: dict[tuple[object, ...], Operand] = {}
    for operand in operands:
        seen.setdefault((operand.text, operand.origins, operand.module), operand)
    return tuple(seen.values())


def _result(operands: Sequence[OperandSet]) -> tuple[Device, tuple[Origin, ...]]:
    with_dimensions = [one for one in operands if not one.maybe_zero_dim and not _may_be_loaded_number(one)]
    deciding = with_dimensions or list(operands)
    devices = {device for one in deciding for device in one.devices}
    if ACCELERATOR in devices and (len(devices) == 1 or any(one.devices == {ACCELERATOR} for one in deciding)):
        return ACCELERATOR, tuple(origin for origin in _origins(deciding, ACCELERATOR) if origin.kind == "moved")
    if devices == {CPU}:
        return CPU, _origins(deciding, CPU)
    if any(one.devices == {OTHER_ACCELERATOR} for one in deciding):
        return OTHER_ACCELERATOR, tuple(
            origin for origin in _origins(deciding, OTHER_ACCELERATOR) if origin.kind == "moved"
        )
    loads = (origin for one in deciding for _, operand in one.alternatives for origin in operand.origins)
    return UNKNOWN_DEVICE, tuple(dict.fromkeys(origin for origin in loads if origin.kind == "load"))[:4]


def _may_be_loaded_number(operands: OperandSet) -> bool:
    """Return whether an operand is an entry of a checkpoint that need not be a tensor."""
    return all(
        not operand.is_certain and any(origin.kind == "load" for origin in operand.origins)
        for _, operand in operands.alternatives
    )


def _origins(operands: Sequence[OperandSet], device: Device) -> tuple[Origin, ...]:
    origins = (
        origin
        for one in operands
        for operand_device, operand in one.alternatives
        for origin in operand.origins
        if operand_device == device
    )
    return tuple(dict.fromkeys(origins))[:4]
