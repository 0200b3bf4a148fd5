"""Target devices of calls: ``.to(...)``, ``.cuda()``, ``.type(...)``, ``device=`` and ``map_location=``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from devfix.analysis.domain.device_parsing import UNKNOWN_INDEX, parse_device
from devfix.analysis.domain.objects import Mapping, object_at
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    NONE,
    UNKNOWN,
    UNKNOWN_DEVICE,
    UNNAMED,
    Const,
    Device,
    DeviceValue,
    DType,
    External,
    Keywords,
    Number,
    Pointer,
    Tensor,
    Text,
    Unknown,
    Value,
    alternatives,
)
from devfix.analysis.scenarios import configured_device, index_device, indexed_accelerator

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = [
    "MOVE_METHODS",
    "device_argument",
    "device_by_symbol",
    "device_map_target",
    "move_method_target",
    "named_device",
    "selects_device",
    "to_targets",
    "type_target",
]

_DEVICE_WORDS = ("device", "gpu", "cuda", "rank")
_SHORT = re.compile(r"(?:.*_)?dev\d*")  # but not the data for development: ``dev_dir``
_DTYPE_WORDS = ("dtype", "precision", "weight_dtype", "float", "half")
# Objects whose `device` is where a program works
_SELECT_DEVICES = frozenset(
    "args opt opts options cfg config conf hparams settings flags accelerator fabric trainer runner engine state env "
    "self model module".split()
)
# Values of `device_map` that fill the accelerators one after the other
_STRATEGIES = frozenset({"auto", "balanced", "balanced_low_0", "sequential"})
# Methods named after their target device.
MOVE_METHODS = {
    "cuda": ACCELERATOR,
    "cpu": CPU,
    "xpu": ACCELERATOR,
    "npu": ACCELERATOR,
    "mps": ACCELERATOR,
    "hpu": ACCELERATOR,
}


def named_device(interp: Interpreter, value: Value) -> Device | None:
    """Return the device that a value names; ``None`` if it is a dtype."""
    match value:
        case DeviceValue(device, _, symbol) if symbol == UNKNOWN_INDEX and device == ACCELERATOR:
            interp.observations.has_configured_device = True
            return indexed_accelerator(interp, is_zero=False)
        case DeviceValue(device) | Tensor(device):
            return device
        case DType():
            return None
        case Const(constant):
            if isinstance(constant, str):
                return _device_from_string(interp, constant)
            return (
                index_device(interp, value)
                if isinstance(constant, int) and not isinstance(constant, bool)
                else UNKNOWN_DEVICE
            )
        case Number():
            interp.observations.has_configured_device = True
            return index_device(interp, value)
        case Text(symbol) | Unknown(symbol):
            named = device_by_symbol(symbol)
            if interp.observations.is_library and _is_device_of_value(symbol):
                return UNKNOWN_DEVICE
            interp.observations.has_configured_device |= named == ACCELERATOR
            return configured_device(interp) if named == ACCELERATOR else named
        case External(name):
            return (
                None if name.split(".")[-1].startswith(("float", "half", "bfloat", "int", "long")) else UNKNOWN_DEVICE
            )
        case Pointer():
            return interp.heap_object(value).device
    return UNKNOWN_DEVICE


def _device_from_string(interp: Interpreter, text: str) -> Device:
    device: Device = parse_device(text) or UNKNOWN_DEVICE
    index = text.partition(":")[2]
    interp.observations.has_fixed_index |= device == ACCELERATOR and index not in ("", "0")
    if interp.scenario.no_accelerator and text == interp.observations.foreign_index:
        return ACCELERATOR
    return indexed_accelerator(interp, index == "0") if device == ACCELERATOR and index else device


def device_by_symbol(symbol: str) -> Device | None:
    """Return the device that an unknown value stands for by its name: ``args.gpu``; ``None`` if it is a dtype."""
    if symbol.startswith(UNNAMED):
        return UNKNOWN_DEVICE
    last = symbol.split(".")[-1].split("#")[0].lower()
    if any(word in last for word in _DTYPE_WORDS):
        return None
    words = last.split("_")
    if "cpu" in words and {"cuda", "gpu"}.isdisjoint(words):
        return CPU
    is_device = any(word in last for word in _DEVICE_WORDS) or _SHORT.fullmatch(last)
    return ACCELERATOR if is_device else UNKNOWN_DEVICE


def _is_device_of_value(symbol: str) -> bool:
    """Return whether a symbol is the device of an unknown value, ``mask.device``, and not one that a user selects."""
    owner, _, name = symbol.rpartition(".")
    last = owner.rpartition(".")[2]  # an attribute of an instance is `Class#1.device`
    return name == "device" and bool(last) and "#" not in last and last.lower().strip("_") not in _SELECT_DEVICES


def selects_device(symbol: str) -> bool:
    """Return whether an attribute ``device`` of an unknown value may be what the program selects: ``cfg.run.device``.

    That of a parameter of which nothing is known, ``y0.device``, is where the value is.
    """
    return any(part.lower().strip("_") in _SELECT_DEVICES for part in symbol.split("#")[0].split("."))


def to_targets(interp: Interpreter, args: list[Value], keywords: dict[str, Value]) -> list[Device | None]:
    """Return the possible target devices of ``.to(*args, **keywords)``; ``None`` means the device stays."""
    value = keywords.get("device")
    if value is None and args:
        value = args[0]
    if value is None or value == Const(None):
        return [None]
    return list(dict.fromkeys(named_device(interp, option) for option in alternatives(value)))


def device_argument(interp: Interpreter, keywords: dict[str, Value]) -> Device | None:
    """Return the device that ``device=`` names; ``None`` if there is no such argument, or it is ``None``."""
    value = keywords.get("device")
    if value is None or value == Const(None):
        return UNKNOWN_DEVICE if "**" in keywords and value is None else None
    devices = {named_device(interp, option) for option in alternatives(value) if option != Const(None)}
    named = devices.pop() if len(devices) == 1 else UNKNOWN_DEVICE
    return UNKNOWN_DEVICE if named is None else named  # a dtype in its place names no device


def move_method_target(interp: Interpreter, name: str, args: list[Value], keywords: Keywords) -> Device:
    """Return the target device of ``.cuda()``, ``.cuda(index)`` or ``.cpu()``."""
    index = args[0] if args else keywords.get("device", NONE)
    if MOVE_METHODS[name] == CPU or index == NONE:
        return MOVE_METHODS[name]
    if isinstance(index, Const) and isinstance(index.value, int):
        return index_device(interp, index)
    device = named_device(interp, index)
    return (
        device
        if (interp.scenario.no_accelerator or interp.scenario.multi_accelerator) and device is not None and device.known
        else MOVE_METHODS[name]
    )


def type_target(value: Value) -> Device | None:
    """Return the target device of ``.type(torch.cuda.FloatTensor)``; ``None`` for a dtype."""
    if isinstance(value, DType):
        return None
    name = value.name if isinstance(value, External) else str(value.value) if isinstance(value, Const) else ""
    if name.endswith("Tensor"):
        return ACCELERATOR if ".cuda." in name else CPU
    return UNKNOWN_DEVICE


def device_map_target(interp: Interpreter, keywords: Keywords) -> Device | None:
    """Return the target device of ``from_pretrained``: ``device_map="cuda"`` moves the model, ``"auto"`` fills devices.

    On one accelerator, ``"auto"`` moves the model as a whole, and its inputs stay where they are; only a model that is
    split, or quantized, moves its inputs (``dispatch_model`` of accelerate 0.21 and later).

    https://huggingface.co/docs/accelerate/concept_guides/big_model_inference
    """
    if {"load_in_8bit", "load_in_4bit", "quantization_config", "**"} & set(keywords):
        return UNKNOWN_DEVICE
    device_map = keywords.get("device_map", NONE)
    if isinstance(device_map, Pointer):
        mapping = object_at(interp, device_map, Mapping)
        device_map = mapping.fields.get("", UNKNOWN) if mapping is not None and len(mapping.fields) == 1 else UNKNOWN
    if device_map == NONE:
        return None
    if isinstance(device_map, Const) and device_map.value in _STRATEGIES:
        return UNKNOWN_DEVICE if interp.scenario.multi_accelerator else interp.scenario.best_device
    names_device = isinstance(device_map, (DeviceValue, Const, Number))
    return ACCELERATOR if names_device and named_device(interp, device_map) == ACCELERATOR else UNKNOWN_DEVICE
