"""Process groups: collectives, ``DistributedDataParallel``, and ``set_device``.

NCCL supports accelerator tensors only; Gloo, and a group without a named backend, also support CPU tensors:
https://docs.pytorch.org/docs/stable/distributed.html#backends
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis import scenarios
from devfix.analysis.domain.objects import Container, object_at
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    NONE,
    OTHER_ACCELERATOR,
    UNKNOWN_DEVICE,
    Const,
    Device,
    Keywords,
    Pointer,
    TupleValue,
    Unknown,
    Value,
    alternatives,
)
from devfix.analysis.observations import Operand
from devfix.analysis.torch import module_tree
from devfix.analysis.transfer.device_arguments import named_device
from devfix.analysis.transfer.device_check import OperandSet, check_same_device, tensors_in, weight_operands
from devfix.syntax.tree import argument_texts, text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["check_wrap", "collective", "init", "initialized", "input_device", "selected", "set_device"]


def init(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``init_process_group``: record the backend."""
    backend = args[0] if args else keywords.get("backend", NONE)
    interp.observations.is_distributed = True
    named = str(backend.value) if isinstance(backend, Const) and isinstance(backend.value, str) else "unknown"
    given = [*node.args[:1], *(each.value for each in node.keywords if each.arg == "backend")]
    if named == "nccl" and any(isinstance(each, ast.Constant) for each in given):  # an option has other choices
        scenarios.require_accelerator(interp, node)
    interp.now.set_runtime(backends=frozenset({named}))
    return NONE


def initialized(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``torch.distributed.is_initialized``."""
    backends = interp.now.runtime.backends
    return Unknown(f"{name}()") if None in backends and len(backends) > 1 else Const(None not in backends)


def collective(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Check a collective: with NCCL, each of its tensors must be on the accelerator."""
    if _is_nccl(interp) and "group" not in keywords:
        texts, named = argument_texts(node)
        given = [*zip(args, texts, strict=False), *((value, named.get(key, key)) for key, value in keywords.items())]
        for value, text in given:
            for operand in tensors_in(interp, value, text):
                check_same_device(interp, node, name.split(".")[-1], [operand, _group(interp)])
    return NONE


def check_wrap(interp: Interpreter, pointer: Pointer, keywords: Keywords, node: ast.Call) -> None:
    """Check ``DistributedDataParallel(module)``: the module must be on the device of ``device_ids``, or of NCCL."""
    has_ids = _names_devices(interp, keywords.get("device_ids", NONE))
    if not (has_ids or _is_nccl(interp)):
        return
    interp.observations.may_use_second = True
    given = next((keyword.value for keyword in node.keywords if keyword.arg == "device_ids"), None)
    ids = OperandSet(
        [
            (
                input_device(interp, keywords, is_distributed=True) or UNKNOWN_DEVICE,
                Operand("" if given is None else text_of(given)),
            )
        ]
    )
    for _, part, module in list(module_tree.weighted_modules(interp, pointer)):
        if interp.scenario.multi_accelerator or module.devices == frozenset({CPU}):
            operands = weight_operands(interp, part, text_of(node.args[0]))
            check_same_device(interp, node, "DistributedDataParallel", [operands, ids if has_ids else _group(interp)])


def input_device(interp: Interpreter, keywords: Keywords, *, is_distributed: bool) -> Device | None:
    """Return the device to which a wrapper with ``device_ids`` moves inputs; ``None`` without ``device_ids``.

    ``DistributedDataParallel`` moves inputs only if there is one: ``torch/nn/parallel/distributed.py``,
    ``_pre_forward``.  ``DataParallel`` requires its module on the first one, and computes with copies on the others:
    ``torch/nn/parallel/data_parallel.py``, ``forward``.
    """
    given = keywords.get("device_ids", NONE)
    if given == NONE and "**" not in keywords:
        return None
    interp.observations.may_use_second = True
    if not interp.scenario.multi_accelerator:
        return ACCELERATOR
    ids: list[Value] = list(given.items) if isinstance(given, TupleValue) else []
    if isinstance(given, Pointer):
        ids = list(interp.heap_object(given).fields.values())
    is_one = len(ids) == 1 or (ids and not is_distributed)
    return (named_device(interp, ids[0]) or UNKNOWN_DEVICE) if is_one else UNKNOWN_DEVICE


def set_device(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``torch.cuda.set_device``: set the current device; without an accelerator, the program ends here."""
    given = args[0] if args else keywords.get("device", NONE)
    is_negative = isinstance(given, Const) and isinstance(given.value, int) and given.value < 0  # does nothing
    if not is_negative:
        scenarios.require_accelerator(interp, node)
    if args or "device" in keywords:
        devices = {named_device(interp, option) for option in alternatives(args[0] if args else keywords["device"])}
        if interp.scenario.multi_accelerator and devices == {OTHER_ACCELERATOR}:
            interp.now.set_runtime(current_is_zero=not interp.now.runtime.current_is_zero)
        interp.observations.set_current = interp.observations.set_current or interp.point(node)
    return NONE


def selected(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``with torch.cuda.device(0)``: without an accelerator, the program ends here, unless the index may be -1."""
    given = args[0] if args else keywords.get("device", NONE)
    if isinstance(given, Const) and isinstance(given.value, int) and given.value >= 0:
        scenarios.require_accelerator(interp, node)
    return Unknown(f"{name}()")


def _is_nccl(interp: Interpreter) -> bool:
    """Return whether the backend is NCCL; what needs a process group runs only where there is one."""
    return interp.now.runtime.backends - {None} == {"nccl"}


def _names_devices(interp: Interpreter, value: Value) -> bool:
    """Return whether ``device_ids`` contains a device on every path."""
    given = [(option, object_at(interp, option, Container)) for option in alternatives(value)]
    return all(
        bool(option.items) if isinstance(option, TupleValue) else container is not None and bool(container.fields)
        for option, container in given
    )


def _group(interp: Interpreter) -> OperandSet:
    """Return the process group as an operand on the accelerator of this process."""
    return OperandSet([(scenarios.indexed_accelerator(interp, is_zero=False), Operand(""))])
