"""Transforms of images that consist of others: each gets what the one before it returns.

Source: https://docs.pytorch.org/vision/stable/generated/torchvision.transforms.Compose.html
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import HeapObject
from devfix.analysis.domain.records import dataclass
from devfix.analysis.domain.values import UNKNOWN, Keywords, Pointer, Value

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS"]

_PARAMETER = "transforms"


@dataclass(frozen=True)
class ComposedTransforms(HeapObject):
    """Transforms in a list, which are called in turn."""

    def call(
        self, interp: Interpreter, pointer: Pointer, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call each transform with the result of the one before it; the second version also takes several inputs."""
        transforms = interp.elements(self.fields[_PARAMETER], node)
        if transforms is None or len(args) != 1:
            return UNKNOWN
        value = args[0]
        for transform in transforms:
            value = interp.call(transform, [value], {}, node)
        return value


def _compose(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    transforms = args[0] if args else keywords.get(_PARAMETER, UNKNOWN)
    return interp.new(ComposedTransforms(name, fields={_PARAMETER: transforms}, allocated_at=interp.point(node)))


def _lambda(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Return the function itself."""
    return args[0] if args else keywords.get("lambd", UNKNOWN)


OVERLAYS: dict[str, TransferFunction] = {
    "torchvision.transforms.Compose": _compose,
    "torchvision.transforms.Lambda": _lambda,
}
