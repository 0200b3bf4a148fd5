"""Hugging Face Diffusers: pipelines, whose inherited methods run their modules, and schedulers with tables of noise.

https://huggingface.co/docs/diffusers/api/pipelines/overview, https://huggingface.co/docs/diffusers/api/schedulers/ddpm
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import Opaque, module_at
from devfix.analysis.domain.records import dataclass
from devfix.analysis.domain.values import (
    CPU,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Builtin,
    DeviceValue,
    Keywords,
    Origin,
    Pointer,
    Tensor,
    Unknown,
    Value,
)
from devfix.analysis.stdlib.instances import InstanceObject
from devfix.analysis.torch import data_sources, module_tree
from devfix.analysis.transfer import modelled_calls
from devfix.analysis.transfer.device_check import check_same_device, tensor_operands, weight_operands
from devfix.models.index import lookup
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS", "PipelineObject"]

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


_TABLE = "alphas_cumprod"
_MOVE_TABLE = ("add_noise", "get_velocity")


@dataclass(frozen=True)
class NoiseSchedulerObject(Opaque):
    """A scheduler of noise: its table is created on the CPU, and moves to the samples to which noise is added.

    https://github.com/huggingface/diffusers/pull/6704, released with 0.27
    """

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method by its signatures; some move the table."""
        model = lookup(f"{self.name}.{name}")
        if model is None or model.kind != "function":
            return super().method(interp, pointer, name, args, keywords, node)
        result = modelled_calls.call_modelled(interp, model, args, keywords, node, pointer)
        if name in _MOVE_TABLE:
            device = result.device if isinstance(result, Tensor) else UNKNOWN_DEVICE
            interp.now.set_field(pointer, _TABLE, Tensor(device))
        return UNKNOWN if result is None else result

    def attribute(self, interp: Interpreter, pointer: Pointer, name: str, node: ast.AST) -> Value:
        """Return an attribute; the table that no call has moved is a CPU tensor where it is read."""
        value = super().attribute(interp, pointer, name, node)
        if name != _TABLE or value != Tensor(CPU):
            return value
        return Tensor(CPU, (Origin("made", data_sources.source_key(interp, "made", node)),))

    def escape(self, interp: Interpreter, pointer: Pointer, depth: int) -> None:
        """Make the device of the table unknown."""
        interp.now.set_field(pointer, _TABLE, Tensor(UNKNOWN_DEVICE))


def _noise_scheduler(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``DDPMScheduler(...)`` and ``DDPMScheduler.from_pretrained(...)``."""
    name = name.removesuffix(".from_pretrained").removesuffix(".from_config")
    point = interp.point(node)
    return interp.new(NoiseSchedulerObject(name, fields={_TABLE: Tensor(CPU)}, allocated_at=point, constructed=True))


OVERLAYS: dict[str, TransferFunction] = {
    "diffusers._NoiseScheduler": _noise_scheduler,
    "diffusers._NoiseScheduler.from_config": _noise_scheduler,
    "diffusers._NoiseScheduler.from_pretrained": _noise_scheduler,
}
