"""Modules and their attributes: stores, references, wraps, and copies of parameters."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from devfix.analysis.domain.records import dataclass

if TYPE_CHECKING:
    import ast

    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.values import ClassValue, Pointer, Value

__all__ = ["AttributeStore", "ModuleReference", "ParameterCopy", "ShapeDependency"]


@dataclass(eq=False)
class AttributeStore:
    """A statement that stores CPU tensors, or a container of modules or tensors, in an attribute.

    Attributes:
        number: identifier, the ``attribute_id`` of origins.
        name: name of the attribute.
        point: program point of the statement.
        cls: class of the object.
        value: the assigned expression.
        stored_value: the first stored value.
        owners: the objects, with the time of the latest store; empty for a class attribute.

    """

    number: int
    name: str
    point: ProgramPoint
    cls: ClassValue | None
    value: ast.expr | None
    stored_value: Value
    owners: dict[Pointer, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ModuleReference:
    """A reference to ``module`` in an attribute of an object that is not a module: ``self.model = model``."""

    module: Pointer
    point: ProgramPoint


@dataclass(frozen=True, eq=False)
class ParameterCopy:
    """A copy of a parameter of ``module`` on the CPU: ``p.clone()``, ``torch.zeros_like(p)``."""

    module: Pointer
    point: ProgramPoint


@dataclass(frozen=True, eq=False)
class ShapeDependency:
    """A tensor that is created with the shape of a parameter of ``module``: ``torch.zeros(p.shape)``.

    ``text`` is the parameter's expression; ``early`` says that the parameter is on the CPU at that point.
    """

    text: str
    module: Pointer
    early: bool
