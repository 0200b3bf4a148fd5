"""Attribute access: ``value.name``."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain.classes import external_bases, find_member, is_device_placing_trainer
from devfix.analysis.domain.values import (
    CPU,
    UNKNOWN,
    Bound,
    Builtin,
    ClassValue,
    Const,
    DeviceValue,
    DType,
    External,
    Function,
    HeapObject,
    Namespace,
    Number,
    Origin,
    Partial,
    Pointer,
    Super,
    Tensor,
    TupleValue,
    Union,
    Unknown,
    Value,
    join,
)
from devfix.analysis.torch import batch_objects, batches, distributions, module_tree, optimizers
from devfix.models.names import MODULE_METHODS

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["attribute", "imported_name"]


_DTYPES = frozenset(
    "float float16 float32 float64 half double bfloat16 int int8 int16 int32 int64 long short uint8 bool complex64 "
    "complex128 cfloat cdouble".split()
)
_TENSOR_NON_TENSORS = frozenset(
    "shape ndim itemsize nbytes is_sparse requires_grad is_leaf names layout grad_fn".split()
)
_TENSOR_ATTRIBUTES = frozenset("data T mT H mH real imag grad".split())
_MODULE_SIZES = frozenset(
    "in_features out_features in_channels out_channels num_features embedding_dim hidden_size num_classes "
    "num_embeddings embed_dim input_size kernel_size stride padding num_layers n_features".split()
)


def imported_name(interp: Interpreter, base: Value, name: str, stmt: ast.ImportFrom) -> Value:
    """Return the value that ``from base import name`` binds."""
    if isinstance(base, Namespace):
        found = interp.global_name(base.module, name)
        if found is not None:
            return found
        inner = interp.imported(f"{stmt.module}.{name}" if stmt.module else name, stmt.level)
        return inner if isinstance(inner, Namespace) else Unknown(f"{base.module.name}.{name}")
    return attribute(interp, base, name, stmt)


def attribute(interp: Interpreter, value: Value, name: str, node: ast.AST) -> Value:
    """Return ``value.name``."""
    match value:
        case Union(alternatives):
            return join(attribute(interp, option, name, node) for option in alternatives)
        case External(full):
            is_dtype = full.split(".")[0] in ("torch", "numpy") and name in _DTYPES and full.count(".") == 0
            return DType() if is_dtype else External(f"{full}.{name}")
        case Namespace(module):
            found = interp.global_name(module, name)
            if found is not None:
                return found
            inner = interp.imported(f"{module.name}.{name}") if module.name != "__main__" else UNKNOWN
            return inner if isinstance(inner, Namespace) else Unknown(f"{module.name}.{name}")
        case Pointer():
            return _attribute_of_object(interp, value, name, node)
        case Tensor():
            return _attribute_of_tensor(value, name)
        case Super(owner, receiver):
            return _attribute_of_super(interp, owner, receiver, name)
        case ClassValue():
            found = find_member(interp, value, name)
            if isinstance(found, Function) and found.kind == "class":
                return Bound(found, value)
            if name == "__name__":
                return Const(value.node.name)
            return found if found is not None else Builtin(value, name)
        case TupleValue(items) if len(items) == 2 and name in ("values", "indices"):
            return items[name == "indices"]
        case DeviceValue(symbol=symbol):
            if name == "type":
                return replace(value, text=True)
            return Number(f"{symbol}.index") if name == "index" else Builtin(value, name)
        case Unknown(symbol) | Number(symbol):
            return Unknown(f"{symbol}.{name}" if symbol else "")
    return Builtin(value, name)


def _attribute_of_tensor(value: Tensor, name: str) -> Value:
    if name == "device":
        return DeviceValue(value.device)
    if name == "dtype":
        return DType()
    if name == "is_cuda":
        return Const(value.device != CPU) if value.device.known else UNKNOWN
    if name in _TENSOR_NON_TENSORS:
        return UNKNOWN
    if name in _TENSOR_ATTRIBUTES:
        return replace(value, grad=value.grad and name not in ("data", "grad"))
    if value.maybe_container:
        origins = tuple(Origin(origin.kind, origin.site_id, (*origin.path, f".{name}")) for origin in value.origins)
        return replace(value, origins=origins)
    return Builtin(value, name)


def _attribute_of_super(interp: Interpreter, owner: ClassValue, receiver: Value, name: str) -> Value:
    cls = interp.heap_object(receiver).cls if isinstance(receiver, Pointer) else receiver
    found = find_member(interp, cls, name, above=owner) if isinstance(cls, ClassValue) else None
    if isinstance(found, Function):
        return Bound(found, receiver) if found.kind in ("function", "class") else found
    if found is not None:
        return found
    return Builtin(Super(owner, receiver), name)


def _attribute_of_object(interp: Interpreter, pointer: Pointer, name: str, node: ast.AST) -> Value:
    obj = interp.heap_object(pointer)
    if name == "state" and obj.kind == "optimizer":
        optimizers.note_state_read(interp, pointer)
    if name in obj.fields and obj.kind not in ("dict", "list", "set"):
        return obj.fields[name]
    if obj.cls is not None:
        found = find_member(interp, obj.cls, name)
        if isinstance(found, Function):
            if found.kind == "property":
                call = ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [], []), node)
                return interp.call(Bound(found, pointer), [], {}, call)
            if found.kind == "static":
                return found
            return Bound(found, obj.cls if found.kind == "class" else pointer)
        if isinstance(found, Partial | Bound):
            return found
        if found is not None:
            return found
        if name == "__class__":
            return obj.cls
    if obj.kind == "module":
        return _attribute_of_module(interp, pointer, obj, name)
    if obj.kind in ("instance", "parser-result"):
        if name == "__dict__":
            return pointer
        getter = find_member(interp, obj.cls, "__getattr__") if obj.cls is not None else None
        if isinstance(getter, Function):
            call = ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [], []), node)
            return interp.call(Bound(getter, pointer), [Const(name)], {}, call)
        if name in ("items", "keys", "values", "update") and obj.cls is not None and "?" not in external_bases(obj.cls):
            return Builtin(pointer, name)  # of its ``__dict__``
        if name == "train" and is_device_placing_trainer(obj):
            return Builtin(pointer, name)
        return Unknown(f"{obj.name or 'object'}#{pointer.id}.{name}")
    if obj.kind == "batch-object":
        found = batch_objects.attribute(interp, pointer, name)
        return found if found is not None else Builtin(pointer, name)
    if obj.kind == "distribution":
        found = distributions.attribute(interp, pointer, name)
        return found if found is not None else Builtin(pointer, name)
    if obj.kind == "opaque":
        return Builtin(pointer, name)
    if obj.kind == "dataset" and name in ("data", "_data"):
        return batches.single_graph(interp, pointer, node)
    if obj.kind == "loader" and name in ("dataset", "collate_fn"):
        return obj.fields.get(name, UNKNOWN)
    if obj.kind in ("optimizer", "scaler", "scheduler") and name in ("param_groups", "state", "optimizer"):
        return obj.fields.get(name, UNKNOWN)
    return Builtin(pointer, name)


def _attribute_of_module(interp: Interpreter, pointer: Pointer, obj: HeapObject, name: str) -> Value:
    if name in ("_modules", "_parameters", "_buffers"):
        return pointer
    if name == "training":
        return UNKNOWN
    if name == "device":
        return DeviceValue(module_tree.weights_device(interp, pointer))
    if name in ("weight", "bias") and obj.weights and obj.cls is None:
        return Tensor(module_tree.common_device(obj), (Origin("parameter", pointer.id),))
    if name in ("affine", "track_running_stats", "elementwise_affine") and obj.cls is None:
        return Const(True)  # PyTorch's defaults
    if name in _MODULE_SIZES:
        return Number()
    if name in MODULE_METHODS:
        return Builtin(pointer, name)
    if obj.get("data-parallel"):
        return UNKNOWN
    if obj.name.startswith(("torch_geometric.", "dgl.")):
        return Builtin(pointer, name)  # their methods take indices, which may be on another device
    if obj.name.startswith("torch.nn.") and "Transformer" not in obj.name:
        return Builtin(pointer, name)  # PyTorch's layers have no submodules
    if module_tree.is_opaque(obj) and not name.startswith("_"):
        return (
            module_tree.opaque_child(interp, pointer, name)
            if name not in ("config", "hparams", "name", "cfg")
            else UNKNOWN
        )
    if obj.cls is not None and obj.weights:
        return UNKNOWN
    return Builtin(pointer, name)
