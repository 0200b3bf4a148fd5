"""Learning-rate schedulers, and the scalers of gradients."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import HeapObject
from devfix.analysis.domain.records import dataclass
from devfix.analysis.domain.values import NONE, UNKNOWN, Keywords, Pointer, Value, alternatives
from devfix.analysis.torch import checkpoints

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["ScalerObject", "SchedulerObject"]


@dataclass(frozen=True)
class _WithOptimizer(HeapObject):
    """An object that an optimizer belongs to."""

    def other_attribute(self, interp: Interpreter, pointer: Pointer, name: str, node: ast.AST) -> Value:
        """Return the optimizer, its groups and its state as unknown, and anything else as a method."""
        if name in ("param_groups", "state", "optimizer"):
            return UNKNOWN
        return super().other_attribute(interp, pointer, name, node)


@dataclass(frozen=True)
class SchedulerObject(_WithOptimizer):
    """A learning-rate scheduler, with its optimizer as a field."""

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method: a state that is loaded may be on any device."""
        for value in args:
            _note_loaded_state(interp, value, node)
        return UNKNOWN


@dataclass(frozen=True)
class ScalerObject(_WithOptimizer):
    """A ``GradScaler``."""

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method: ``step`` is that of the optimizer, ``scale`` returns its argument."""
        if name == "step" and args:
            for option in alternatives(args[0]):
                if isinstance(option, Pointer):
                    interp.heap_object(option).method(interp, option, "step", [], {}, node)
        if name == "load_state_dict" and args:
            _note_loaded_state(interp, args[0], node)
        return args[0] if name == "scale" and args else NONE


def _note_loaded_state(interp: Interpreter, value: Value, node: ast.AST) -> None:
    for tensor in checkpoints.loaded_tensors(interp, value):
        checkpoints.note_use(interp, tensor, "state", node, False)
