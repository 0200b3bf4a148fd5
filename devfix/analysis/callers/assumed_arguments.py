"""The arguments that any caller passes: tensors on the accelerator, and defaults where they say something."""

from __future__ import annotations

import ast
from dataclasses import field
from typing import TYPE_CHECKING

from devfix.analysis.callers.annotations import annotation_kind
from devfix.analysis.callers.arguments import UNKNOWN, Argument, Evidence, Kind
from devfix.analysis.callers.file_names import names_with_imports
from devfix.analysis.callers.kinds import argument_kinds
from devfix.analysis.domain.records import dataclass
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    NONE,
    Const,
    Device,
    DeviceValue,
    DType,
    Function,
    Number,
    Tensor,
    Text,
    TupleValue,
    Unknown,
    Value,
    join,
)
from devfix.analysis.stdlib.containers import DictObject, ListObject
from devfix.analysis.torch import module_objects

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter
    from devfix.syntax.tree import SourceTree

__all__ = ["AssumedArguments", "assume", "has_options"]

_STRONG = (Evidence.PROTOCOL, Evidence.ANNOTATION, Evidence.CHECK, Evidence.DOCSTRING, Evidence.USE)


@dataclass
class AssumedArguments:
    """The arguments of one assumed call.

    ``places``: one of them is on the accelerator; ``is_certain``: the code says of each tensor that it is one.
    """

    positional: list[Value] = field(default_factory=list)
    keywords: dict[str, Value] = field(default_factory=dict)
    places: bool = False
    is_certain: bool = True


def assume(
    interp: Interpreter,
    function: Function,
    owner: ast.ClassDef | None,
    tree: SourceTree,
    skip: int = 0,
    only_required: bool = False,
    device: Device = ACCELERATOR,
    chosen: Device | None = None,
) -> AssumedArguments:
    """Return the arguments that any caller passes to a function.

    Args:
        interp: the interpreter.
        function: the function.
        owner: the class of a method.
        tree: the file of the function.
        skip: number of parameters that are bound already.
        only_required: the caller leaves out optional tensors and devices.
        device: where tensors and modules are; unknown for those that a constructor gets before the move.
        chosen: the device that the caller passes, if it is another one.

    """
    assert not isinstance(function.node, ast.Lambda)
    kinds = argument_kinds(function.node, owner, tree)
    spec = function.node.args
    assumed = AssumedArguments()

    def given(parameter: ast.arg, default: Value | None) -> Value:
        argument = _argument(interp, function, parameter, kinds.get(parameter.arg, UNKNOWN))
        is_omitted = argument.kind in omitted or _may_be_left_out(argument, default)
        if only_required and default is not None and is_omitted and not _is_cpu(default):
            return default
        assumed.places |= not _PLACED.isdisjoint([argument.kind, *(part.kind for part in argument.parts)])
        if argument.kind in _TENSORS:
            assumed.is_certain &= argument.evidence in _STRONG or name == "forward"
        symbol = f"{function.module.name}.{name}.{parameter.arg}"
        if argument.parts:
            return TupleValue(tuple(_of_kind(interp, part.kind, device, None, symbol) for part in argument.parts))
        kinds_given = (argument.kind, *sorted(argument.alternatives, key=lambda kind: kind.name))
        places = [chosen if kind is Kind.DEVICE and chosen is not None else device for kind in kinds_given]
        values = (_of_kind(interp, *each, default, symbol) for each in zip(kinds_given, places, strict=True))
        return join(values)

    name = function.node.name
    is_private = name.startswith("_") and not name.startswith("__")  # its callers pass the device that they know
    omitted = _TENSORS if is_private else _OMITTED
    positional = [*spec.posonlyargs, *spec.args]
    first_default = len(positional) - len(function.defaults)
    for index, parameter in enumerate(positional[skip:], skip):
        default = function.defaults[index - first_default] if index >= first_default else None
        assumed.positional.append(given(parameter, default))
    if spec.vararg is not None and kinds.get(spec.vararg.arg, UNKNOWN).kind is Kind.TENSOR:
        assumed.positional.extend([Tensor(device), Tensor(device)])
    for parameter, keyword_default in zip(spec.kwonlyargs, function.keyword_defaults, strict=False):
        assumed.keywords[parameter.arg] = given(parameter, keyword_default)
    return assumed


def _may_be_left_out(argument: Argument, default: Value | None) -> bool:
    """Return whether a function asks if an argument is ``None``, its default: it knows what to do without it."""
    return argument.kind is Kind.UNKNOWN and argument.optional and default == NONE


def _argument(interp: Interpreter, function: Function, parameter: ast.arg, known: Argument) -> Argument:
    """Return what an argument is, with the help of the files that its annotation is imported from."""
    if parameter.annotation is None or known.parts or known.evidence in (Evidence.PROTOCOL, Evidence.ANNOTATION):
        return known
    declared = annotation_kind(parameter.annotation, names_with_imports(interp.program, function.module))
    return declared if declared.kind is not Kind.UNKNOWN else known


def _is_cpu(default: Value) -> bool:
    """Return whether a default says that the function works on the CPU: a caller on an accelerator passes its own."""
    return default == Const("cpu") or (isinstance(default, DeviceValue) and default.device == CPU)


def has_options(function: Function, owner: ast.ClassDef | None, tree: SourceTree) -> bool:
    """Return whether a caller may leave out a tensor or a device."""
    assert not isinstance(function.node, ast.Lambda)
    kinds = argument_kinds(function.node, owner, tree)
    spec = function.node.args
    positional = [*spec.posonlyargs, *spec.args]
    optional = list(zip(positional[len(positional) - len(spec.defaults) :], function.defaults, strict=False))
    named = zip(spec.kwonlyargs, function.keyword_defaults, strict=False)
    optional += [(each, default) for each, default in named if default is not None]
    arguments = [(kinds.get(each.arg, UNKNOWN), default) for each, default in optional]
    return any(each.kind in _OMITTED or _may_be_left_out(each, default) for each, default in arguments)


_TENSORS = (Kind.TENSOR, Kind.TENSORS, Kind.TENSOR_DICT)
_PLACED = frozenset((*_TENSORS, Kind.BATCH, Kind.MODULE, Kind.DEVICE))
_OMITTED = (*_TENSORS, Kind.DEVICE, Kind.DTYPE)


def _of_kind(interp: Interpreter, kind: Kind, device: Device, default: Value | None, symbol: str) -> Value:
    match kind:
        case Kind.TENSOR:
            return Tensor(device)
        case Kind.TENSORS:
            return interp.new(ListObject(default_item=Tensor(device)))
        case Kind.LIST:
            return interp.new(ListObject(default_item=Unknown(symbol)))
        case Kind.TENSOR_DICT:
            return interp.new(DictObject(default_item=Tensor(device)))
        case Kind.BATCH:
            return Tensor(device, is_certain=False, maybe_container=True)
        case Kind.MODULE:
            assert interp.activation is not None
            node = interp.activation.stmt or interp.activation.node
            return module_objects.make(interp, "", node, device, opaque=True)
        case Kind.DEVICE:
            return DeviceValue(device, symbol=symbol)
        case Kind.DTYPE:
            return DType()
        case Kind.NUMBER:
            return Number(symbol)
        case Kind.TEXT:
            return Text(symbol)
        case Kind.CALLABLE if default is not None and not isinstance(default, (Const, Text)):
            return default  # a name for a table stands for what the caller finds there
    return Unknown(symbol)
