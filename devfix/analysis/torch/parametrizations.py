"""Parametrizations of weights: modules that compute a parameter each time it is read.

https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrize.register_parametrization.html
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import Module, module_at
from devfix.analysis.domain.values import UNKNOWN, Const, Keywords, Origin, Pointer, Tensor, Value, alternatives
from devfix.analysis.torch import module_tree, modules
from devfix.analysis.transfer.device_check import check_same_device, weight_operands
from devfix.syntax.tree import implicit_call

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS", "evaluate"]

_PREFIX = "parametrizations."


def evaluate(interp: Interpreter, pointer: Pointer, module: Module, node: ast.Call) -> None:
    """Call the parametrizations of a layer that is called."""
    for name, part in module.fields.items():
        if name.startswith(_PREFIX) and isinstance(part, Pointer):
            _call(interp, pointer, part, node)


def _call(interp: Interpreter, owner: Pointer, part: Pointer, node: ast.Call) -> None:
    weight = Tensor(module_tree.weights_device(interp, owner), (Origin("parameter", owner.id),))
    call = implicit_call(node, "parametrization")
    interp.call(part, [weight], {}, call)


def _register(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``register_parametrization``: the parametrization becomes a submodule, and is called once with the parameter."""
    given = dict(zip(("module", "tensor_name", "parametrization"), args, strict=False)) | keywords
    owner, part = given.get("module", UNKNOWN), given.get("parametrization", UNKNOWN)
    tensor = given.get("tensor_name")
    slot = f"{_PREFIX}{tensor.value}" if isinstance(tensor, Const) else None
    is_called = given.get("unsafe", Const(False)) == Const(False)
    for option in alternatives(owner):
        if isinstance(option, Pointer) and module_at(interp, option) is not None and isinstance(part, Pointer):
            if is_called and not _has_other_device(interp, name, option, part, node):
                _call(interp, option, part, node)
            modules.attach(interp, option, slot, part, node, weak=slot is None)
    return owner


def _has_other_device(interp: Interpreter, name: str, owner: Pointer, part: Pointer, node: ast.Call) -> bool:
    """Report weights of a parametrization that are on another device than those of the module, once."""
    device, found = module_tree.weights_device(interp, owner), False
    for path, inner, module in list(module_tree.weighted_modules(interp, part)):
        if module.device.differs(device):
            found = True
            operands = [weight_operands(interp, owner, "…"), weight_operands(interp, inner, path)]
            check_same_device(interp, node, name, operands)
            interp.now.update(inner, devices=frozenset({device}))  # report the mismatch once
    return found


OVERLAYS: dict[str, TransferFunction] = {"torch.nn.utils.parametrize.register_parametrization": _register}
