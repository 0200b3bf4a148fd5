"""Hooks of modules: functions of the program that run when a module is called, or in the backward pass.

https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_forward_hook
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.joins import join_options
from devfix.analysis.domain.objects import Module, module_at
from devfix.analysis.domain.records import replace
from devfix.analysis.domain.values import (
    NONE,
    UNKNOWN_DEVICE,
    Bound,
    Function,
    Partial,
    Pointer,
    Tensor,
    TupleValue,
    Unknown,
    Value,
    alternatives,
)
from devfix.analysis.torch.module_tree import weights_device

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["call_after", "call_before", "register"]

_BEFORE, _AFTER, _BACKWARD = "*before", "*after", "*backward"  # fields of a module
_FIELDS = {
    "register_forward_pre_hook": _BEFORE,
    "register_forward_hook": _AFTER,
    "register_backward_hook": _BACKWARD,
    "register_full_backward_hook": _BACKWARD,
}


def register(interp: Interpreter, pointer: Pointer, name: str, args: list[Value], node: ast.Call) -> bool:
    """Keep a hook of the program; return whether ``name`` is a method that registers one.

    A part of a module of which only the device is known is not called one by one: its hook is called at once.
    """
    field, module = _FIELDS.get(name), module_at(interp, pointer)
    if field is None or module is None or not args or not _is_of_program(args[0]):
        return field is not None
    if not module.is_opaque or not module.parents:
        interp.now.set_field(pointer, field, join_options(module.fields.get(field), args[0]) or args[0])
        return True
    place = weights_device(interp, pointer)
    if place.known:
        result = Tensor(place, is_certain=False, maybe_container=True)
        given: list[Value] = [pointer, TupleValue((result,))]
        interp.call(args[0], given if field == _BEFORE else [*given, result], {}, node)
    return True


def _is_of_program(value: Value) -> bool:
    return all(isinstance(option, (Bound, Function, Partial, Pointer)) for option in alternatives(value))


def call_before(interp: Interpreter, pointer: Pointer, module: Module, args: list[Value], node: ast.Call) -> None:
    """Call the hooks that see the arguments."""
    hook = module.fields.get(_BEFORE)
    if hook is not None:
        interp.call(hook, [pointer, TupleValue(tuple(args))], {}, node)


def call_after(
    interp: Interpreter, pointer: Pointer, module: Module, args: list[Value], result: Value, node: ast.Call
) -> Value:
    """Call the hooks of the result and of the backward pass; return the result, which a hook may replace."""
    hook = module.fields.get(_AFTER)
    if hook is not None:
        changed = interp.call(hook, [pointer, TupleValue(tuple(args)), result], {}, node)
        result = result if changed == NONE or isinstance(changed, Unknown) else changed
    hook = module.fields.get(_BACKWARD)
    if hook is not None and interp.now.runtime.gradients:
        gradients = TupleValue((_gradient(result),))
        interp.call(hook, [pointer, gradients, gradients], {}, node)
    return result


def _gradient(result: Value) -> Value:
    return replace(result, origins=(), grad=False) if isinstance(result, Tensor) else Tensor(UNKNOWN_DEVICE)
