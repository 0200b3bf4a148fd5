"""Functions of tensors that no signature describes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis import host_access
from devfix.analysis.domain.records import replace
from devfix.analysis.domain.values import (
    NONE,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Const,
    IterableOf,
    Keywords,
    Number,
    Tensor,
    Text,
    TupleValue,
    Value,
    alternatives,
)
from devfix.analysis.torch import checkpoints
from devfix.analysis.transfer.device_check import check_same_device, tensors_in
from devfix.syntax.tree import argument_texts

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS"]


def _gradients(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``torch.autograd.grad(outputs, inputs, grad_outputs)``: one gradient per input.

    ``grad_outputs`` must be on the device of ``outputs``.
    """
    outputs = args[0] if args else keywords.get("outputs", UNKNOWN)
    given = args[2] if len(args) > 2 else keywords.get("grad_outputs", NONE)
    _, texts = argument_texts(node)
    operands = [
        operand
        for value, text in ((outputs, "…"), (given, texts.get("grad_outputs", "…")))
        for operand in tensors_in(interp, value, text)
    ]
    check_same_device(interp, node, "grad", operands)
    inputs = args[1] if len(args) > 1 else keywords.get("inputs", UNKNOWN)
    device = inputs.device if isinstance(inputs, Tensor) else UNKNOWN_DEVICE
    return TupleValue((Tensor(device),)) if isinstance(inputs, Tensor) else IterableOf(Tensor(device))


def _is_tensor(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if args and isinstance(args[0], Tensor) and args[0].is_certain:
        return Const(True)
    if args and isinstance(args[0], (Text, Const, Number)):
        return Const(False)
    return UNKNOWN


def _pack(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    given = node.args[1] if len(node.args) > 1 else next((k.value for k in node.keywords if k.arg == "lengths"), None)
    for value, expression in host_access.argument_pairs(node, args, keywords):
        if expression is given:
            host_access.note_access(interp, node, name.split(".")[-1], value, expression, "lengths")
    first = args[0] if args else UNKNOWN
    return replace(first, maybe_container=True) if isinstance(first, Tensor) else UNKNOWN


def _needs_cpu_state(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    for value in args:
        for option in alternatives(value):
            if isinstance(option, Tensor):
                checkpoints.note_use(interp, option, "needs-cpu", node, False)
    return NONE


OVERLAYS: dict[str, TransferFunction] = {
    "torch.autograd.grad": _gradients,
    "torch.cuda.set_rng_state": _needs_cpu_state,
    "torch.cuda.set_rng_state_all": _needs_cpu_state,
    "torch.is_tensor": _is_tensor,
    "torch.nn.utils.rnn.pack_padded_sequence": _pack,
    "torch.set_rng_state": _needs_cpu_state,
}
