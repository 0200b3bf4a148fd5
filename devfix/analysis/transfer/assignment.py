"""Binding values to targets: names, attributes, items, unpacking."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis import attribute_stores
from devfix.analysis.domain.classes import find_property_setter
from devfix.analysis.domain.values import (
    ACCELERATOR,
    UNKNOWN,
    Birth,
    Const,
    Number,
    Record,
    Ref,
    Tensor,
    TupleValue,
    Union,
    Unknown,
    Value,
    Yields,
    options,
    union,
)
from devfix.analysis.observations import Binding, Holding
from devfix.analysis.torch import batch_objects, modules, optimizers
from devfix.analysis.transfer import iteration
from devfix.analysis.transfer.device_check import meet, tensor_side
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["assign", "delete", "is_odd_key", "note_binding", "set_attribute", "set_item"]


def assign(
    run: Interpreter, target: ast.expr, value: Value, kind: str = "assign", source: ast.expr | None = None
) -> None:
    """Bind ``value`` to a target; ``kind`` says how (see :class:`devfix.analysis.observations.Binding`)."""
    if run.watch is not None:
        run.watch(run, target, value)
    match target:
        case ast.Name(id=name):
            note_binding(run, name, value, kind, target, source)
            run.bind(name, value)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            _unpack(run, elts, value, kind, source)
        case ast.Starred(value=inner):
            assign(run, inner, value, kind)
        case ast.Attribute():
            base = run.evaluate(target.value)
            for option in options(base):
                set_attribute(run, option, target.attr, value, target, isinstance(base, Union), source)
        case ast.Subscript():
            base = run.evaluate(target.value)
            key = run.evaluate(target.slice)
            for option in options(base):
                set_item(run, option, key, value, target)
            optimizers.note_state_written(run, target, value)


def note_binding(
    run: Interpreter, name: str, value: Value, kind: str, node: ast.AST, source: ast.expr | None = None
) -> None:
    """Remember that a name holds an item of a batch, or a container of items."""
    for birth in dict.fromkeys(_origins(run, value)):
        run.facts.bindings.append(Binding(birth, name, kind, run.site(node, remember=True), source))


def _origins(run: Interpreter, value: Value) -> list[Birth]:
    """The batch items (or the containers of them) that a value is, as far as they are on the CPU."""
    found: list[Birth] = []
    for option in options(value):
        if isinstance(option, Tensor) and len(option.births) == 1 and option.place != ACCELERATOR:
            if option.births[0].kind in ("batch", "load", "made"):
                found.append(option.births[0])
        elif isinstance(option, TupleValue):
            inner = [birth for item in option.items for birth in _origins(run, item) if birth.item]
            above = {Birth(birth.kind, birth.key, birth.item[:-1]) for birth in inner if birth.kind == "batch"}
            found.extend(above if len(above) == 1 else ())
        elif isinstance(option, Yields):
            inner = [birth for birth in _origins(run, option.element) if birth.kind == "batch" and birth.item]
            found.extend(Birth(birth.kind, birth.key, birth.item[:-1]) for birth in inner)
        elif isinstance(option, Ref) and run.record(option).get("batch") is not None:
            key, item = run.record(option).get("batch")
            found.append(Birth("batch", key, item))
    return found


def _unpack(run: Interpreter, targets: list[ast.expr], value: Value, kind: str, source: ast.expr | None) -> None:
    kind = "unpack" if kind == "assign" else kind
    pairs: list[ast.expr | None] = [None] * len(targets)
    if isinstance(source, (ast.Tuple, ast.List)) and len(source.elts) == len(targets):
        pairs, kind = list(source.elts), "assign"
    if isinstance(value, Union):
        parts = [
            [iteration.unpacked(run, option, len(targets))[i] for option in value.options] for i in range(len(targets))
        ]
        items = [union(part) for part in parts]
    else:
        items = iteration.unpacked(run, value, len(targets))
    for target, item, pair in zip(targets, items, pairs, strict=False):
        assign(run, target, item, kind, pair)


def set_attribute(
    run: Interpreter,
    base: Value,
    name: str,
    value: Value,
    node: ast.AST,
    weak: bool = False,
    source: ast.expr | None = None,
) -> None:
    """``base.name = value``."""
    if isinstance(base, Tensor) and name == "data" and isinstance(value, Tensor):
        for birth in base.births:
            if birth.kind == "parameter" and birth.key and value.place != base.place:
                modules.move(run, Ref(birth.key), value.place, node)
    if not isinstance(base, Ref):
        return
    record = run.record(base)
    if name == "data" and record.kind == "module":
        return
    setter = find_property_setter(run, record, name)
    if setter is not None:
        run.call(setter, [base, value], {}, _no_call(node))
        return
    if record.kind == "module":
        modules.attach(run, base, name, value, node, weak, source)
        return
    if record.kind == "bundle" and isinstance(value, Tensor):
        value = batch_objects.taken_in(record, name, value)
    note_binding(run, text_of(node) if isinstance(node, ast.Attribute) else name, value, "attribute", node, source)
    if record.cls is not None and record.kind == "instance":
        value = attribute_stores.keep(run, base, name, value, node, source)
    for option in options(value):
        if isinstance(option, Ref) and run.record(option).kind == "module":
            run.facts.holdings.append(Holding(option, run.site(node)))
    old = record.fields.get(name)
    run.now.put(base, name, union((old, value)) if weak and old is not None else value)


def _no_call(node: ast.AST) -> ast.Call:
    return ast.copy_location(ast.Call(ast.Name("setter", ast.Load()), [], []), node)


def set_item(run: Interpreter, base: Value, key: Value, value: Value, node: ast.AST) -> None:
    """``base[key] = value``."""
    if isinstance(base, Tensor):
        _meet_written(run, base, key, value, node)
        _set_batch_item(run, base, key, value, node)
        return
    if isinstance(base, TupleValue):
        _set_tuple_item(run, base, key, value, node)
        return
    if not isinstance(base, Ref):
        return
    record = run.record(base)
    value = attribute_stores.added(run, base, value)
    if record.kind == "dict" and is_odd_key(key) and not record.get("odd-keys"):
        run.now.update(base, info=(*record.info, ("odd-keys", True)))
        record = run.record(base)
    name = str(key.value) if isinstance(key, Const) else None
    if record.kind == "module":
        modules.attach(run, base, name, value, node, weak=name is None)
    elif name is not None:
        run.now.put(base, name, value)
    elif record.rest is not None and _moves_every_item(record.rest, value):
        fields = dict.fromkeys(record.fields, value)
        run.now.update(base, rest=value, fields=fields)
    elif record.fields and all(_moves_every_item(item, value) or item == value for item in record.fields.values()):
        run.now.update(base, fields=dict.fromkeys(record.fields, value))
    else:
        rest = value if record.rest is None else union((record.rest, value))
        run.now.update(base, rest=rest, fields=_overridden(base, record))


def _meet_written(run: Interpreter, base: Tensor, key: Value, value: Value, node: ast.AST) -> None:
    """``x[index] = values`` by tensors wants the values where ``x`` is; by numbers and slices it copies them there."""
    keys = key.items if isinstance(key, TupleValue) else (key,)
    by_tensor = any(isinstance(part, Tensor) and not part.scalar and not part.loose for part in keys)
    if by_tensor and isinstance(node, ast.Subscript) and isinstance(value, Tensor) and not (value.scalar or base.loose):
        meet(run, node, "index", [tensor_side(base, text_of(node.value)), tensor_side(value, "…")])


def is_odd_key(key: Value) -> bool:
    """Whether a dictionary's key is certainly no string."""
    return isinstance(key, (Number, TupleValue)) or (isinstance(key, Const) and not isinstance(key.value, str))


