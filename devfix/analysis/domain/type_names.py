"""Names of tensors' types, which name their devices: ``x.type() == "torch.cuda.FloatTensor"``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import ACCELERATOR, CPU, UNKNOWN_DEVICE, Device, Tensor, alternatives

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["have_equal_types"]

_ASKS_FOR_DEVICE = "torch.cuda.FloatTensor"


def have_equal_types(interp: Interpreter, left: ast.expr, right: ast.expr) -> bool | None:
    """Return whether two expressions are the same name of a type; ``None`` if unknown, or if one is no such name.

    On one device, they may name different dtypes or layouts; ``torch.cuda.FloatTensor`` mostly asks for the device.
    """
    one, other = _devices(interp, left), _devices(interp, right)
    if one and other and all(device.differs(another) for device in one for another in other):
        return False
    is_named = any(isinstance(each, ast.Constant) and each.value == _ASKS_FOR_DEVICE for each in (left, right))
    return True if is_named and {*one} == {*other} == {ACCELERATOR} else None


def _devices(interp: Interpreter, node: ast.expr) -> list[Device]:
    """Return the devices that the name of a type may name: of ``x.type()``, those of ``x``."""
    match node:
        case ast.Constant(value=str(name)):
            module, _, kind = name.rpartition(".")
            return [_DEVICES[module]] if module in _DEVICES and kind.endswith("Tensor") else []
        case ast.Call(func=ast.Attribute(value=owner, attr="type"), args=[], keywords=[]):
            options = alternatives(interp.evaluate(owner))
            return [each.device if isinstance(each, Tensor) else UNKNOWN_DEVICE for each in options]
    return []


#: Of names of dense tensors' types, what comes first.
_DEVICES = {"torch": CPU, "torch.cuda": ACCELERATOR}
