"""What reads the CPU's memory: NumPy and what is built on it, lengths of packed sequences.

Tensors on the accelerator that are kept in a list carry the list as their birth: when the whole list is read, a rule
can tell where they were put into it.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import (
    ACCELERATOR,
    HeapObject,
    IterableOf,
    Origin,
    Pointer,
    Tensor,
    TupleValue,
    Union,
    Unknown,
    Value,
)
from devfix.analysis.observations import HostAccess, ListAppend
from devfix.models.tensor_methods import TENSOR_METHODS

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["arguments", "keep", "note", "note_loader", "note_method", "stamp"]

MOST_DEPTH = 3


def arguments(node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> list[tuple[Value, ast.expr]]:
    """Values of a call with their expressions, as far as the call names them one by one."""
    plain = not any(isinstance(argument, ast.Starred) for argument in node.args) and len(args) == len(node.args)
    pairs = list(zip(args, node.args, strict=True)) if plain else []
    named = {keyword.arg: keyword.value for keyword in node.keywords}
    return [*pairs, *((value, named[key]) for key, value in keywords.items() if key in named)]


def note(
    interp: Interpreter, node: ast.AST, consumer: str, value: Value, expression: ast.expr, kind: str = "array"
) -> None:
    """``consumer`` reads ``value``: a hazard where it certainly is, or holds, a tensor on the accelerator."""
    if isinstance(expression, (ast.List, ast.Tuple)) and len(items := _items(interp, value)) == len(expression.elts):
        for item, element in zip(items, expression.elts, strict=True):
            note(interp, node, consumer, item, element, kind)
        return
    container = not isinstance(value, (Tensor, Union))
    if container and kind in ("lengths", "drawn"):
        return  # a list of numbers
    held = tuple(dict.fromkeys(_certain(interp, value)))
    if not held or interp.activation is None:
        return
    point = interp.point(node, with_state=True)
    key = (interp.activation.module.path, expression.lineno, expression.col_offset)
    interp.observations.needs_cpu.setdefault(
        key, HostAccess(kind, point, consumer, expression, held, container, interp.latent)
    )


def _items(interp: Interpreter, value: Value) -> list[Value]:
    """The values of a display, one for each element."""
    if isinstance(value, TupleValue):
        return list(value.items)
    return list(interp.heap_object(value).fields.values()) if isinstance(value, Pointer) else []


def _certain(interp: Interpreter, value: Value, depth: int = 0) -> list[Tensor]:
    """Tensors on the accelerator that are there on every path."""
    match value:
        case Tensor(device=device):
            return [value] if device == ACCELERATOR else []
        case Union(alternatives):
            kinds = [option for option in alternatives if isinstance(option, (Tensor, Pointer, TupleValue, Unknown))]
            is_certain = all(isinstance(option, Tensor) and option.device == ACCELERATOR for option in kinds)
            return [option for option in kinds if isinstance(option, Tensor)] if is_certain else []
        case TupleValue(items):
            return [tensor for item in items for tensor in _certain(interp, item, depth + 1)]
        case IterableOf(element):
            return _certain(interp, element, depth + 1)
        case Pointer() if depth < MOST_DEPTH and interp.heap_object(value).kind in ("list", "set"):
            obj = interp.heap_object(value)
            held = obj.contents
            return [tensor for item in held for tensor in _certain(interp, item, depth + 1)]
    return []


def note_method(interp: Interpreter, tensor: Tensor, name: str, node: ast.Call) -> None:
    """``numpy()`` reads the CPU's memory; any other method shows that an item of a list is used as a tensor."""
    if TENSOR_METHODS.get(name) == "needs-cpu" and isinstance(node.func, ast.Attribute):
        note(interp, node, f".{name}()", tensor, node.func.value, "numpy")
    for origin in tensor.origins:
        if origin.kind == "kept":
            interp.observations.kept_uses.setdefault(origin.site_id, set()).add(name)


def keep(interp: Interpreter, container: Pointer, value: Value, expression: ast.expr) -> Value:
    """A value is put into a list: a tensor on the accelerator remembers it."""
    if isinstance(value, Union):
        return value
    if not isinstance(value, Tensor) or value.device != ACCELERATOR:
        return value
    assert interp.activation is not None
    known = interp.observations.kept.setdefault(container.id, {})
    key = (interp.activation.module.path, expression.lineno, expression.col_offset)
    if key not in known:
        known[key] = ListAppend(interp.point(expression, with_state=True), expression, value)
    return replace(
        value, origins=(*(origin for origin in value.origins if origin.kind != "kept"), Origin("kept", container.id))
    )


def stamp(interp: Interpreter, container: Pointer, expression: ast.expr) -> None:
    """A comprehension has made a list of ``expression``."""
    obj = interp.heap_object(container)
    fields = {name: keep(interp, container, value, expression) for name, value in obj.fields.items()}
    rest = None if obj.default_item is None else keep(interp, container, obj.default_item, expression)
    interp.now.update(container, fields=fields, default_item=rest)


def note_loader(interp: Interpreter, loader: HeapObject, sample: Value) -> None:
    """A loader's samples are on the accelerator: they cannot be pinned, nor made by forked workers."""
    obj = interp.heap_object(sample) if isinstance(sample, Pointer) else None
    entries = obj if obj is not None and obj.kind == "dict" and obj.default_item is None else None
    inside = entries.fields.values() if entries is not None else (sample,)
    held = tuple(dict.fromkeys(tensor for value in inside for tensor in _certain(interp, value)))
    point = loader.allocated_at
    if not held or point is None or not isinstance(point.node, ast.Call):
        return
    named = {keyword.arg: keyword.value for keyword in point.node.keywords}
    for flag, kind in (("pin_memory", "pinned"), ("num_workers", "workers")):
        if loader.get(flag) and flag in named:
            key = (point.tree.path, named[flag].lineno, named[flag].col_offset)
            use = HostAccess(
                kind,
                point,
                f"{flag}=",
                named[flag],
                held,
                latent=interp.latent,
                loader=loader,
                sample=entries or sample,
            )
            interp.observations.needs_cpu.setdefault(key, use)
