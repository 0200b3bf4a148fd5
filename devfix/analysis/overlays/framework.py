"""Framework objects: the base classes of ``Accelerator``, ``Engine`` and the like, and of project subclasses."""

from __future__ import annotations

import ast
from dataclasses import field
from typing import TYPE_CHECKING, ClassVar

from devfix.analysis.domain.joins import equal_or
from devfix.analysis.domain.objects import HeapObject
from devfix.analysis.domain.records import dataclass
from devfix.analysis.domain.values import UNKNOWN_DEVICE, Builtin, Device, Keywords, Pointer, Value
from devfix.analysis.stdlib.instances import InstanceObject

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["FrameworkInstance", "FrameworkObject"]


@dataclass(frozen=True)
class FrameworkObject(HeapObject):
    """An object of a framework that places modules and batches itself.

    Attributes:
        input_device: where it places them.

    """

    input_device: Device = field(default=UNKNOWN_DEVICE, metadata=equal_or(UNKNOWN_DEVICE))


@dataclass(frozen=True)
class FrameworkInstance(InstanceObject):
    """An instance of a project class that derives from a class of a framework, which calls its methods.

    Attributes:
        library_methods: names of the methods that the framework's class defines and :meth:`method` models.

    """

    library_methods: ClassVar[frozenset[str]] = frozenset()

    def other_attribute(self, interp: Interpreter, pointer: Pointer, name: str, node: ast.AST) -> Value:
        """Return an attribute, or a method of the framework's class."""
        if name in self.library_methods:
            return Builtin(pointer, name)
        return super().other_attribute(interp, pointer, name, node)

    def construct(
        self, interp: Interpreter, pointer: Pointer, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> None:
        """Run the constructor of the framework's class."""

    def run(self, interp: Interpreter, pointer: Pointer, node: ast.Call) -> None:
        """Call the instance's methods as the framework does, on data that nothing is known of."""
