"""Python's built-in functions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from devfix.analysis.domain.classes import is_named_tuple
from devfix.analysis.domain.device_parsing import parse_device
from devfix.analysis.domain.objects import Mapping, Module, object_at
from devfix.analysis.domain.records import replace
from devfix.analysis.domain.splits import copy_sides
from devfix.analysis.domain.state import Unreachable
from devfix.analysis.domain.values import (
    NONE,
    UNKNOWN,
    Builtin,
    Const,
    DeviceValue,
    External,
    IterableOf,
    Keywords,
    Number,
    Parameters,
    Pointer,
    Tensor,
    Text,
    TupleValue,
    Union,
    Unknown,
    Value,
    alternatives,
    join,
)
from devfix.analysis.stdlib import argparse_, introspection
from devfix.analysis.stdlib.containers import DictObject, ListObject, new_list
from devfix.analysis.stdlib.instances import InstanceObject
from devfix.analysis.stdlib.texts import is_dotted_name
from devfix.analysis.torch import batches, data_sources
from devfix.analysis.torch.data import LoaderObject
from devfix.analysis.transfer.conditions import truth_of
from devfix.analysis.transfer.loops import moved_names
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["call", "deep_copy"]


def call(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Call the built-in ``name``."""
    handler = _HANDLERS.get(name)
    if handler is not None:
        return handler(interp, args, keywords, node)
    return UNKNOWN