def _overridden(base: Ref, record: Record) -> dict[str, Value]:
    """Settings after a write under an unknown key (the command line speaks): any of them may have changed."""
    return {
        name: Unknown(f"{record.name}#{base.id}.{name}") if _is_setting(record, value) else value
        for name, value in record.fields.items()
    }


def _is_setting(record: Record, value: Value) -> bool:
    return record.kind in ("dict", "instance") and isinstance(value, Const) and value.value is not None


def _set_tuple_item(run: Interpreter, base: TupleValue, key: Value, value: Value, node: ast.AST) -> None:
    """An item of a collated batch (a list, in fact) is replaced under the batch's name."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return
    items = list(base.items)
    if isinstance(key, Const) and isinstance(key.value, int) and -len(items) <= key.value < len(items):
        items[key.value] = value
    elif all(_moves_every_item(item, value) or item == value for item in items):
        items = [value] * len(items)
    else:
        items = [union((item, value)) for item in items]
    run.bind(node.value.id, TupleValue(tuple(items)))


def _moves_every_item(old: Value, new: Value) -> bool:
    return (
        isinstance(old, Tensor)
        and isinstance(new, Tensor)
        and old.place != new.place
        and new.place.kind == "accelerator"
    )


def _set_batch_item(run: Interpreter, base: Tensor, key: Value, value: Value, node: ast.AST) -> None:
    """An item of a batch of unknown shape is replaced, usually by its copy on the device."""
    if not base.loose or not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return
    if isinstance(key, Const):
        changed: Value = run.new(Record("dict", fields={str(key.value): value}, rest=base))
    elif isinstance(value, Tensor):
        changed = Tensor(value.place, sure=False, loose=True)
    else:
        changed = UNKNOWN
    run.bind(node.value.id, changed)


def delete(run: Interpreter, target: ast.expr) -> None:
    """``del target``."""
    match target:
        case ast.Name(id=name):
            assert run.frame is not None
            run.now.unbind(run.frame.env, name)
        case ast.Attribute():
            for option in options(run.evaluate(target.value)):
                if isinstance(option, Ref):
                    run.now.drop(option, target.attr)
        case ast.Subscript():
            key = run.evaluate(target.slice)
            for option in options(run.evaluate(target.value)):
                if isinstance(option, Ref) and isinstance(key, Const):
                    run.now.drop(option, str(key.value))
        case ast.Tuple(elts=elts):
            for element in elts:
                delete(run, element)
