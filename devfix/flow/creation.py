"""Functions that make tensors, combine them, and name devices."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.flow import checkpoints, iteration
from devfix.flow.knowledge import REDUCTIONS
from devfix.flow.meetings import meet, tensors_in
from devfix.flow.places import device_argument, place_of
from devfix.flow.syntax import text_of
from devfix.flow.values import (
    ACCELERATOR,
    ANYWHERE,
    CPU,
    NONE,
    UNKNOWN,
    Birth,
    Const,
    DeviceValue,
    Number,
    Ref,
    Tensor,
    Text,
    TupleValue,
    Unknown,
    Value,
    options,
    union,
)

if TYPE_CHECKING:
    from devfix.flow.interpreter import Interpreter

__all__ = ["BEHAVIOURS"]

Keywords = dict[str, Value]
Behaviour = Callable[["Interpreter", str, list[Value], Keywords, ast.Call], Value]


def _sides(run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> list[object]:
    texts = [text_of(argument) for argument in node.args] + ["…"] * len(args)
    named = {keyword.arg: text_of(keyword.value) for keyword in node.keywords}
    pairs = [
        *zip(args, texts, strict=False),
        *((value, named.get(key, key)) for key, value in keywords.items() if key != "out"),
    ]
    return [side for value, text in pairs for side in tensors_in(run, value, text)]


def _mixes(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    sides = _sides(run, args, keywords, node)
    place, births = meet(run, node, name.split(".")[-1], sides)  # type: ignore[arg-type]
    return Tensor(place, births)


def _pointwise(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    sides = _sides(run, args, keywords, node)
    place, births = meet(run, node, name.split(".")[-1], sides, scalars_are_free=True)  # type: ignore[arg-type]
    return Tensor(place, births)


def _keeps_first(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    for value in [*args, *keywords.values()]:
        for option in options(value):
            if isinstance(option, Tensor):
                last = name.split(".")[-1]
                several = last in ("max", "min", "sort", "topk", "split", "chunk", "unbind", "meshgrid")
                whole = last in REDUCTIONS and len(args) == 1 and not {"dim", "axis"} & set(keywords)
                return replace(option, loose=option.loose or (several and not whole), scalar=whole)
            if isinstance(option, Ref) and run.record(option).kind == "list":
                inner = iteration.element(run, option, node)
                if isinstance(inner, Tensor):
                    return inner
    return UNKNOWN


def _keeps_list(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    inner = iteration.element(run, args[0], node) if args else UNKNOWN
    return inner if isinstance(inner, Tensor) else Tensor(ANYWHERE)


def _factory(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    place = device_argument(run, keywords) or run.default_place
    run.facts.accelerated |= place == ACCELERATOR
    births = (_made(run, node),) if place == CPU else ()
    scalar = name.endswith("scalar_tensor")
    return Tensor(place, births, scalar=scalar)


def _made(run: Interpreter, node: ast.Call) -> Birth:
    return Birth("made", iteration.source_key(run, "made", node))


def _from_data(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    place = device_argument(run, keywords)
    source = args[0] if args else keywords.get("data", UNKNOWN)
    if place is None:
        held = [option for option in options(source) if isinstance(option, Tensor)]
        place = held[0].place if held and not name.endswith("torch.tensor") else run.default_place
        if isinstance(source, Tensor):
            place = source.place
    scalar = isinstance(source, (Number, Const)) and not isinstance(getattr(source, "value", 0), str)
    return Tensor(place, (_made(run, node),) if place == CPU else (), scalar=scalar)


def _from_cpu(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if args and isinstance(args[0], Tensor):
        checkpoints.note_use(run, args[0], "array", node, False)
    return Tensor(CPU, (_made(run, node),))


def _normal(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    held = [value for value in args if isinstance(value, Tensor)]
    return Tensor(held[0].place) if held else _factory(run, name, args, keywords, node)


def _like(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    place = device_argument(run, keywords)
    source = args[0] if args else UNKNOWN
    if place is not None:
        return Tensor(place)
    return union(Tensor(option.place) if isinstance(option, Tensor) else Tensor(ANYWHERE) for option in options(source))


def _accelerator_factory(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    run.facts.accelerated = True
    return Tensor(ACCELERATOR)


def _tensor_same(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return args[0] if args else UNKNOWN


def _is_tensor(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if args and isinstance(args[0], Tensor) and args[0].sure:
        return Const(True)
    if args and isinstance(args[0], (Text, Const, Number)):
        return Const(False)
    return UNKNOWN


def _pack(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    lengths = args[1] if len(args) > 1 else keywords.get("lengths")
    if isinstance(lengths, Tensor) and lengths.place == ACCELERATOR:
        site = run.site(node)
        run.facts.needs_cpu.setdefault(site.key, site)
    first = args[0] if args else UNKNOWN
    return replace(first, loose=True) if isinstance(first, Tensor) else UNKNOWN


def _pad_packed(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    first = args[0] if args else UNKNOWN
    return TupleValue((first if isinstance(first, Tensor) else Tensor(ANYWHERE), Tensor(CPU)))


def _needs_cpu(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    for value in args:
        if isinstance(value, Tensor) and value.place == ACCELERATOR:
            site = run.site(node)
            run.facts.needs_cpu.setdefault(site.key, site)
    return Unknown(f"{name}()")


def _needs_cpu_state(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    for value in args:
        for option in options(value):
            if isinstance(option, Tensor):
                checkpoints.note_use(run, option, "needs-cpu", node, False)
    return NONE


def _device(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    value = args[0] if args else keywords.get("type", UNKNOWN)
    found = []
    for option in options(value):
        named = not isinstance(option, (Unknown, Text, Ref))
        place = place_of(run, option) if named else ACCELERATOR  # whatever it is, the run was told to use it
        found.append(DeviceValue(place if place is not None else ANYWHERE, symbol=getattr(option, "symbol", "")))
    return union(found)


def _accelerator_device(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return DeviceValue(ACCELERATOR)


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
    "from-data": _from_data,
    "functional-init": _keeps_first,
    "is-tensor": _is_tensor,
    "keeps-first": _keeps_first,
    "keeps-list": _keeps_list,
    "like": _like,
    "mixes": _mixes,
    "needs-cpu": _needs_cpu,
    "needs-cpu-state": _needs_cpu_state,
    "normal": _normal,
    "pack": _pack,
    "pad-packed": _pad_packed,
    "pointwise": _pointwise,
    "tensor-same": _tensor_same,
}
