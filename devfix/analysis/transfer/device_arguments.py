"""Where a call sends a value: ``.to(...)``, ``.cuda()``, ``.type(...)``, ``device=`` and ``map_location=``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devfix.analysis.domain.device_parsing import INDEXED, device_named
from devfix.analysis.domain.values import (
    ACCELERATOR,
    ANYWHERE,
    CPU,
    NONE,
    Const,
    DeviceValue,
    DType,
    External,
    Keywords,
    Number,
    Place,
    Ref,
    Tensor,
    Text,
    Union,
    Unknown,
    Value,
    options,
)
from devfix.analysis.scenarios import accelerator, index_place, without_accelerator

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["MOVES", "device_argument", "own_move", "place_of", "transfer_places", "type_place"]

_DEVICE_WORDS = ("device", "dev", "gpu", "cuda", "rank")
_DTYPE_WORDS = ("dtype", "precision", "weight_dtype", "float", "half")
# Methods that are named by where they send a value.
MOVES = {
    "cuda": ACCELERATOR,
    "cpu": CPU,
    "xpu": ACCELERATOR,
    "npu": ACCELERATOR,
    "mps": ACCELERATOR,
    "hpu": ACCELERATOR,
}


def place_of(run: Interpreter, value: Value) -> Place | None:
    """The place that a device-like value names; ``None`` for what is no device (a dtype)."""
    match value:
        case DeviceValue(place, _, symbol) if symbol == INDEXED and place == ACCELERATOR:
            run.facts.named_devices = True
            return accelerator(run, zero=False)
        case DeviceValue(place) | Tensor(place):
            return place
        case DType():
            return None
        case Const(constant):
            if isinstance(constant, str):
                return _named(run, constant)
            return index_place(run, value) if isinstance(constant, int) and not isinstance(constant, bool) else ANYWHERE
        case Number():
            run.facts.named_devices = True
            return index_place(run, value)
        case Text(symbol) | Unknown(symbol):
            named = _place_by_name(symbol)
            run.facts.named_devices |= named == ACCELERATOR
            return without_accelerator(run) if named == ACCELERATOR else named
        case External(name):
            return None if name.split(".")[-1].startswith(("float", "half", "bfloat", "int", "long")) else ANYWHERE
        case Ref():
            record = run.record(value)
            return next(iter(record.places)) if len(record.places) == 1 else ANYWHERE
    return ANYWHERE


def _named(run: Interpreter, text: str) -> Place:
    place: Place = device_named(text) or ANYWHERE
    index = text.partition(":")[2]
    run.facts.fixed_index |= place == ACCELERATOR and index not in ("", "0")
    if run.elsewhere and text == run.facts.foreign_index:
        return ACCELERATOR
    return accelerator(run, index == "0") if place == ACCELERATOR and index else place


def _place_by_name(symbol: str) -> Place | None:
    last = symbol.split(".")[-1].split("#")[0].lower()
    if any(word in last for word in _DTYPE_WORDS):
        return None
    return ACCELERATOR if any(word in last for word in _DEVICE_WORDS) else ANYWHERE


def transfer_places(run: Interpreter, args: list[Value], keywords: dict[str, Value]) -> list[Place | None]:
    """The alternatives for ``.to(*args, **keywords)``; ``None`` stands for "stays where it is"."""
    value = keywords.get("device")
    if value is None and args:
        value = args[0]
    if value is None or value == Const(None):
        return [None]
    found: dict[Place | None, None] = {}
    for option in options(value):
        found[place_of(run, option)] = None
    return list(found)


def device_argument(run: Interpreter, keywords: dict[str, Value]) -> Place | None:
    """The place that ``device=`` names; ``None`` where there is no such argument."""
    value = keywords.get("device")
    if value is None or value == Const(None):
        return ANYWHERE if "**" in keywords and value is None else None
    if isinstance(value, Union):
        places = {place_of(run, option) for option in value.options if option != Const(None)}
        return places.pop() if len(places) == 1 else ANYWHERE
    return place_of(run, value)


def own_move(run: Interpreter, name: str, args: list[Value], keywords: Keywords) -> Place:
    """Where ``.cuda()``, ``.cuda(index)`` or ``.cpu()`` sends a value."""
    index = args[0] if args else keywords.get("device", NONE)
    if MOVES[name] == CPU or index == NONE:
        return MOVES[name]
    if isinstance(index, Const) and isinstance(index.value, int):
        return index_place(run, index)
    place = place_of(run, index)
    return place if (run.elsewhere or run.two) and place is not None and place.known else MOVES[name]


def type_place(value: Value) -> Place | None:
    """Where ``.type(torch.cuda.FloatTensor)`` sends a tensor; ``None`` for a dtype."""
    if isinstance(value, DType):
        return None
    name = value.name if isinstance(value, External) else str(value.value) if isinstance(value, Const) else ""
    if name.endswith("Tensor"):
        return ACCELERATOR if ".cuda." in name else CPU
    return ANYWHERE
