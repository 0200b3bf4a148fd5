"""Functions of tensors: one transfer function per model (:mod:`devfix.models.index`)."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis import host_access, random_branches
from devfix.analysis.domain.values import (
    CPU,
    NONE,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Const,
    HeapObject,
    IterableOf,
    Keywords,
    Number,
    Origin,
    Pointer,
    Tensor,
    Text,
    TupleValue,
    Unknown,
    Value,
    alternatives,
)
from devfix.analysis.stdlib import numpy_
from devfix.analysis.torch import checkpoints
from devfix.analysis.transfer.device_check import OperandSet, check_same_device, tensors_in
from devfix.models.tensor_methods import MEAN_LOSSES, NON_DIFFERENTIABLE, REDUCTIONS, VALUES_WITH_INDICES
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["TRANSFER_FUNCTIONS", "values_and_indices"]


def _sides(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> list[OperandSet]:
    texts = [text_of(argument) for argument in node.args] + ["…"] * len(args)
    named = {keyword.arg: text_of(keyword.value) for keyword in node.keywords}
    pairs = [
        *zip(args, texts, strict=False),
        *((value, named.get(key, key)) for key, value in keywords.items() if key != "out"),
    ]
    return [operand for value, text in pairs for operand in tensors_in(interp, value, text)]


_JOINS = frozenset("cat concat concatenate stack hstack vstack dstack".split())


def _mixes(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    operands = _sides(interp, args, keywords, node)
    if name.split(".")[-1] in _JOINS:
        operands = random_branches.split_random_results(interp, operands)
    device, origins = check_same_device(interp, node, name.split(".")[-1], operands)
    maybe_zero_dim = name.split(".")[-1] in MEAN_LOSSES and not {"reduction", "reduce", "**"} & set(keywords)
    return Tensor(
        device,
        origins,
        maybe_zero_dim=maybe_zero_dim,
        grad=any(operand.grad for operand in operands),
        is_single_number=maybe_zero_dim,
    )


def _pointwise(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    operands = _sides(interp, args, keywords, node)
    last = name.split(".")[-1]
    device, origins = check_same_device(interp, node, last, operands, allow_cpu_scalars=True)
    return Tensor(device, origins, grad=last not in NON_DIFFERENTIABLE and any(operand.grad for operand in operands))


_GIVES_DIMENSIONS = frozenset(
    "atleast_1d atleast_2d atleast_3d bincount broadcast_to diag flatten nonzero one_hot ravel repeat_interleave "
    "reshape tile unsqueeze".split()
)


def _remains_zero_dim(tensor: Tensor, name: str) -> bool:
    """Return whether the result of a 0-dim argument is 0-dim: ``torch.sqrt(torch.tensor(2.0))``."""
    return tensor.maybe_zero_dim and name not in _GIVES_DIMENSIONS


def _meshgrid(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    device, origins = check_same_device(interp, node, "meshgrid", _sides(interp, args, {}, node))
    return Tensor(device, origins, maybe_container=True)


def _keeps_first(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    last = name.split(".")[-1]
    for value in [*args, *keywords.values()]:
        for option in alternatives(value):
            if isinstance(option, Tensor):
                last = name.split(".")[-1]
                whole = last in REDUCTIONS and len(args) == 1 and not {"dim", "axis"} & set(keywords)
                if last in VALUES_WITH_INDICES and not whole and last != "msort":
                    return values_and_indices(option)
                grad = option.grad and last not in NON_DIFFERENTIABLE
                several = last in ("split", "chunk", "unbind")
                maybe_container = (option.maybe_container or several) and not whole
                maybe_zero_dim = whole or _remains_zero_dim(option, last)
                return replace(
                    option,
                    maybe_container=maybe_container,
                    maybe_zero_dim=maybe_zero_dim,
                    grad=grad,
                    is_single_number=whole,
                )
            if isinstance(option, Pointer) and interp.heap_object(option).kind == "list":
                inner = interp.element(option, node)
                if isinstance(inner, Tensor):
                    return inner
    return UNKNOWN


def _keeps_list(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    inner = interp.element(args[0], node) if args else UNKNOWN
    return inner if isinstance(inner, Tensor) else Tensor(UNKNOWN_DEVICE)


def _gradients(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``torch.autograd.grad(outputs, inputs, grad_outputs)``: one gradient per input.

    ``grad_outputs`` must be on the device of ``outputs``.
    """
    outputs = args[0] if args else keywords.get("outputs", UNKNOWN)
    given = args[2] if len(args) > 2 else keywords.get("grad_outputs", NONE)
    texts = {keyword.arg: text_of(keyword.value) for keyword in node.keywords}
    operands = [
        operand
        for value, text in ((outputs, "…"), (given, texts.get("grad_outputs", "…")))
        for operand in tensors_in(interp, value, text)
    ]
    check_same_device(interp, node, "grad", operands)
    inputs = args[1] if len(args) > 1 else keywords.get("inputs", UNKNOWN)
    device = inputs.device if isinstance(inputs, Tensor) else UNKNOWN_DEVICE
    return TupleValue((Tensor(device),)) if isinstance(inputs, Tensor) else IterableOf(Tensor(device))


