"""Expressions: one function for each kind of node; operators and subscripts have files of their own."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING

from devfix.analysis import host_access, ineffective_moves
from devfix.analysis.domain.device_parsing import device_named
from devfix.analysis.domain.path_conditions import assume, assumed
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    UNKNOWN,
    Const,
    DeviceValue,
    External,
    Place,
    Record,
    Ref,
    Text,
    TupleValue,
    Union,
    Unknown,
    Value,
    Yields,
    union,
)
from devfix.analysis.transfer import assignment, calls, conditions, functions, iteration
from devfix.analysis.transfer.definitions import make_function
from devfix.analysis.transfer.operators import binary, compare, formatted, unary
from devfix.analysis.transfer.subscripts import subscript
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["evaluate"]

_BUILTINS = frozenset(dir(builtins))


def evaluate(run: Interpreter, node: ast.expr) -> Value:
    """The value of an expression; what it does on the way is done."""
    run.tick()
    handler = _HANDLERS.get(type(node))
    value = handler(run, node) if handler is not None else UNKNOWN
    if run.watch is not None:
        run.watch(run, node, value)
    return value


def _name(run: Interpreter, node: ast.Name) -> Value:
    value = run.lookup(node.id)
    if value is not None:
        return value
    return External(f"builtins.{node.id}") if node.id in _BUILTINS else Unknown(f"{node.id}")


def _constant(run: Interpreter, node: ast.Constant) -> Value:
    return Const(node.value)


def _attribute(run: Interpreter, node: ast.Attribute) -> Value:
    base = evaluate(run, node.value)
    if node.attr == "grad":
        ineffective_moves.note_leaf_use(run, base, "grad", node)
    return ineffective_moves.uncalled(run, node, base, run.attribute(base, node.attr, node))


def _tuple(run: Interpreter, node: ast.Tuple) -> Value:
    items = _sequence(run, node.elts)
    return TupleValue(tuple(items)) if items is not None else Yields(UNKNOWN)


def _list(run: Interpreter, node: ast.List | ast.Set) -> Value:
    items = _sequence(run, node.elts)
    kind = "set" if isinstance(node, ast.Set) else "list"
    if items is None:
        return run.new(Record(kind, rest=union(evaluate(run, element) for element in node.elts)))
    return run.new(Record(kind, fields={str(i): item for i, item in enumerate(items)}))


def _sequence(run: Interpreter, nodes: list[ast.expr]) -> list[Value] | None:
    items: list[Value] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            inner = evaluate(run, node.value)
            known = iteration.elements(run, inner, node)
            if known is None:
                return None
            items.extend(known)
        else:
            items.append(evaluate(run, node))
    return items


def _dict(run: Interpreter, node: ast.Dict) -> Value:
    fields: dict[str, Value] = {}
    rest: Value | None = None
    odd = False
    for key, value_node in zip(node.keys, node.values, strict=False):
        value = evaluate(run, value_node)
        if key is None:
            if isinstance(value, Ref) and run.record(value).kind == "dict":
                fields.update(run.record(value).fields)
                rest = run.record(value).rest or rest
            else:
                rest = UNKNOWN
            continue
        name = evaluate(run, key)
        odd |= assignment.is_odd_key(name)
        if isinstance(name, Const):
            fields[str(name.value)] = value
        else:
            rest = value if rest is None else union((rest, value))
    return run.new(Record("dict", fields=fields, rest=rest, info=(("odd-keys", True),) if odd else ()))


def _comprehension(run: Interpreter, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
    results, known = _comprehend(run, node.generators, lambda: evaluate(run, node.elt))
    if isinstance(node, ast.GeneratorExp) and not known:
        return Yields(functions.one_of_each(run, results))
    if known:
        made = run.new(Record("list", fields={str(i): value for i, value in enumerate(results)}))
    else:
        made = run.new(Record("list", rest=functions.one_of_each(run, results)))
    host_access.stamp(run, made, node.elt)
    return made


def _dict_comprehension(run: Interpreter, node: ast.DictComp) -> Value:
    pairs, _ = _comprehend(
        run, node.generators, lambda: TupleValue((evaluate(run, node.key), evaluate(run, node.value)))
    )
    fields: dict[str, Value] = {}
    rest: Value | None = None
    odd = False
    for pair in pairs:
        assert isinstance(pair, TupleValue)
        key, value = pair.items
        odd |= assignment.is_odd_key(key)
        if isinstance(key, Const):
            fields[str(key.value)] = value
        else:
            rest = value if rest is None else union((rest, value))
    return run.new(Record("dict", fields=fields, rest=rest, info=(("odd-keys", True),) if odd else ()))


def _comprehend(
    run: Interpreter, generators: list[ast.comprehension], produce: Callable[[], Value]
) -> tuple[list[Value], bool]:
    """The values of a comprehension, and whether they are its elements one by one."""
    assert run.frame is not None
    targets = [n.id for g in generators for n in ast.walk(g.target) if isinstance(n, ast.Name)]
    saved = {name: run.now.envs.get(run.frame.env, {}).get(name) for name in targets}
    results, known = _generate(run, generators, produce)
    for name, value in saved.items():
        if value is None:
            run.now.unbind(run.frame.env, name)
        else:
            run.now.bind(run.frame.env, name, value)
    return results, known


def _generate(
    run: Interpreter, generators: list[ast.comprehension], produce: Callable[[], Value]
) -> tuple[list[Value], bool]:
    first, *others = generators
    iterable = evaluate(run, first.iter)
    elements = iteration.elements(run, iterable, first.iter)
    known = elements is not None and not first.ifs and not others
    results: list[Value] = []
    env = run.frame.env if run.frame is not None else 0
    for value in elements if elements is not None else [iteration.element(run, iterable, first.iter)]:
        for name, part in _bound(run, first.target, value):
            run.now.bind(env, name, part)
        outcomes = [run.truth(condition) for condition in first.ifs]
        if False in outcomes:
            continue
        if others:
            results.extend(_generate(run, others, produce)[0])
        else:
            results.append(produce())
    return results, known


def _bound(run: Interpreter, target: ast.expr, value: Value) -> list[tuple[str, Value]]:
    if isinstance(target, ast.Name):
        return [(target.id, value)]
    if isinstance(target, (ast.Tuple, ast.List)):
        items = (
            iteration.unpacked(run, value, len(target.elts))
            if not isinstance(value, Union)
            else [
                union(iteration.unpacked(run, option, len(target.elts))[i] for option in value.options)
                for i in range(len(target.elts))
            ]
        )
        return [pair for inner, item in zip(target.elts, items, strict=False) for pair in _bound(run, inner, item)]
    return []


def _conditional(run: Interpreter, node: ast.IfExp) -> Value:
    truth = run.truth(node.test)
    if truth is not None:
        return evaluate(run, node.body if truth else node.orelse)
    with assumed(run, node.test, True):
        body = evaluate(run, node.body)
    with assumed(run, node.test, False):
        values = body, evaluate(run, node.orelse)
    places = [_device_of(value) for value in values]
    if set(places) == {ACCELERATOR, CPU} and not run.elsewhere:
        chosen = places.index(ACCELERATOR)  # the program chooses a device: the path on which it has its accelerator
        assume(run, node.test, chosen == 0)
        return values[chosen]
    return union(values)


def _device_of(value: Value) -> Place | None:
    """The place of a device or of the string that names one."""
    if isinstance(value, Const) and isinstance(value.value, str):
        return device_named(value.value)
    return value.place if isinstance(value, DeviceValue) else None


def _boolean(run: Interpreter, node: ast.BoolOp) -> Value:
    possible: list[Value] = []
    for index, part in enumerate(node.values):
        value = evaluate(run, part)
        last = index == len(node.values) - 1
        truth = conditions.truth_of(run, value)
        decides = not isinstance(node.op, ast.And)
        if last or truth is decides:
            possible.append(value)
            break
        if truth is None:
            if isinstance(value, Union):
                possible.extend(o for o in value.options if conditions.truth_of(run, o) is not (not decides))
            else:
                possible.append(value)
    return union(possible)


def _joined(run: Interpreter, node: ast.JoinedStr) -> Value:
    """An f-string; one that starts with ``cuda`` names a device."""
    first = node.values[0] if node.values else None
    head: Value = Text()
    texts: list[str] = []
    for part in node.values:
        value = evaluate(run, part.value) if isinstance(part, ast.FormattedValue) else evaluate(run, part)
        if part is first:
            head = value
        texts.append(str(value.value) if isinstance(value, Const) else "\0")
    if "\0" not in texts:
        return Const("".join(texts))
    if isinstance(head, Const) and isinstance(first, ast.Constant):
        return formatted(head)
    return DeviceValue(head.place, text=True) if isinstance(head, DeviceValue) else Text(text_of(node))


def _lambda(run: Interpreter, node: ast.Lambda) -> Value:
    return make_function(run, node)


def _walrus(run: Interpreter, node: ast.NamedExpr) -> Value:
    value = evaluate(run, node.value)
    assignment.assign(run, node.target, value, source=node.value)
    return value


def _yield(run: Interpreter, node: ast.Yield) -> Value:
    value = Const(None) if node.value is None else evaluate(run, node.value)
    assert run.frame is not None
    run.frame.yields.append(value)
    return UNKNOWN


def _yield_from(run: Interpreter, node: ast.YieldFrom) -> Value:
    value = iteration.element(run, evaluate(run, node.value), node)
    assert run.frame is not None
    run.frame.yields.append(value)
    return UNKNOWN


def _slice(run: Interpreter, node: ast.Slice) -> Value:
    for part in (node.lower, node.upper, node.step):
        if part is not None:
            evaluate(run, part)
    return UNKNOWN


_HANDLERS: dict[type[ast.expr], Callable[..., Value]] = {
    ast.Name: _name,
    ast.Constant: _constant,
    ast.Attribute: _attribute,
    ast.Call: calls.evaluate_call,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _list,
    ast.Dict: _dict,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _dict_comprehension,
    ast.IfExp: _conditional,
    ast.BoolOp: _boolean,
    ast.UnaryOp: unary,
    ast.Compare: compare,
    ast.BinOp: binary,
    ast.Subscript: subscript,
    ast.JoinedStr: _joined,
    ast.Lambda: _lambda,
    ast.NamedExpr: _walrus,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
    ast.Slice: _slice,
    ast.Await: lambda run, node: evaluate(run, node.value),
    ast.Starred: lambda run, node: evaluate(run, node.value),
    ast.FormattedValue: lambda run, node: evaluate(run, node.value),
}
