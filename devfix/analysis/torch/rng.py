"""``torch.Generator`` objects and their uses: a generator must be on the device of the tensor that is filled.

https://docs.pytorch.org/docs/stable/generated/torch.Generator.html
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis import host_access, scenarios
from devfix.analysis.domain.objects import HeapObject, object_at
from devfix.analysis.domain.records import dataclass
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    NONE,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Const,
    Device,
    Keywords,
    Pointer,
    Tensor,
    Value,
    alternatives,
)
from devfix.analysis.observations.execution import NumbersDrawn
from devfix.analysis.transfer.device_arguments import named_device

if TYPE_CHECKING:
    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["GeneratorObject", "SamplerObject", "default", "draw", "draw_of_loader", "make", "sampler"]


@dataclass(frozen=True)
class GeneratorObject(HeapObject):
    """A ``torch.Generator``."""

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method: some return the generator."""
        return pointer if name in ("manual_seed", "clone_state", "graphsafe_get_state") else UNKNOWN


@dataclass(frozen=True)
class SamplerObject(HeapObject):
    """A sampler, with its generator and its weights as fields."""

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method, which moves nothing."""
        return UNKNOWN


def make(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``torch.Generator(device)``: create a generator; without a device argument, on the CPU."""
    device = args[0] if args else keywords.get("device", NONE)
    devices = {
        CPU if option == NONE else named_device(interp, option) or UNKNOWN_DEVICE for option in alternatives(device)
    }
    if device != NONE and len(devices) == 1:
        scenarios.record_placement(interp, node, next(iter(devices)))
    point = interp.point(node, with_state=True)
    return interp.new(GeneratorObject(name, devices=frozenset(devices), allocated_at=point))


def default(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``torch.manual_seed(0)``: return PyTorch's default generator, which is on the CPU."""
    point = interp.point(node, with_state=True)
    return interp.new(GeneratorObject(name, devices=frozenset({CPU}), allocated_at=point))


def draw(
    interp: Interpreter,
    generator: Value | None,
    wanted: Device,
    kind: str,
    node: ast.AST,
    point: ProgramPoint | None = None,
) -> None:
    """Observe that ``node`` draws random numbers for a tensor on ``wanted``.

    ``kind`` is ``factory``, ``method``, ``split`` or ``loader``.  Without a generator, the last two draw from the CPU's
    default generator, the first two from the default generator of ``wanted``.  ``point`` is the program point at which
    the generator is passed, if it is not ``node``.
    """
    if generator in (None, NONE) and kind in ("factory", "method"):
        return
    source = None if generator == NONE else generator
    if source is None or (isinstance(source, Pointer) and object_at(interp, source, GeneratorObject) is not None):
        interp.observe(NumbersDrawn(kind, source, wanted, node, point))


def draw_of_loader(interp: Interpreter, obj: HeapObject, node: ast.AST) -> None:
    """Record the draws of an iterated loader: its sampler and the workers' seed use the default device.

    https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.RandomSampler
    """
    loader_generator = obj.fields.get("generator")
    sampler = obj.fields.get("sampler")
    sampler_object = object_at(interp, sampler, SamplerObject)
    if sampler_object is not None:
        generator = sampler_object.fields.get("generator")
        weights = sampler_object.fields.get("weights")
        if weights is not None and generator not in (None, NONE):
            if not (isinstance(weights, Tensor) and weights.device == ACCELERATOR):
                draw(interp, generator, interp.default_device, "loader", node, sampler_object.allocated_at)
        elif generator not in (None, NONE) or sampler_object.name.split(".")[-1] == "RandomSampler":
            draw(interp, generator, interp.default_device, "loader", node, sampler_object.allocated_at)
    if loader_generator is not None and loader_generator != NONE:
        draw(interp, loader_generator, interp.default_device, "loader", node, obj.allocated_at)
    elif obj.fields.get("shuffle") == Const(True) and sampler in (None, NONE):
        draw(interp, None, interp.default_device, "loader", node, obj.allocated_at)


def sampler(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Create a PyTorch sampler with its generator.

    ``WeightedRandomSampler`` draws on the device of its weights, with ``torch.multinomial``:
    https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.WeightedRandomSampler
    """
    weighted = name.endswith("WeightedRandomSampler")
    fields = {"generator": keywords["generator"]} if "generator" in keywords else {}
    if weighted and len(args) > 3:
        fields["generator"] = args[3]
    for value, expression in host_access.argument_pairs(node, args, keywords)[: 1 if weighted else 0]:
        fields["weights"] = value
        if _is_on_cpu(interp, fields.get("generator")):
            host_access.note_access(interp, node, name.split(".")[-1], value, expression, "drawn")
    return interp.new(SamplerObject(name, fields=fields, allocated_at=interp.point(node, with_state=True)))


def _is_on_cpu(interp: Interpreter, value: Value | None) -> bool:
    generator = object_at(interp, value, GeneratorObject)
    return generator is not None and generator.devices == frozenset({CPU})
