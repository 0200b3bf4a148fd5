"""Functions with a gradient of their own: subclasses of ``torch.autograd.Function``.

``apply`` calls ``forward`` with a context, and the backward pass calls ``backward`` with the same one:
https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.Function
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.classes import external_bases, find_member
from devfix.analysis.domain.records import dataclass, replace
from devfix.analysis.domain.state import Unreachable
from devfix.analysis.domain.values import (
    NONE,
    UNKNOWN,
    Builtin,
    ClassValue,
    Function,
    IterableOf,
    Keywords,
    Pointer,
    Tensor,
    TupleValue,
    Value,
    alternatives,
    join,
)
from devfix.analysis.stdlib.instances import InstanceObject

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["apply", "is_autograd_function"]

_BASES = frozenset(
    {"torch.autograd.Function", "torch.autograd.function.Function", "torch.autograd.function.InplaceFunction"}
)
_SAVED = "saved_tensors"


@dataclass(frozen=True)
class ContextObject(InstanceObject):
    """The context of one application: what ``forward`` keeps for ``backward``."""

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call ``save_for_backward``."""
        interp.now.set_field(pointer, _SAVED, TupleValue(tuple(args)))
        return NONE

    def other_attribute(self, interp: Interpreter, pointer: Pointer, name: str, node: ast.AST) -> Value:
        """Return what ``forward`` has not set."""
        if name == "save_for_backward":
            return Builtin(pointer, name)
        if name in ("saved_variables", _SAVED):
            return self.fields.get(_SAVED, TupleValue(()))
        if name == "needs_input_grad":
            return IterableOf(UNKNOWN)
        return super().other_attribute(interp, pointer, name, node)


def is_autograd_function(cls: ClassValue) -> bool:
    """Return whether a class of the project has a gradient of its own."""
    return not _BASES.isdisjoint(external_bases(cls))


def apply(interp: Interpreter, cls: ClassValue, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Execute ``Function.apply(...)``, and the backward pass of its result where gradients are recorded."""
    forward, setup = find_member(interp, cls, "forward"), find_member(interp, cls, "setup_context")
    if not isinstance(forward, Function):
        return UNKNOWN
    context = interp.new(ContextObject(allocated_at=interp.point(node)))
    if isinstance(setup, Function):
        result = interp.call(forward, args, keywords, node)
        interp.call(setup, [context, TupleValue(tuple(args)), result], {}, node)
    else:
        result = interp.call(forward, [context, *args], keywords, node)
    backward = find_member(interp, cls, "backward")
    if isinstance(backward, Function) and interp.now.runtime.gradients:
        _go_back(interp, backward, context, result, node)
    return result


def _go_back(interp: Interpreter, backward: Function, context: Pointer, result: Value, node: ast.Call) -> None:
    """Call ``backward`` with the gradients of what ``forward`` has returned: each is where its output is."""
    outputs = result.items if isinstance(result, TupleValue) else (result,)
    gradients = [_gradient(output) for output in outputs]
    if not any(isinstance(option, Tensor) for gradient in gradients for option in alternatives(gradient)):
        return
    before = interp.now.fork()
    try:
        interp.call(backward, [context, *gradients], {}, node)
    except Unreachable:
        interp.state = before


def _gradient(output: Value) -> Value:
    options = [option for option in alternatives(output) if isinstance(option, Tensor)]
    return join(replace(option, origins=(), grad=False) for option in options) if options else UNKNOWN
