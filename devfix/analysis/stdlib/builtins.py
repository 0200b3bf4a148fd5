"""Python's built-in functions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain.state import DeadPath
from devfix.analysis.domain.values import (
    UNKNOWN,
    Const,
    DeviceValue,
    Keywords,
    Number,
    Parameters,
    Record,
    Ref,
    Tensor,
    Text,
    TupleValue,
    Union,
    Value,
    Yields,
    options,
    union,
)
from devfix.analysis.stdlib import introspection
from devfix.analysis.torch import batches
from devfix.analysis.transfer import iteration
from devfix.analysis.transfer.loops import moved_names

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["call", "deep_copy"]


def call(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Call the built-in ``name``."""
    handler = _HANDLERS.get(name)
    if handler is not None:
        return handler(run, args, keywords, node)
    return UNKNOWN


def _enumerate(run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if not args:
        return UNKNOWN
    known = iteration.elements(run, args[0], node)
    if known is not None:
        start = keywords.get("start", args[1] if len(args) > 1 else Const(0))
        first = start.value if isinstance(start, Const) and isinstance(start.value, int) else None
        numbers = [Number() if first is None else Const(first + i) for i in range(len(known))]
        return TupleValue(tuple(TupleValue(pair) for pair in zip(numbers, known, strict=True)))
    return Yields(TupleValue((Number(), _yielded(run, args[0], node))))


def _yielded(run: Interpreter, value: Value, node: ast.AST) -> Value:
    assert run.frame is not None
    stmt = run.frame.stmt
    moved = moved_names(stmt) if isinstance(stmt, (ast.For, ast.AsyncFor)) else frozenset()
    return iteration.element(run, value, node, moved)


def _zip(run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    starred = [argument for argument in node.args if isinstance(argument, ast.Starred)]
    if starred and len(node.args) == 1 and len(args) == 1:  # zip(*rows): the columns
        rows = [_row(run, option) for option in options(args[0])]
        if all(rows) and len({len(row) for row in rows}) == 1:
            return TupleValue(tuple(Yields(union(column)) for column in zip(*rows, strict=True)))
    columns = [iteration.elements(run, value, node) for value in args]
    if columns and all(column is not None for column in columns):
        return TupleValue(tuple(TupleValue(row) for row in zip(*[c for c in columns if c is not None], strict=False)))
    items = []
    for index, value in enumerate(args):
        item = _yielded(run, value, node)
        loader = isinstance(value, Ref) and run.record(value).kind == "loader"
        items.append(_distinct(run, item, index, node) if loader else item)
    return Yields(TupleValue(tuple(items)))


def _row(run: Interpreter, value: Value) -> tuple[Value, ...]:
    if isinstance(value, Ref) and iteration.is_named_tuple(run, value):
        return tuple(run.record(value).fields.values())
    return value.items if isinstance(value, TupleValue) else ()


def _distinct(run: Interpreter, value: Value, index: int, node: ast.AST) -> Value:
    """Two loaders under one ``zip`` yield different batches: their items get different ways."""
    if not index:
        return value
    return batches.stamp(run, value, batches.source_key(run, "batch", node), (f"zip{index}",))


def _next(run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if not args:
        return UNKNOWN
    value = args[0]
    if isinstance(value, Ref) and run.record(value).cls is not None and run.record(value).kind == "instance":
        step = run.attribute(value, "__next__", node)
        return run.call(step, [], {}, node)
    return iteration.element(run, value, node)


def _iter(run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    value = args[0] if args else UNKNOWN
    if isinstance(value, Ref) and run.record(value).cls is not None and run.record(value).kind == "instance":
        return Yields(iteration.element(run, value, node))
    return value


def _list(run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if not args or _is_empty(run, args[0]):
        return run.new(Record("list"))
    if isinstance(args[0], (Parameters, Tensor)):
        return args[0]
    if isinstance(args[0], Yields):
        return run.new(Record("list", rest=args[0].element))
    known = iteration.elements(run, args[0], node)
    if known is not None:
        return run.new(Record("list", fields={str(i): value for i, value in enumerate(known)}))
    return run.new(Record("list", rest=iteration.element(run, args[0], node)))


def _is_empty(run: Interpreter, value: Value) -> bool:
    if not isinstance(value, Ref) or run.record(value).kind != "list":
        return False
    return not run.record(value).fields and run.record(value).rest is None


def _tuple(run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    known = iteration.elements(run, args[0], node) if args else []
    return TupleValue(tuple(known)) if known is not None else _list(run, args, keywords, node)


def _dict(run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    fields: dict[str, Value] = {}
    rest: Value | None = None
    if args:
        source = args[0]
        if isinstance(source, Ref) and run.record(source).kind == "dict":
            fields, rest = dict(run.record(source).fields), run.record(source).rest
        else:
            known = iteration.elements(run, source, node)
            for pair in known if known is not None else [iteration.element(run, source, node)]:
                if isinstance(pair, TupleValue) and len(pair.items) == 2:
                    key, value = pair.items
                    if isinstance(key, Const):
                        fields[str(key.value)] = value
                    else:
                        rest = value if rest is None else union((rest, value))
                else:
                    rest = UNKNOWN
    fields.update({key: value for key, value in keywords.items() if key != "**"})
    return run.new(Record("dict", fields=fields, rest=rest))


def _map(run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if len(args) < 2:
        return UNKNOWN
    known = iteration.elements(run, args[1], node) if len(args) == 2 else None
    if known is not None:
        return TupleValue(tuple(run.call(args[0], [value], {}, node) for value in known))
    items = [iteration.element(run, value, node) for value in args[1:]]
    return Yields(run.call(args[0], items, {}, node))


def _filter(run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return args[1] if len(args) == 2 else UNKNOWN


def _same(run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return args[0] if args else UNKNOWN


def _sum(run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    inner = iteration.element(run, args[0], node) if args else UNKNOWN
    return inner if isinstance(inner, Tensor) else Number()


def _extreme(run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    tensors = [value for value in args if isinstance(value, Tensor)]
    return tensors[0] if tensors else Number()


def _number(run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    value = args[0] if args else UNKNOWN
    if isinstance(value, Const) and isinstance(value.value, (int, float)):
        return value
    return Number(getattr(value, "symbol", ""))


def _bool(run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    from devfix.analysis.transfer.conditions import truth_of

    known = truth_of(run, args[0]) if args else False
    return Const(known) if known is not None else args[0]


def _str(run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    value = args[0] if args else Const("")
    if isinstance(value, DeviceValue):
        return replace(value, text=True)
    if isinstance(value, Const):
        return Const(str(value.value))
    return value if isinstance(value, Text) else Text(getattr(value, "symbol", ""))


def _range(run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return Yields(Number())


def _open(run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return args[0] if args else UNKNOWN


def _exit(run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    raise DeadPath


def deep_copy(run: Interpreter, value: Value, node: ast.AST, copies: dict[int, Ref] | None = None) -> Value:
    """``copy.deepcopy``: new objects that live where the old ones live."""
    copies = {} if copies is None else copies
    if isinstance(value, Union):
        return union(deep_copy(run, option, node, copies) for option in value.options)
    if not isinstance(value, Ref):
        return value
    if value.id not in copies:
        record = run.record(value)
        born = run.site(node) if record.kind == "module" else record.born
        copies[value.id] = run.new(replace(record, born=born))
        fields = {name: deep_copy(run, item, node, copies) for name, item in record.fields.items()}
        rest = None if record.rest is None else deep_copy(run, record.rest, node, copies)
        run.now.update(copies[value.id], fields=fields, rest=rest)
    return copies[value.id]


_HANDLERS: dict[str, Callable[[Interpreter, list[Value], Keywords, ast.Call], Value]] = {
    **introspection.HANDLERS,
    "all": lambda run, args, keywords, node: UNKNOWN,
    "bool": _bool,
    "dict": _dict,
    "enumerate": _enumerate,
    "exit": _exit,
    "filter": _filter,
    "float": _number,
    "int": _number,
    "iter": _iter,
    "len": lambda run, args, keywords, node: Number(),
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
