"""Names of tensors' types, which name their devices: ``x.type() == "torch.cuda.FloatTensor"``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import ACCELERATOR, CPU, UNKNOWN_DEVICE, Device, Tensor, alternatives

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["have_equal_types"]

_USUAL = ("FloatTensor", "LongTensor")  # of other dtypes, a tensor is mostly not


def have_equal_types(interp: Interpreter, left: ast.expr, right: ast.expr) -> bool | None:
    """Return whether two expressions are the same name of a type; ``None`` if unknown, or if one is no such name."""
    one, other = _devices(interp, left), _devices(interp, right)
    if not one or not other:
        return None
    if all(device.differs(another) for device in one for another in other):
        return False
    named = next((each.value for each in (left, right) if isinstance(each, ast.Constant)), "")
    is_usual = isinstance(named, str) and named.endswith(_USUAL)
    return True if is_usual and len({*one, *other}) == 1 and one[0].known else None


def _devices(interp: Interpreter, node: ast.expr) -> list[Device]:
    """Return the devices that the name of a type may name: of ``x.type()``, those of ``x``."""
    match node:
        case ast.Constant(value=str(name)) if name.startswith("torch.") and name.endswith("Tensor"):
            return [ACCELERATOR if name.startswith("torch.cuda.") else CPU]
        case ast.Call(func=ast.Attribute(value=owner, attr="type"), args=[], keywords=[]):
            options = alternatives(interp.evaluate(owner))
            return [each.device if isinstance(each, Tensor) else UNKNOWN_DEVICE for each in options]
    return []
