"""Methods of tensors: moves, operations with other tensors, reductions and views."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis import host_access, ineffective_moves, parameter_copies, scenarios
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    NONE,
    Device,
    DType,
    Keywords,
    Number,
    Tensor,
    TupleValue,
    Unknown,
    Value,
    alternatives,
    join,
)
from devfix.analysis.observations import Transfer
from devfix.analysis.stdlib import containers
from devfix.analysis.torch import checkpoints, rng, tensor_functions
from devfix.analysis.transfer.device_arguments import (
    MOVE_METHODS,
    move_method_target,
    named_device,
    to_targets,
    type_target,
)
from devfix.analysis.transfer.device_check import check_same_device, tensor_operands, tensors_in
from devfix.models.tensor_methods import (
    NON_DIFFERENTIABLE,
    RANDOM_METHODS,
    REDUCTIONS,
    TENSOR_METHODS,
    VALUES_WITH_INDICES,
)
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["tensor_method"]


_SAME_SIZE = frozenset(
    "detach clone contiguous float half double long int bool bfloat16 squeeze unsqueeze exp log log2 log10 sqrt abs "
    "neg sigmoid tanh round requires_grad_".split()
)
_GIVES_DIMENSIONS = frozenset("unsqueeze view reshape expand expand_as repeat tile flatten ravel".split())
_TENSOR_ONLY_METHODS = frozenset("view view_as unsqueeze permute expand expand_as".split())


def tensor_method(
    interp: Interpreter, tensor: Tensor, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value:
    """Call ``tensor.name(...)``."""
    host_access.note_method(interp, tensor, name, node)
    if (
        tensor.maybe_container
        and name in _TENSOR_ONLY_METHODS
        and all(origin.kind == "load" for origin in tensor.origins)
    ):
        tensor = replace(tensor, maybe_container=False, is_certain=True)  # a checkpoint entry with a shape
    if name == "cuda":
        ineffective_moves.note_boolean_device(interp, args, node)
    if name == "to":
        return _transfer(interp, tensor, to_targets(interp, args, keywords), node)
    if name in MOVE_METHODS:
        return _transfer(interp, tensor, [move_method_target(interp, name, args, keywords)], node)
    if name == "type" and args:
        return _transfer(interp, tensor, [type_target(option) for option in alternatives(args[0])], node)
    if name == "type_as" and args:
        return _transfer(interp, tensor, [named_device(interp, args[0])], node)
    if "generator" in keywords and name in {*RANDOM_METHODS, "multinomial"}:
        rng.draw(interp, keywords["generator"], tensor.device, "method", node)
    if name == "backward" and args:
        operands = [
            tensor_operands(tensor, "…"),
            *tensors_in(interp, args[0], text_of(node.args[0]) if node.args else "…"),
        ]
        check_same_device(interp, node, ".backward()", operands)
    if name == "retain_grad":
        ineffective_moves.note_leaf_use(interp, tensor, "retained", node)
    if name in ("detach", "detach_"):
        tensor = ineffective_moves.detach(tensor)
    if name == "clone":
        parameter_copies.note_copy(interp, tensor, node)
    if name in ("backward", "zero_", "fill_", "retain_grad", "register_hook"):
        return tensor if name.endswith("_") else NONE
    if tensor.maybe_container:
        result = containers.maybe_container_method(interp, tensor, name, args, node)
        if result is not None:
            return result
    kind = TENSOR_METHODS.get(name, "keeps")
    if kind == "number":
        return Number()
    if kind == "needs-cpu":
        return Unknown(f"numpy.{name}()")  # `note_method` has recorded it
    if name in VALUES_WITH_INDICES and not (args and isinstance(args[0], Tensor)):
        if args or keywords or name not in REDUCTIONS:
            return tensor_functions.values_and_indices(tensor)
    elif kind == "several" and (args or keywords or name not in REDUCTIONS):
        return replace(tensor, maybe_container=True)
    if kind in ("mixes", "pointwise"):
        assert isinstance(node.func, ast.Attribute)
        operands = [tensor_operands(tensor, text_of(node.func.value))]
        for value, text in zip(
            [*args, *keywords.values()], [text_of(argument) for argument in node.args] + ["…"] * 9, strict=False
        ):
            operands.extend(tensors_in(interp, value, text))
        written = operands[0] if name.endswith("_") else None
        device, origins = check_same_device(
            interp, node, f".{name}()", operands, allow_cpu_scalars=kind == "pointwise", written=written
        )
        grad = name not in NON_DIFFERENTIABLE and any(operand.grad for operand in operands)
        maybe_zero_dim = kind == "pointwise" and all(operand.maybe_zero_dim for operand in operands)
        return Tensor(
            device,
            origins,
            maybe_zero_dim=maybe_zero_dim,
            grad=grad,
            is_single_number=maybe_zero_dim and all(operand.is_single_number for operand in operands),
        )
    if name in NON_DIFFERENTIABLE:
        tensor = replace(tensor, grad=False)
    if name in REDUCTIONS and not args and "dim" not in keywords:
        return replace(tensor, maybe_zero_dim=True, maybe_container=False, is_single_number=True)
    if name.startswith("new_"):
        return Tensor(tensor.device)
    is_single_number = tensor.is_single_number and name in _SAME_SIZE
    return replace(
        tensor,
        maybe_zero_dim=tensor.maybe_zero_dim and not _gives_dimensions(name, args),
        is_single_number=is_single_number,
    )


def _gives_dimensions(name: str, args: list[Value]) -> bool:
    """Return whether a method adds dimensions: ``total.reshape(1)``, but not ``reshape(())`` and ``view(dtype)``."""
    if name not in _GIVES_DIMENSIONS or (not args and name not in ("flatten", "ravel")):
        return False
    return args != [TupleValue(())] and not any(isinstance(value, DType) for value in args)


def _transfer(interp: Interpreter, tensor: Tensor, devices: list[Device | None], node: ast.Call) -> Value:
    results: list[Value] = []
    for device in devices:
        if device is None:
            results.append(tensor)
            continue
        scenarios.record_placement(interp, node, device, tensor.device)
        for origin in tensor.origins:
            if origin.kind in ("batch", "made") and tensor.device == CPU:
                interp.observations.transfers.append(
                    Transfer(origin, interp.point(node, with_state=True), node, device.kind)
                )
            if origin.kind == "load":
                checkpoints.note_use(interp, tensor, "moved", node, device == ACCELERATOR)
        if device == tensor.device == CPU and all(origin.kind in ("batch", "made") for origin in tensor.origins):
            results.append(
                replace(tensor, origins=scenarios.origins_after_move(interp, node, CPU))
            )  # an explicit move to the CPU
        elif device == tensor.device:
            results.append(tensor)
        elif device == CPU:
            results.append(replace(tensor, device=CPU, origins=scenarios.origins_after_move(interp, node, CPU)))
        else:
            moved = replace(
                tensor,
                device=device,
                origins=scenarios.origins_after_move(interp, node, device),
                is_certain=tensor.is_certain,
            )
            results.append(ineffective_moves.move_leaf(interp, tensor, moved, node) if device == ACCELERATOR else moved)
    return join(results)
