"""Observations that pass while a program is interpreted: attributes, calls, moves, loops.

None is kept: a rule subscribes to a type, and records what it needs.  A subscriber may replace the value of an
:class:`~devfix.analysis.observations.subscriptions.Evaluation`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from devfix.analysis.observations.subscriptions import Evaluation, Observation

if TYPE_CHECKING:
    import ast

    from devfix.analysis.domain.values import Device, Keywords, Pointer, Tensor, Value

__all__ = [
    "AttributeRead",
    "AttributeStored",
    "ExpressionStatement",
    "FunctionCalled",
    "LoopLeft",
    "MethodCalled",
    "OptimizerBuilt",
    "TensorMoved",
]


# --- statements and expressions -------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, eq=False)
class ExpressionStatement(Observation):
    """A statement that is only an expression, whose ``value`` is discarded: ``x.to(device)``."""

    stmt: ast.Expr
    value: Value


@dataclass(frozen=True, slots=True, eq=False)
class LoopLeft(Observation):
    """The end of a ``for`` loop, after its last iteration, ``break`` and ``else``; the end may be unreachable."""

    stmt: ast.For | ast.AsyncFor


@dataclass(frozen=True, slots=True, eq=False)
class AttributeRead(Evaluation):
    """The attribute access ``node`` on the value ``base``, except the method of a call (:class:`MethodCalled`)."""

    base: Value
    node: ast.Attribute


@dataclass(frozen=True, slots=True, eq=False)
class AttributeStored(Observation):
    """An assignment to an attribute, or the registration of a submodule, before it takes effect.

    Attributes:
        owner: the object.
        name: the attribute or key; ``None`` if unknown.
        value: the assigned value.
        node: the target, or the call that registers.

    """

    owner: Pointer
    name: str | None
    value: Value
    node: ast.AST


@dataclass(frozen=True, slots=True, eq=False)
class FunctionCalled(Evaluation):
    """A call of a function or class outside the project, after it has returned ``value``.

    Attributes:
        name: the full name: ``torch.zeros``, ``builtins.print``.
        args: the positional arguments.
        keywords: the keyword arguments; an unknown ``**mapping`` is under ``**``.
        node: the call.

    """

    name: str
    args: list[Value]
    keywords: Keywords
    node: ast.Call


@dataclass(frozen=True, slots=True, eq=False)
class MethodCalled(Evaluation):
    """A call of a method outside the project, after it has returned ``value``.

    Attributes:
        receiver: the object; for ``super().name()``, the instance.
        name: the method: ``to``.
        args: the positional arguments.
        keywords: the keyword arguments.
        node: the call.

    """

    receiver: Value
    name: str
    args: list[Value]
    keywords: Keywords
    node: ast.Call


# --- PyTorch --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, eq=False)
class TensorMoved(Evaluation):
    """A method call that moves a tensor: ``x.to(device)``; ``value`` is the result.

    Attributes:
        tensor: the tensor before the move.
        device: the target, which may be the tensor's device.
        node: the call.

    """

    tensor: Tensor
    device: Device
    node: ast.Call


@dataclass(frozen=True, slots=True, eq=False)
class OptimizerBuilt(Observation):
    """The construction of an optimizer over ``parameters``."""

    parameters: Value
    node: ast.Call
