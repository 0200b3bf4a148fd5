"""Names of tensors' types, which name their devices: ``x.type() == "torch.cuda.FloatTensor"``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import ACCELERATOR, CPU, UNKNOWN_DEVICE, Device, Tensor, alternatives

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["have_other_types"]


def have_other_types(interp: Interpreter, left: ast.expr, right: ast.expr) -> bool:
    """Return whether two expressions are names of types on different devices.

    On one device, they may name different dtypes or layouts.
    """
    one, other = _devices(interp, left), _devices(interp, right)
    return bool(one and other) and all(device.differs(another) for device in one for another in other)


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
