"""Methods of tensors: moves, operations with other tensors, reductions and views."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis import parameter_copies, scenarios
from devfix.analysis.domain.records import replace
from devfix.analysis.domain.scenario import ONE_ACCELERATOR
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    NONE,
    UNKNOWN,
    Device,
    DType,
    Keywords,
    Tensor,
    Text,
    TupleValue,
    Value,
    alternatives,
    join,
)
from devfix.analysis.observations.execution import TensorMoved
from devfix.analysis.stdlib import containers, numpy_
from devfix.analysis.torch import checkpoints, data_sources
from devfix.analysis.transfer import modelled_calls
from devfix.analysis.transfer.device_arguments import (
    MOVE_METHODS,
    move_method_target,
    named_device,
    to_targets,
    type_target,
)
from devfix.models.index import lookup

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["tensor_method"]


_GIVES_DIMENSIONS = frozenset("unsqueeze view reshape expand expand_as repeat tile flatten ravel".split())
_OF_TEXTS = frozenset("replace endswith startswith strip lstrip rstrip lower upper encode decode rsplit".split())
_OF_ARRAYS = frozenset("astype tobytes tofile itemset".split())
_OF_MODULES = frozenset("eval train parameters named_parameters modules named_modules".split())
_TENSOR_ONLY_METHODS = frozenset("view view_as unsqueeze permute expand expand_as".split())


def tensor_method(
    interp: Interpreter, tensor: Tensor, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value:
    """Call ``tensor.name(...)``."""
    if (
        tensor.maybe_container
        and name in _TENSOR_ONLY_METHODS
        and all(origin.kind == "load" for origin in tensor.origins)
    ):
        tensor = replace(tensor, maybe_container=False, is_certain=True)  # a checkpoint entry with a shape
    if name in _OF_ARRAYS:
        return numpy_.array(node)  # a tensor does not have them
    if name == "backward" and tensor.maybe_container:
        return UNKNOWN  # what is loaded has no graph: this is an object of another class, such as a loss scaler
    if name == "copy_" and any(origin.kind == "parameter" for origin in tensor.origins):
        for loaded in checkpoints.loaded_tensors(interp, args[0] if args else NONE):
            checkpoints.note_use(interp, loaded, "module", node, tensor.device == ACCELERATOR)
    if name in _OF_MODULES and tensor.device != ACCELERATOR:
        checkpoints.note_use(interp, tensor, "object", node, False)
    if name == "to":
        return _transfer(interp, tensor, to_targets(interp, args, keywords), node)
    if name in MOVE_METHODS:
        return _transfer(interp, tensor, [move_method_target(interp, name, args, keywords)], node)
    if name == "type" and args:
        return _transfer(interp, tensor, [type_target(option) for option in alternatives(args[0])], node)
    if name == "type_as" and args:
        return _transfer(interp, tensor, [named_device(interp, args[0])], node)
    if name in ("detach", "detach_"):
        tensor = replace(tensor, grad=False)
    if name == "clone":
        parameter_copies.note_copy(interp, tensor, node)
    if name in ("zero_", "fill_"):
        return tensor
    if name in _OF_TEXTS and (tensor.maybe_container or not tensor.is_certain):
        return Text()  # a name or a path of the batch
    if tensor.maybe_container:
        item = containers.maybe_container_method(interp, tensor, name, args, node)
        if item is not None:
            return item
    model = lookup(f"torch.Tensor.{name}")
    is_item = not tensor.is_certain and any(origin.kind == "batch" for origin in tensor.origins)
    if is_item and (model is None or not model.key.startswith("torch.Tensor.")):
        return UNKNOWN  # an object of another class
    called: Value | None = None
    if model is not None and model.kind == "function":
        called = modelled_calls.call_method(interp, tensor, model, args, keywords, node)
    result = tensor if called is None else called
    if isinstance(result, Tensor) and _gives_dimensions(name, args):
        return replace(result, maybe_zero_dim=False, is_single_number=False)
    return result


def _gives_dimensions(name: str, args: list[Value]) -> bool:
    """Return whether a method adds dimensions: ``total.reshape(1)``, but not ``reshape(())`` and ``view(dtype)``."""
    if name not in _GIVES_DIMENSIONS or (not args and name not in ("flatten", "ravel")):
        return False
    return args != [TupleValue(())] and not any(isinstance(value, DType) for value in args)


def _transfer(interp: Interpreter, tensor: Tensor, devices: list[Device | None], node: ast.Call) -> Value:
    results: list[Value] = []
    is_choice = len(devices) > 1 and interp.scenario != ONE_ACCELERATOR  # another path chose the device
    for device in devices:
        if device is None:
            results.append(tensor)
            continue
        if is_choice:
            results.append(replace(tensor, device=device, origins=()))
            continue
        scenarios.record_placement(interp, node, device, tensor.device)
        for origin in tensor.origins:
            if origin.kind in ("batch", "made") and tensor.device == CPU:
                data_sources.note_transfer(interp, origin, node, device)
            if origin.kind == "load":
                checkpoints.note_use(interp, tensor, "moved", node, device == ACCELERATOR)
        if device == tensor.device == CPU and all(
            origin.kind in ("batch", "load", "made") for origin in tensor.origins
        ):
            moved = replace(tensor, origins=scenarios.origins_after_move(interp, node, CPU))  # explicitly to the CPU
        elif device == tensor.device:
            moved = tensor
        elif device == CPU:
            moved = replace(tensor, device=CPU, origins=scenarios.origins_after_move(interp, node, CPU))
        else:
            moved = replace(
                tensor,
                device=device,
                origins=scenarios.origins_after_move(interp, node, device),
                is_certain=tensor.is_certain,
            )
        results.append(interp.observe(TensorMoved(moved, tensor, device, node)).value)
    return join(results)
