"""Modules that libraries define: how they are made, filled and wrapped."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import (
    ACCELERATOR,
    ANYWHERE,
    CPU,
    NONE,
    UNKNOWN,
    Birth,
    Const,
    Keywords,
    Place,
    Ref,
    Tensor,
    TupleValue,
    Unknown,
    Value,
    Yields,
    options,
    union,
)
from devfix.analysis.stdlib import builtins
from devfix.analysis.torch import distributed, modules
from devfix.analysis.transfer.device_arguments import device_argument
from devfix.analysis.transfer.device_check import meet, weights_side
from devfix.models.index import behaviour

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["BEHAVIOURS", "fill_module", "opaque_module"]


def _module(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if name in ("torch.nn.Module", "torch.nn.functional"):
        return modules.make(run, name, node, weights=False)
    ref = modules.make(run, name, node, device_argument(run, keywords), weights=not _without_weights(name, keywords))
    for index, value in enumerate(args):
        if isinstance(value, Ref) and run.record(value).kind == "module":
            modules.attach(run, ref, str(index), value, node)
    return ref


def _without_weights(name: str, keywords: Keywords) -> bool:
    """Normalisation layers that learn nothing and keep no statistics."""
    last, off = name.split(".")[-1], Const(False)
    if last.startswith("InstanceNorm"):
        given = ("affine", "track_running_stats")
        return all(keywords.get(key, off) == off for key in given)
    if last.startswith("BatchNorm"):
        return keywords.get("affine") == off and keywords.get("track_running_stats") == off
    return keywords.get("affine") == off or keywords.get("elementwise_affine") == off


def opaque_module(run: Interpreter, name: str, node: ast.Call, place: Place | None = None) -> Value:
    """A module whose code is not followed."""
    ref = modules.make(run, name, node, place)
    run.now.update(ref, info=(("opaque", True),))
    return ref


def _weightless(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return modules.make(run, name, node, weights=False)


#: Made of elementwise operations: a weight without dimensions may be on the CPU.
_TAKE_NUMBERS = frozenset({"BCELoss", "BCEWithLogitsLoss"})


def _loss(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    ref = modules.make(run, name, node, weights=False)
    if not {"reduction", "reduce", "**"} & set(keywords):
        run.now.update(ref, info=(("mean", True),))
    for key in ("weight", "pos_weight"):
        value = keywords.get(key) or (args[0] if key == "weight" and args else None)
        if isinstance(value, Tensor) and not (value.scalar and name.split(".")[-1] in _TAKE_NUMBERS):
            run.now.put(ref, key, replace(value, births=(Birth("buffer", ref.id),)))
            run.now.update(ref, weights=True, places=frozenset({value.place}))
        elif value is not None and value != NONE:
            run.now.update(ref, weights=True, places=frozenset({ANYWHERE}))
    return ref


def fill_module(run: Interpreter, ref: Ref, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> None:
    """The constructor of a library base class runs on a project instance."""
    kind = behaviour(name)
    if kind in ("sequential", "module-list", "module-dict"):
        _fill(run, ref, kind, args, node)
        run.now.update(ref, weights=False)
    elif kind in ("weightless", "loss"):
        run.now.update(ref, weights=False)


def _container(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    ref = modules.make(run, name, node, weights=False)
    _fill(run, ref, behaviour(name), args, node)
    return ref


def _fill(run: Interpreter, ref: Ref, kind: str, args: list[Value], node: ast.Call) -> None:
    source = args[0] if args else None
    if kind == "sequential" and not (len(args) == 1 and isinstance(source, Ref) and run.record(source).kind == "dict"):
        items = {str(index): value for index, value in enumerate(args)}
        starred = any(isinstance(argument, ast.Starred) for argument in node.args)
        if starred and len(args) == len(node.args):
            run.now.update(ref, rest=union(args))
            return
        run.now.update(ref, fields={**run.record(ref).fields, **items})
    elif isinstance(source, Ref) and run.record(source).kind in ("list", "dict", "module"):
        given = run.record(source)
        fields = (
            {str(i): value for i, value in enumerate(given.fields.values())} if kind == "module-list" else given.fields
        )
        run.now.update(ref, fields=dict(fields), rest=given.rest)
    elif isinstance(source, Yields):
        run.now.update(ref, rest=source.element)
    elif isinstance(source, TupleValue):
        run.now.update(ref, fields={str(i): value for i, value in enumerate(source.items)})


def _parallel(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    inner = args[0] if args else keywords.get("module", UNKNOWN)
    spreads = name.endswith("DistributedDataParallel")
    if len(args) > 1:
        keywords = {"device_ids": args[1], **keywords}
    for option in options(inner):
        if isinstance(option, Ref) and run.record(option).kind == "module":
            distributed.note_ids(run, option, node)
        if isinstance(option, Ref) and not spreads:
            modules.promote(run, option)
            if modules.first_place(run, option) not in (CPU, ACCELERATOR):
                modules.move(run, option, ACCELERATOR, node)
        elif isinstance(option, Ref) and run.record(option).kind == "module" and node.args:
            distributed.wrap(run, option, keywords, node)
    brought = distributed.brought_to(run, keywords) if spreads else ACCELERATOR
    ref = modules.make(run, name, node, weights=False)
    run.now.update(ref, info=(("data-parallel", True), ("brings-to", brought)))
    run.now.put(ref, "module", inner)
    return ref


def _parameter(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    value = args[0] if args else keywords.get("data", UNKNOWN)
    place = value.place if isinstance(value, Tensor) else CPU if isinstance(value, Unknown) else ANYWHERE
    return Tensor(place, (Birth("parameter"),))


def _same(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return args[0] if args else keywords.get("model", UNKNOWN)


def _parametrization(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """A module that computes a parameter becomes a part of the module that owns it, and computes it at once."""
    given = dict(zip(("module", "tensor_name", "parametrization"), args, strict=False)) | keywords
    owner, part = given.get("module", UNKNOWN), given.get("parametrization", UNKNOWN)
    tensor = given.get("tensor_name")
    slot = f"parametrizations.{tensor.value}" if isinstance(tensor, Const) else None
    for option in options(owner):
        if isinstance(option, Ref) and run.record(option).kind == "module" and isinstance(part, Ref):
            place = modules.first_place(run, option)
            for path, inner in modules.parts(run, part):
                if run.record(inner).weights and modules.any_place(run.record(inner)).differs(place):
                    meet(run, node, name, [weights_side(run, option, "…"), weights_side(run, inner, path)])
                    run.now.update(inner, places=frozenset({place}))  # told once, here
            modules.attach(run, option, slot, part, node, weak=slot is None)
    return owner


def _averaged(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    source = args[0] if args else UNKNOWN
    return builtins.deep_copy(run, source, node)


BEHAVIOURS: dict[str, Callable[[Interpreter, str, list[Value], Keywords, ast.Call], Value]] = {
    "attention": _module,
    "averaged": _averaged,
    "ctc": _weightless,
    "data-parallel": _parallel,
    "loss": _loss,
    "metric": _module,
    "module": _module,
    "module-dict": _container,
    "module-list": _container,
    "opaque-module": lambda run, name, args, keywords, node: opaque_module(run, name, node),
    "parameter": _parameter,
    "parametrization": _parametrization,
    "recurrent": _module,
    "same": _same,
    "sequential": _container,
    "weightless": _weightless,
}
