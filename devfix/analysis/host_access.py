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
    Birth,
    Record,
    Ref,
    Tensor,
    TupleValue,
    Union,
    Unknown,
    Value,
    Yields,
)
from devfix.analysis.observations import HostUse, Kept
from devfix.models.tensor_methods import TENSOR_METHODS

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["arguments", "keep", "note", "note_loader", "note_method", "stamp"]

MOST_DEPTH = 3


def arguments(node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> list[tuple[Value, ast.expr]]:
    """Values of a call with their expressions, as far as the call names them one by one."""
    plain = not any(isinstance(argument, ast.Starred) for argument in node.args) and len(args) == len(node.args)
    pairs = list(zip(args, node.args, strict=True)) if plain else []
    named = {keyword.arg: keyword.value for keyword in node.keywords}
    return [*pairs, *((value, named[key]) for key, value in keywords.items() if key in named)]


def note(
    run: Interpreter, node: ast.AST, consumer: str, value: Value, expression: ast.expr, kind: str = "array"
) -> None:
    """``consumer`` reads ``value``: a hazard where it certainly is, or holds, a tensor on the accelerator."""
    if isinstance(expression, (ast.List, ast.Tuple)) and len(items := _items(run, value)) == len(expression.elts):
        for item, element in zip(items, expression.elts, strict=True):
            note(run, node, consumer, item, element, kind)
        return
    container = not isinstance(value, (Tensor, Union))
    if container and kind in ("lengths", "drawn"):
        return  # a list of numbers
    held = tuple(dict.fromkeys(_certain(run, value)))
    if not held or run.frame is None:
        return
    site = run.site(node, remember=True)
    key = (run.frame.module.path, expression.lineno, expression.col_offset)
    run.facts.needs_cpu.setdefault(key, HostUse(kind, site, consumer, expression, held, container, run.latent))


def _items(run: Interpreter, value: Value) -> list[Value]:
    """The values of a display, one for each element."""
    if isinstance(value, TupleValue):
        return list(value.items)
    return list(run.record(value).fields.values()) if isinstance(value, Ref) else []


def _certain(run: Interpreter, value: Value, depth: int = 0) -> list[Tensor]:
    """Tensors on the accelerator that are there on every path."""
    match value:
        case Tensor(place=place):
            return [value] if place == ACCELERATOR else []
        case Union(alternatives):
            kinds = [option for option in alternatives if isinstance(option, (Tensor, Ref, TupleValue, Unknown))]
            sure = all(isinstance(option, Tensor) and option.place == ACCELERATOR for option in kinds)
            return [option for option in kinds if isinstance(option, Tensor)] if sure else []
        case TupleValue(items):
            return [tensor for item in items for tensor in _certain(run, item, depth + 1)]
        case Yields(element):
            return _certain(run, element, depth + 1)
        case Ref() if depth < MOST_DEPTH and run.record(value).kind in ("list", "set"):
            record = run.record(value)
            held = [*record.fields.values(), *([record.rest] if record.rest is not None else [])]
            return [tensor for item in held for tensor in _certain(run, item, depth + 1)]
    return []


def note_method(run: Interpreter, tensor: Tensor, name: str, node: ast.Call) -> None:
    """``numpy()`` reads the CPU's memory; any other method shows that an item of a list is used as a tensor."""
    if TENSOR_METHODS.get(name) == "needs-cpu" and isinstance(node.func, ast.Attribute):
        note(run, node, f".{name}()", tensor, node.func.value, "numpy")
    for birth in tensor.births:
        if birth.kind == "kept":
            run.facts.kept_uses.setdefault(birth.key, set()).add(name)


def keep(run: Interpreter, container: Ref, value: Value, expression: ast.expr) -> Value:
    """A value is put into a list: a tensor on the accelerator remembers it."""
    if isinstance(value, Union):
        return value
    if not isinstance(value, Tensor) or value.place != ACCELERATOR:
        return value
    assert run.frame is not None
    known = run.facts.kept.setdefault(container.id, {})
    key = (run.frame.module.path, expression.lineno, expression.col_offset)
    if key not in known:
        known[key] = Kept(run.site(expression, remember=True), expression, value)
    return replace(
        value, births=(*(birth for birth in value.births if birth.kind != "kept"), Birth("kept", container.id))
    )


def stamp(run: Interpreter, container: Ref, expression: ast.expr) -> None:
    """A comprehension has made a list of ``expression``."""
    record = run.record(container)
    fields = {name: keep(run, container, value, expression) for name, value in record.fields.items()}
    rest = None if record.rest is None else keep(run, container, record.rest, expression)
    run.now.update(container, fields=fields, rest=rest)


def note_loader(run: Interpreter, loader: Record, sample: Value) -> None:
    """A loader's samples are on the accelerator: they cannot be pinned, nor made by forked workers."""
    record = run.record(sample) if isinstance(sample, Ref) else None
    entries = record if record is not None and record.kind == "dict" and record.rest is None else None
    inside = entries.fields.values() if entries is not None else (sample,)
    held = tuple(dict.fromkeys(tensor for value in inside for tensor in _certain(run, value)))
    site = loader.born
    if not held or site is None or not isinstance(site.node, ast.Call):
        return
    named = {keyword.arg: keyword.value for keyword in site.node.keywords}
    for flag, kind in (("pin_memory", "pinned"), ("num_workers", "workers")):
        if loader.get(flag) and flag in named:
            key = (site.tree.path, named[flag].lineno, named[flag].col_offset)
            use = HostUse(
                kind, site, f"{flag}=", named[flag], held, latent=run.latent, loader=loader, sample=entries or sample
            )
            run.facts.needs_cpu.setdefault(key, use)
