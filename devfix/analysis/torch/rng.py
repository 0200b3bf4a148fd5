"""``torch.Generator`` objects and what draws from them: a generator serves tensors of its own device only.

https://docs.pytorch.org/docs/stable/generated/torch.Generator.html
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis import host_access
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    NONE,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Const,
    Device,
    HeapObject,
    Keywords,
    Pointer,
    Tensor,
    Value,
    alternatives,
)
from devfix.analysis.observations import RandomDraw
from devfix.analysis.transfer.device_arguments import named_device

if TYPE_CHECKING:
    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["default", "draw", "draw_of_loader", "lose", "make", "method", "sampler"]


def make(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``torch.Generator(device)``; on the CPU where no device is named, whatever the default device is."""
    device = args[0] if args else keywords.get("device", NONE)
    devices = {
        CPU if option == NONE else named_device(interp, option) or UNKNOWN_DEVICE for option in alternatives(device)
    }
    return interp.new(
        HeapObject("generator", name, devices=frozenset(devices), allocated_at=interp.point(node, with_state=True))
    )


def default(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``torch.manual_seed(0)`` gives PyTorch's own generator, which is on the CPU."""
    return interp.new(
        HeapObject("generator", name, devices=frozenset({CPU}), allocated_at=interp.point(node, with_state=True))
    )


def draw(
    interp: Interpreter,
    generator: Value | None,
    wanted: Device,
    kind: str,
    node: ast.AST,
    point: ProgramPoint | None = None,
) -> None:
    """Note that ``node`` draws for a tensor at ``wanted``.

    ``kind``: ``factory``, ``method``, ``split`` or ``loader``; the last two draw with a generator on the CPU where none
    is given, the first two then with the device's own.  ``point`` is where the generator is given, if elsewhere.
    """
    if generator in (None, NONE) and kind in ("factory", "method"):
        return
    allocated_at: ProgramPoint | None = None
    devices = frozenset({CPU})
    if generator is not None and generator != NONE:
        if not isinstance(generator, Pointer) or interp.heap_object(generator).kind != "generator":
            return
        obj = interp.heap_object(generator)
        allocated_at, devices = obj.allocated_at, obj.devices
    at = interp.point(node, with_state=True)
    device = next(iter(devices)) if len(devices) == 1 else UNKNOWN_DEVICE
    drawing = RandomDraw(kind, at, point or at, allocated_at, device, wanted, interp.latent)
    interp.observations.random_draws.setdefault(
        (*at.key, *((allocated_at.key) if allocated_at is not None else ()), wanted.kind), drawing
    )


def draw_of_loader(interp: Interpreter, obj: HeapObject, node: ast.AST) -> None:
    """A loader is iterated: its sampler and its workers' seed draw on the default device.

    https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.RandomSampler
    """
    given = obj.fields.get("generator")
    sampler = obj.fields.get("sampler")
    if isinstance(sampler, Pointer) and interp.heap_object(sampler).kind == "sampler":
        held = interp.heap_object(sampler)
        own = held.fields.get("generator")
        weights = held.fields.get("weights")
        if weights is not None and own not in (None, NONE):
            if not (isinstance(weights, Tensor) and weights.device == ACCELERATOR):
                draw(interp, own, interp.default_device, "loader", node, held.allocated_at)
        elif own not in (None, NONE) or held.name.split(".")[-1] == "RandomSampler":
            draw(interp, own, interp.default_device, "loader", node, held.allocated_at)
    if given is not None and given != NONE:
        draw(interp, given, interp.default_device, "loader", node, obj.allocated_at)
    elif obj.fields.get("shuffle") == Const(True) and sampler in (None, NONE):
        draw(interp, None, interp.default_device, "loader", node, obj.allocated_at)


def lose(interp: Interpreter, pointer: Pointer) -> None:
    """A generator goes to code that cannot be read: nobody knows what draws from it."""
    obj = interp.heap_object(pointer)
    if obj.allocated_at is not None:
        key = (*obj.allocated_at.key, "unknown")
        point = obj.allocated_at
        unknown = RandomDraw("unknown", point, point, point, UNKNOWN_DEVICE, UNKNOWN_DEVICE)
        interp.observations.random_draws.setdefault(key, unknown)


def sampler(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """A sampler of PyTorch, with the generator that it was given.

    ``WeightedRandomSampler`` draws where its weights are, with ``torch.multinomial``:
    https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.WeightedRandomSampler
    """
    weighted = name.endswith("WeightedRandomSampler")
    given = {"generator": keywords["generator"]} if "generator" in keywords else {}
    if weighted and len(args) > 3:
        given["generator"] = args[3]
    for value, expression in host_access.argument_pairs(node, args, keywords)[: 1 if weighted else 0]:
        given["weights"] = value
        if _is_on_cpu(interp, given.get("generator")):
            host_access.note_access(interp, node, name.split(".")[-1], value, expression, "drawn")
    return interp.new(HeapObject("sampler", name, fields=given, allocated_at=interp.point(node, with_state=True)))


def _is_on_cpu(interp: Interpreter, value: Value | None) -> bool:
    obj = interp.heap_object(value) if isinstance(value, Pointer) else None
    return obj is not None and obj.kind == "generator" and obj.devices == frozenset({CPU})


def method(interp: Interpreter, pointer: Pointer, name: str) -> Value:
    """A method of a generator."""
    return pointer if name in ("manual_seed", "clone_state", "graphsafe_get_state") else UNKNOWN
