"""Observations that pass while a program is interpreted: attributes, calls, moves, loops.

None is kept: a rule subscribes to a type, and records what it needs.  A subscriber may replace the value of an
:class:`~devfix.analysis.observations.subscriptions.Evaluation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from devfix.analysis.domain.records import dataclass
from devfix.analysis.observations.subscriptions import Evaluation, Observation

if TYPE_CHECKING:
    import ast

    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.values import Device, Keywords, Pointer, Tensor, Value
    from devfix.analysis.observations.mismatches import Operand

__all__ = [
    "AttributeRead",
    "AttributeStored",
    "CheckpointSaved",
    "Escaped",
    "ExpressionStatement",
    "FunctionCalled",
    "ItemAdded",
    "LoopLeft",
    "MethodCalled",
    "ModuleMoved",
    "ModuleWrapped",
    "NumbersDrawn",
    "OperandsCompared",
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
class ItemAdded(Evaluation):
    """The addition of ``value`` to a list, as ``expression``: by ``append``, or by a comprehension of it."""

    container: Pointer
    expression: ast.expr


@dataclass(frozen=True, slots=True, eq=False)
class Escaped(Observation):
    """An object that is passed to code that cannot be read, before its state is forgotten."""

    value: Pointer


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
class OperandsCompared(Observation):
    """An operation whose operands must be on one device.

    Attributes:
        operation: name of the operation: ``cross_entropy``, ``model(...)``.
        operands: each alternative of each operand.
        node: the operation.

    """

    operation: str
    operands: tuple[Operand, ...]
    node: ast.AST


@dataclass(frozen=True, slots=True, eq=False)
class ModuleMoved(Observation):
    """A method call that moves a module in place: ``model.cpu()``.

    Attributes:
        module: the module, after the move.
        devices: the possible targets.
        node: the call.

    """

    module: Pointer
    devices: tuple[Device, ...]
    node: ast.Call


@dataclass(frozen=True, slots=True, eq=False)
class ModuleWrapped(Observation):
    """The call of ``DataParallel`` or ``DistributedDataParallel`` with ``module``, before it takes effect."""

    module: Pointer
    node: ast.Call


@dataclass(frozen=True, slots=True, eq=False)
class CheckpointSaved(Observation):
    """A call of ``torch.save`` with the object ``value``."""

    value: Value
    node: ast.Call


@dataclass(frozen=True, slots=True, eq=False)
class NumbersDrawn(Observation):
    """Random numbers are drawn for a tensor, from a generator that may be on another device.

    Attributes:
        kind: ``factory`` (``torch.randn``), ``method`` (``x.uniform_()``), ``split`` (``random_split``) or ``loader``.
        generator: the generator; ``None`` for PyTorch's default generator of the CPU.
        wanted: device of the tensor.
        node: the call or loop that draws.
        given_at: program point at which the generator was passed, if it is not ``node``.

    """

    kind: str
    generator: Pointer | None
    wanted: Device
    node: ast.AST
    given_at: ProgramPoint | None


@dataclass(frozen=True, slots=True, eq=False)
class OptimizerBuilt(Observation):
    """The construction of an optimizer over ``parameters``."""

    parameters: Value
    node: ast.Call
