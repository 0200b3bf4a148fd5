"""Hugging Face Diffusers: pipelines, whose inherited methods run their modules.

https://huggingface.co/docs/diffusers/api/pipelines/overview
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import module_at
from devfix.analysis.domain.values import Builtin, DeviceValue, Keywords, Pointer, Tensor, Unknown, Value
from devfix.analysis.stdlib.instances import InstanceObject
from devfix.analysis.torch import module_tree
from devfix.analysis.transfer.device_check import check_same_device, tensor_operands, weight_operands
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["PipelineObject"]

# Inherited methods with a ``device`` argument, to which they move the tokens, and the modules that they call.
_RUNS = {
    "encode_prompt": ("text_encoder", "text_encoder_2", "text_encoder_3"),
    "_encode_prompt": ("text_encoder",),
    "encode_image": ("image_encoder",),
}


@dataclass(frozen=True)
class PipelineObject(InstanceObject):
    """An instance of a project subclass of a pipeline."""

    def other_attribute(self, interp: Interpreter, pointer: Pointer, name: str, node: ast.AST) -> Value:
        """Return an attribute, or an inherited method that runs modules."""
        return Builtin(pointer, name) if name in _RUNS else super().other_attribute(interp, pointer, name, node)

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method; one that runs modules gets its input on the device that it is passed."""
        if name not in _RUNS:
            return super().method(interp, pointer, name, args, keywords, node)
        device = next((value for value in (keywords.get("device"), *args) if isinstance(value, DeviceValue)), None)
        if device is not None:
            for attribute in _RUNS[name]:
                self._check(interp, attribute, device, node)
        return Unknown()

    def _check(self, interp: Interpreter, attribute: str, device: DeviceValue, node: ast.Call) -> None:
        """Check the weights of a module against tokens on a device."""
        module = self.fields.get(attribute)
        if not isinstance(module, Pointer) or module_at(interp, module) is None:
            return
        parts = module_tree.weighted_modules(interp, module)
        weights = [weight_operands(interp, part, path) for path, part, _ in parts]
        tokens = tensor_operands(Tensor(device.device), "")
        check_same_device(interp, node, text_of(node.func), [*weights, tokens], opaque=True)
