"""Functions that make tensors, combine them, and name devices."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis import parameter_copies, scenarios
from devfix.analysis.domain.values import (
    ACCELERATOR,
    ANYWHERE,
    CPU,
    NONE,
    UNKNOWN,
    Birth,
    Const,
    DeviceValue,
    Keywords,
    Place,
    Ref,
    Tensor,
    Text,
    TupleValue,
    Unknown,
    Value,
    Yields,
    options,
    union,
)
from devfix.analysis.stdlib import numpy_
from devfix.analysis.torch import batches, checkpoints, rng
from devfix.analysis.torch.tensor_functions import Behaviour
from devfix.analysis.transfer.device_arguments import device_argument, place_of

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["BEHAVIOURS"]


def _factory(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    place = device_argument(run, keywords) or _default_of(run, name)
    run.facts.accelerated |= place == ACCELERATOR
    rng.draw(run, keywords.get("generator"), place, "factory", node)
    scenarios.placed(run, node, place if "device" in keywords else None)
    births = (_followed(run, node) or (_made(run, node),)) if place == CPU else scenarios.arrives(run, node, place)
    _note_leaf(run, births, keywords, node)
    return Tensor(place, births, scalar=name.endswith("scalar_tensor") or _has_no_dimensions(run, args, keywords))


def _default_of(run: Interpreter, name: str) -> Place:
    """Where a factory works that is told nothing: the old types name their device, whatever the default is.

    https://docs.pytorch.org/docs/stable/tensors.html
    """
    return CPU if name.endswith("Tensor") and not name.endswith(".Tensor") else run.default_place


def _followed(run: Interpreter, node: ast.Call) -> tuple[Birth, ...]:
    """The origins of ``x``, for what is made with ``device=x.device``: where that is, ``x`` has decided."""
    words = next((keyword.value for keyword in node.keywords if keyword.arg == "device"), None)
    if not (isinstance(words, ast.Attribute) and words.attr == "device" and isinstance(words.value, ast.Name)):
        return ()
    followed = run.evaluate(words.value)
    if not isinstance(followed, Tensor) or followed.place != CPU:
        return ()
    return tuple(birth for birth in followed.births if birth.kind in ("made", "batch", "moved"))


def _has_no_dimensions(run: Interpreter, args: list[Value], keywords: Keywords) -> bool:
    """``torch.zeros(())``."""
    shape = args[0] if args else keywords.get("size")
    if isinstance(shape, Ref):
        record = run.record(shape)
        return record.kind == "list" and not record.fields and record.rest is None
    return shape == TupleValue(())


def _note_leaf(run: Interpreter, births: tuple[Birth, ...], keywords: Keywords, node: ast.Call) -> None:
    """What is made with ``requires_grad=True`` is to be trained."""
    for birth in births:
        if keywords.get("requires_grad") == Const(True) and birth.key not in run.facts.leaves:
            run.facts.leaves[birth.key] = run.site(node, remember=True)


def _made(run: Interpreter, node: ast.Call) -> Birth:
    key = batches.source_key(run, "made", node)
    parameter_copies.note_shape(run, key, node)
    return Birth("made", key)


def _from_data(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    place = device_argument(run, keywords)
    source = args[0] if args else keywords.get("data", UNKNOWN)
    if place is None:
        held = [option for option in options(source) if isinstance(option, Tensor)]
        place = held[0].place if held and not name.endswith("torch.tensor") else run.default_place
        if isinstance(source, Tensor):
            place = source.place
    scalar = not any(_has_dimensions(run, option) for option in options(source))
    scenarios.placed(run, node, place if "device" in keywords else None)
    births = (_made(run, node),) if place == CPU else scenarios.arrives(run, node, place)
    _note_leaf(run, births, keywords, node)
    return Tensor(place, births, scalar=scalar)


def _has_dimensions(run: Interpreter, value: Value) -> bool:
    """Whether data certainly has dimensions; what is not known may be a number."""
    if isinstance(value, Tensor):
        return not value.scalar
    if isinstance(value, Ref):
        record = run.record(value)
        return record.kind == "list" or bool(record.get("array"))
    return isinstance(value, (TupleValue, Yields)) or numpy_.is_array(value)


def _from_cpu(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if args and isinstance(args[0], Tensor):
        checkpoints.note_use(run, args[0], "array", node, False)
    return Tensor(CPU, (_made(run, node),))


def _normal(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    held = [value for value in args if isinstance(value, Tensor)]
    if held:
        rng.draw(run, keywords.get("generator"), held[0].place, "method", node)
    return Tensor(held[0].place) if held else _factory(run, name, args, keywords, node)


def _like(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    place = device_argument(run, keywords)
    source = args[0] if args else UNKNOWN
    if place is not None:
        scenarios.placed(run, node, place)
        return Tensor(place, scenarios.arrives(run, node, place) if place == ACCELERATOR else ())
    return union(
        Tensor(option.place, parameter_copies.note(run, option, node))
        if isinstance(option, Tensor)
        else Tensor(ANYWHERE)
        for option in options(source)
    )


def _accelerator_factory(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    run.facts.accelerated = True
    scenarios.placed(run, node, ACCELERATOR)
    return Tensor(ACCELERATOR, scenarios.arrives(run, node, ACCELERATOR))


def _device(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    value = args[0] if args else keywords.get("type", UNKNOWN)
    found = []
    for option in options(value):
        named = not isinstance(option, (Unknown, Text, Ref))
        place = place_of(run, option) if named else _told(run)  # whatever it is, the run was told to use it
        if place == ACCELERATOR and len(args) > 1:
            place = scenarios.index_place(run, args[1])
        found.append(DeviceValue(place if place is not None else ANYWHERE, symbol=getattr(option, "symbol", "")))
    return union(found)


def _told(run: Interpreter) -> Place:
    run.facts.named_devices = True
    return scenarios.without_accelerator(run)


def _accelerator_device(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return DeviceValue(CPU if run.elsewhere else ACCELERATOR)


def _default_device(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    place = place_of(run, args[0]) if args else None
    run.default_place = place or CPU
    return NONE


def _default_type(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    text = str(getattr(args[0], "value", getattr(args[0], "name", ""))) if args else ""
    run.default_place = ACCELERATOR if "cuda" in text else CPU
    return NONE


BEHAVIOURS: dict[str, Behaviour] = {
    "accelerator-device": _accelerator_device,
    "accelerator-factory": _accelerator_factory,
    "default-device": _default_device,
    "default-type": _default_type,
    "device": _device,
    "factory": _factory,
    "from-cpu": _from_cpu,
    "default-generator": rng.default,
    "generator": rng.make,
    "from-data": _from_data,
    "like": _like,
    "normal": _normal,
}
