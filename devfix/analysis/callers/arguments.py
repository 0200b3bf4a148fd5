"""The arguments that any caller passes: tensors on the accelerator, and defaults where they say something."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devfix.analysis.callers.kinds import Argument, Evidence, Kind, argument_kinds
from devfix.analysis.domain.values import (
    ACCELERATOR,
    NONE,
    Const,
    DeviceValue,
    DType,
    Function,
    Number,
    Tensor,
    Text,
    Unknown,
    Value,
    join,
)
from devfix.analysis.stdlib.containers import DictObject, ListObject
from devfix.analysis.torch import module_objects

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter
    from devfix.syntax.tree import SourceTree

__all__ = ["AssumedArguments", "assume"]

_TENSOR = Tensor(ACCELERATOR)
_STRONG = (Evidence.ANNOTATION, Evidence.CHECK, Evidence.DOCSTRING)


@dataclass
class AssumedArguments:
    """The arguments of one assumed call; ``is_certain`` if what the tensors are is written down."""

    positional: list[Value] = field(default_factory=list)
    keywords: dict[str, Value] = field(default_factory=dict)
    is_certain: bool = True


def assume(
    interp: Interpreter, function: Function, owner: ast.ClassDef | None, tree: SourceTree, skip: int
) -> AssumedArguments:
    """Return the arguments that any caller passes to a function; ``skip`` parameters are bound already."""
    assert not isinstance(function.node, ast.Lambda)
    kinds = argument_kinds(function.node, owner, tree)
    spec = function.node.args
    assumed = AssumedArguments()
    positional = [*spec.posonlyargs, *spec.args]
    first_default = len(positional) - len(function.defaults)
    for index, parameter in enumerate(positional):
        if index < skip:
            continue
        default = function.defaults[index - first_default] if index >= first_default else None
        assumed.positional.append(_value(interp, function, parameter, kinds.get(parameter.arg), default, assumed))
    for parameter, default in zip(spec.kwonlyargs, function.keyword_defaults, strict=False):
        assumed.keywords[parameter.arg] = _value(
            interp, function, parameter, kinds.get(parameter.arg), default, assumed
        )
    if spec.vararg is not None and (given := kinds.get(spec.vararg.arg)) is not None and given.kind is Kind.TENSOR:
        assumed.positional.extend([_TENSOR, _TENSOR])
    return assumed


def _value(
    interp: Interpreter,
    function: Function,
    parameter: ast.arg,
    argument: Argument | None,
    default: Value | None,
    assumed: AssumedArguments,
) -> Value:
    symbol = f"{function.module.name}.{function.node.name}.{parameter.arg}"  # type: ignore[union-attr]
    value = _of_kind(interp, argument, default, symbol)
    if argument is not None and argument.kind in _TENSOR_KINDS and argument.evidence not in _STRONG:
        assumed.is_certain = False
    if argument is not None and argument.optional and argument.kind in _TENSOR_KINDS:
        return join((value, NONE))
    return value


_TENSOR_KINDS = (Kind.TENSOR, Kind.TENSORS, Kind.TENSOR_DICT)


def _of_kind(interp: Interpreter, argument: Argument | None, default: Value | None, symbol: str) -> Value:
    match argument.kind if argument is not None else Kind.UNKNOWN:
        case Kind.TENSOR:
            return _TENSOR
        case Kind.TENSORS:
            return interp.new(ListObject(default_item=_TENSOR))
        case Kind.TENSOR_DICT:
            return interp.new(DictObject(default_item=_TENSOR))
        case Kind.MODULE:
            assert interp.activation is not None
            node = interp.activation.stmt or interp.activation.node
            return module_objects.make(interp, "", node, ACCELERATOR, opaque=True)
        case Kind.DEVICE:
            return DeviceValue(ACCELERATOR, symbol=symbol)
        case Kind.DTYPE:
            return DType()
        case Kind.NUMBER:
            return Number(symbol)
        case Kind.TEXT:
            return Text(symbol)
        case Kind.CALLABLE if default is not None and default != NONE:
            return default
    return Unknown(symbol)