def _tensor_same(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return args[0] if args else UNKNOWN


def _is_tensor(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if args and isinstance(args[0], Tensor) and args[0].is_certain:
        return Const(True)
    if args and isinstance(args[0], (Text, Const, Number)):
        return Const(False)
    return UNKNOWN


def values_and_indices(tensor: Tensor) -> Value:
    """Return the pair of values and indices of ``max(dim)``, ``topk`` and ``sort``; indices have no gradient."""
    origins = [tuple(Origin(b.kind, b.site_id, (*b.path, str(i))) for b in tensor.origins) for i in range(2)]
    part = replace(tensor, maybe_container=False, maybe_zero_dim=False, is_single_number=False)
    return TupleValue((replace(part, origins=origins[0]), replace(part, origins=origins[1], grad=False)))


def _pack(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    for value, expression in host_access.argument_pairs(node, args, keywords)[:2]:
        if (value is args[1]) if len(args) > 1 else value is keywords.get("lengths"):
            host_access.note_access(interp, node, name.split(".")[-1], value, expression, "lengths")
    first = args[0] if args else UNKNOWN
    return replace(first, maybe_container=True) if isinstance(first, Tensor) else UNKNOWN


def _pad_packed(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    first = args[0] if args else UNKNOWN
    return TupleValue((first if isinstance(first, Tensor) else Tensor(UNKNOWN_DEVICE), Tensor(CPU)))


def _needs_cpu(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if name.split(".")[-1][:1].isupper():  # an estimator or a figure: its methods read their arguments
        return interp.new(
            HeapObject("opaque", name, devices=frozenset({UNKNOWN_DEVICE}), allocated_at=interp.point(node))
        )
    for value, expression in host_access.argument_pairs(node, args, keywords):
        host_access.note_access(interp, node, name, value, expression)
    return numpy_.result_of(name, args, keywords, node) or Unknown(f"{name}()")


def _reduces(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """NumPy's reductions call the method of a tensor; a list of tensors is converted to an array."""
    for value, expression in host_access.argument_pairs(node, args, keywords):
        if not isinstance(value, Tensor):
            host_access.note_access(interp, node, name, value, expression)
    return numpy_.result_of(name, args, keywords, node) or Unknown(f"{name}()")


def _plot(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Matplotlib's drawing functions read their data, the first arguments."""
    for value, expression in host_access.argument_pairs(node, args, keywords)[:3]:
        host_access.note_access(interp, node, name, value, expression)
    return Unknown(f"{name}()")


def _axes(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    axes = interp.new(
        HeapObject(
            "opaque", "matplotlib.axes.Axes", devices=frozenset({UNKNOWN_DEVICE}), allocated_at=interp.point(node)
        )
    )
    return TupleValue((Unknown(), axes)) if name.endswith("subplots") else axes


def _needs_cpu_state(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    for value in args:
        for option in alternatives(value):
            if isinstance(option, Tensor):
                checkpoints.note_use(interp, option, "needs-cpu", node, False)
    return NONE


TRANSFER_FUNCTIONS: dict[str, TransferFunction] = {
    "axes": _axes,
    "draws": _plot,
    "functional-init": _keeps_first,
    "gradients": _gradients,
    "is-tensor": _is_tensor,
    "keeps-first": _keeps_first,
    "keeps-list": _keeps_list,
    "meshgrid": _meshgrid,
    "mixes": _mixes,
    "needs-cpu": _needs_cpu,
    "needs-cpu-state": _needs_cpu_state,
    "pack": _pack,
    "pad-packed": _pad_packed,
    "pointwise": _pointwise,
    "reduces": _reduces,
    "tensor-same": _tensor_same,
}