def _exec(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``exec(open("configurator.py").read())``: what the program named before are options, which the code may set."""
    is_module = interp.activation is not None and interp.activation.function is None
    is_here = len(args) == 1 or [text_of(each) for each in node.args[1:]] == ["globals()"]
    if not is_here or isinstance(args[0], Const) or interp.activation is None or not is_module:
        return NONE  # code of the program, or with a namespace of its own; it cannot bind the names of a function
    for name, value in list(interp.now.names(interp.activation.env).items()):
        if isinstance(value, Const) and isinstance(value.value, str) and parse_device(value.value) is not None:
            option = argparse_.option_of_class(interp, name, value)
            interp.bind(name, option if isinstance(option, DeviceValue) else value)
    return NONE


def _enumerate(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if not args:
        return UNKNOWN
    known = interp.elements(args[0], node)
    if known is not None:
        start = keywords.get("start", args[1] if len(args) > 1 else Const(0))
        first = start.value if isinstance(start, Const) and isinstance(start.value, int) else None
        numbers = [Number() if first is None else Const(first + i) for i in range(len(known))]
        return TupleValue(tuple(TupleValue(pair) for pair in zip(numbers, known, strict=True)))
    return IterableOf(TupleValue((Number(), _element(interp, args[0], node))))


def _element(interp: Interpreter, value: Value, node: ast.AST) -> Value:
    assert interp.activation is not None
    stmt = interp.activation.stmt
    moved = moved_names(stmt) if isinstance(stmt, (ast.For, ast.AsyncFor)) else frozenset()
    return interp.element(value, node, moved)


def _zip(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    starred = [argument for argument in node.args if isinstance(argument, ast.Starred)]
    if starred and len(node.args) == 1 and len(args) == 1:  # zip(*rows): columns
        rows = [_row(interp, option) for option in alternatives(args[0])]
        if all(rows) and len({len(row) for row in rows}) == 1:
            return TupleValue(tuple(IterableOf(join(column)) for column in zip(*rows, strict=True)))
    columns = [interp.elements(value, node) for value in args]
    if columns and all(column is not None for column in columns):
        return TupleValue(tuple(TupleValue(row) for row in zip(*[c for c in columns if c is not None], strict=False)))
    items = []
    for index, value in enumerate(args):
        item = _element(interp, value, node)
        loader = object_at(interp, value, LoaderObject) is not None
        items.append(_tag_loader(interp, item, index, node) if loader else item)
    return IterableOf(TupleValue(tuple(items)))


def _row(interp: Interpreter, value: Value) -> tuple[Value, ...]:
    if isinstance(value, Pointer) and is_named_tuple(interp, value):
        return tuple(interp.heap_object(value).fields.values())
    return value.items if isinstance(value, TupleValue) else ()


def _tag_loader(interp: Interpreter, value: Value, index: int, node: ast.AST) -> Value:
    """Return a batch with a path of its own among the loaders of one ``zip``."""
    if not index:
        return value
    return batches.tag_origins(interp, value, data_sources.source_key(interp, "batch", node), (f"zip{index}",))


def _is_instance(interp: Interpreter, value: Value) -> bool:
    """Return whether a value is an instance of a project class."""
    instance = object_at(interp, value, InstanceObject)
    return instance is not None and instance.cls is not None


def _next(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if not args:
        return UNKNOWN
    value = args[0]
    if _is_instance(interp, value):
        step = interp.attribute(value, "__next__", node)
        return interp.call(step, [], {}, node)
    return interp.element(value, node)


def _iter(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    value = args[0] if args else UNKNOWN
    if _is_instance(interp, value):
        return IterableOf(interp.element(value, node))
    return value


def _list(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if not args or _is_empty(interp, args[0]):
        return interp.new(ListObject())
    if isinstance(args[0], Parameters):
        return args[0]
    if isinstance(args[0], Tensor) and args[0].maybe_container and args[0].origins:
        return args[0]  # its parts are told apart by their origins
    if isinstance(args[0], IterableOf):
        return interp.new(ListObject(default_item=args[0].element))
    known = interp.elements(args[0], node)
    if known is not None:
        return new_list(interp, known)
    return interp.new(ListObject(default_item=interp.element(args[0], node)))


def _len(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Return the length of a tuple; that of other containers may change."""
    options = alternatives(args[0]) if args else ()
    lengths = {len(option.items) if isinstance(option, TupleValue) else None for option in options}
    known = lengths.pop() if len(lengths) == 1 else None
    return Number() if known is None else Const(known)


def _is_empty(interp: Interpreter, value: Value) -> bool:
    items = object_at(interp, value, ListObject)
    return items is not None and not items.contents


def _tuple(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    known = interp.elements(args[0], node) if args else []
    return TupleValue(tuple(known)) if known is not None else _list(interp, args, keywords, node)


def _dict(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    fields: dict[str, Value] = {}
    rest: Value | None = None
    if args:
        source = args[0]
        given = object_at(interp, source, Mapping)
        if given is not None:
            fields, rest = dict(given.fields), given.default_item
        else:
            known = interp.elements(source, node)
            for pair in known if known is not None else [interp.element(source, node)]:
                if isinstance(pair, TupleValue) and len(pair.items) == 2:
                    key, value = pair.items
                    if isinstance(key, Const):
                        fields[str(key.value)] = value
                    else:
                        rest = value if rest is None else join((rest, value))
                else:
                    rest = UNKNOWN
    fields.update({key: value for key, value in keywords.items() if key != "**"})
    return interp.new(DictObject(fields=fields, default_item=rest))


def _from_keys(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``dict.fromkeys(keys, value)``."""
    value = args[1] if len(args) > 1 else NONE
    keys = interp.elements(args[0], node) if args else None
    if keys is None or not all(isinstance(key, Const) for key in keys):
        return interp.new(DictObject(default_item=value))
    return interp.new(DictObject(fields={str(key.value): value for key in keys if isinstance(key, Const)}))


def _map(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if len(args) < 2:
        return UNKNOWN
    known = interp.elements(args[1], node) if len(args) == 2 else None
    if known is not None:
        return TupleValue(tuple(interp.call(args[0], [value], {}, node) for value in known))
    items = [interp.element(value, node) for value in args[1:]]
    return IterableOf(interp.call(args[0], items, {}, node))


def _filter(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return args[1] if len(args) == 2 else UNKNOWN


def _same(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return args[0] if args else UNKNOWN


def _sum(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    inner = interp.element(args[0], node) if args else UNKNOWN
    return inner if any(isinstance(option, Tensor) for option in alternatives(inner)) else Number()


def _evaluate(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``eval("Net")``: the value of a name."""
    text = args[0].value if len(args) == 1 and isinstance(args[0], Const) else None
    if not isinstance(text, str) or not is_dotted_name(text):
        return UNKNOWN
    expression = ast.parse(text, mode="eval").body
    for inner in ast.walk(expression):
        ast.copy_location(inner, node)
    return interp.evaluate(expression)


def _extreme(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if len(args) == 1:  # of a container
        item = interp.element(args[0], node)
        is_object = any(isinstance(option, (Tensor, Pointer)) for option in alternatives(item))
        return item if is_object or "key" in keywords else Number()
    tensors = [value for value in args if isinstance(value, Tensor)]
    return tensors[0] if tensors else Number()


def _number(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    value = args[0] if args else UNKNOWN
    if isinstance(value, Const) and isinstance(value.value, (int, float)):
        return value
    return Number(getattr(value, "symbol", ""))


def _float(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    match _number(interp, args, keywords, node):
        case Const(int(number)):
            return Const(float(number))
        case Number(symbol):
            return Number(symbol, is_float=True)
        case number:
            return number


def _bool(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    known = truth_of(interp, args[0]) if args else False
    if known is not None:
        return Const(known)
    return args[0] if isinstance(args[0], (Unknown, Number, Text, Builtin)) else UNKNOWN  # the same condition


def _str(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    value = args[0] if args else Const("")
    if isinstance(value, DeviceValue):
        return replace(value, text=True)
    if isinstance(value, Const):
        return Const(str(value.value))
    options = alternatives(value)
    if all(option in (External("torch.Tensor"), External("torch.nn.Parameter")) for option in options):
        return join(Const(f"<class '{getattr(option, 'name', '')}'>") for option in options)  # of ``type(x)``
    return value if isinstance(value, Text) else Text(getattr(value, "symbol", ""))


def _range(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return IterableOf(Number())


def _open(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return args[0] if args else UNKNOWN


def _exit(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    raise Unreachable


def deep_copy(interp: Interpreter, value: Value, node: ast.AST) -> Value:
    """``copy.deepcopy``: copy an object with its contents; devices remain."""
    copies: dict[int, Pointer] = {}
    copied = _copy(interp, value, node, copies)
    copy_sides(interp.now, copies)
    interp.base.handled += len(copies)
    return copied


def _copy(interp: Interpreter, value: Value, node: ast.AST, copies: dict[int, Pointer]) -> Value:
    """Copy an object; ``copies`` are those made so far, by identifier of the original."""
    if isinstance(value, Union):
        return join(_copy(interp, option, node, copies) for option in value.alternatives)
    if not isinstance(value, Pointer):
        return value
    if value.id not in copies:
        obj = interp.heap_object(value)
        allocated_at = interp.point(node) if isinstance(obj, Module) else obj.allocated_at
        copy = replace(obj, allocated_at=allocated_at)
        copies[value.id] = interp.new(copy)
        copied = copy.transformed(lambda _, item: _copy(interp, item, node, copies))
        interp.now.write(copies[value.id].id, copied)
    return copies[value.id]


_HANDLERS: dict[str, Callable[[Interpreter, list[Value], Keywords, ast.Call], Value]] = {
    **introspection.HANDLERS,
    "all": lambda interp, args, keywords, node: UNKNOWN,
    "bool": _bool,
    "dict": _dict,
    "dict.fromkeys": _from_keys,
    "enumerate": _enumerate,
    "eval": _evaluate,
    "exec": _exec,
    "exit": _exit,
    "filter": _filter,
    "float": _float,
    "int": _number,
    "iter": _iter,
    "len": _len,
    "list": _list,
    "map": _map,
    "max": _extreme,
    "min": _extreme,
    "next": _next,
    "open": _open,
    "quit": _exit,
    "range": _range,
    "reversed": _same,
    "round": _number,
    "set": _list,
    "sorted": _list,
    "str": _str,
    "sum": _sum,
    "tuple": _tuple,
    "zip": _zip,
}
