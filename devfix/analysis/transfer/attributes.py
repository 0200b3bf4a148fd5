"""Attribute access: ``value.name``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from devfix.analysis.attribute_stores import current_parameter
from devfix.analysis.domain.classes import find_member
from devfix.analysis.domain.records import replace
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
    Namespace,
    Number,
    Origin,
    Pointer,
    Super,
    Tensor,
    TupleValue,
    Union,
    Unknown,
    Value,
    alternatives,
    join,
    present,
)
from devfix.analysis.transfer.device_arguments import selects_device
from devfix.models.names import names_number

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


_NAMES_DEVICE = re.compile("dev|cuda|gpu")


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
        case Union():
            options = present(value)
            known = [option for option in options if name != "is_cuda" or not isinstance(option, Unknown)]
            joined = join(attribute(interp, option, name, node) for option in known or options)
            return _answer_of_known(joined) if name == "is_cuda" else joined
        case External(full) if name == "__module__":
            return Const(full.rpartition(".")[0])
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
            found = interp.heap_object(value).attribute(interp, value, name, node)
            if value.id in interp.unfollowed and isinstance(found, Unknown) and _NAMES_DEVICE.search(name):
                return UNKNOWN  # the constructor, which was not followed again, may say which
            return current_parameter(interp, found)
        case Tensor():
            is_open = name == "is_cuda" and not value.device.known
            return _is_on_accelerator(interp) if is_open else _attribute_of_tensor(value, name)
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
        case Const(str() | int()) if name == "value":
            return value  # of a member of an enumeration
        case DeviceValue(symbol=symbol):
            if name == "value":
                return value
            if name == "type":
                return replace(value, text=True)
            return Number(f"{symbol}.index") if name == "index" else Builtin(value, name)
        case Unknown() if name == "is_cuda" and not interp.observations.is_library:
            return _is_on_accelerator(interp)
        case Unknown(symbol) | Number(symbol):
            is_place = name == "device" and not selects_device(symbol)
            return Unknown(f"{symbol}.{name}" if symbol and not is_place else "")
    return Builtin(value, name)


def _is_on_accelerator(interp: Interpreter) -> Value:
    """Return whether values of which nothing is known are on the accelerator: a program's are, where there is one."""
    return UNKNOWN if interp.observations.is_library else Const(not interp.scenario.no_accelerator)


def _answer_of_known(answer: Value) -> Value:
    """Return the answer of the known alternatives, if they agree: unknown values are taken to be on the same device."""
    known = {option for option in alternatives(answer) if isinstance(option, Const)}
    return known.pop() if len(known) == 1 else answer


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
        if names_number(name):
            return Number()
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
