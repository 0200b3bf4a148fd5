"""Expressions."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.flow import assign, calls, conditions, hosts, iteration, misuse, modules
from devfix.flow.meetings import meet, tensor_side
from devfix.flow.syntax import text_of
from devfix.flow.values import (
    ACCELERATOR,
    ANYWHERE,
    CPU,
    UNKNOWN,
    Birth,
    Const,
    DeviceValue,
    External,
    Number,
    Parameters,
    Place,
    Record,
    Ref,
    Tensor,
    Text,
    TupleValue,
    Union,
    Unknown,
    Value,
    Yields,
    options,
    union,
)

if TYPE_CHECKING:
    from devfix.flow.interpreter import Interpreter

__all__ = ["augmented", "device_named", "evaluate"]

_ACCELERATOR_NAMES = ("cuda", "gpu", "mps", "xpu", "npu", "hpu", "mlu", "musa", "privateuseone", "tpu")
_BUILTINS = frozenset(dir(builtins))


INDEXED = "an index"


def device_named(text: str) -> Place | None:
    """The place that a device string names (``"cuda:0"``, ``"cpu"``); ``None`` where it names none."""
    name = text.strip().lower()
    if name == "cpu" or name.startswith("cpu:"):
        return CPU
    if any(name == known or name.startswith(known + ":") for known in _ACCELERATOR_NAMES):
        return ACCELERATOR
    return None


def evaluate(run: Interpreter, node: ast.expr) -> Value:
    """The value of an expression; what it does on the way is done."""
    run.tick()
    handler = _HANDLERS.get(type(node))
    return handler(run, node) if handler is not None else UNKNOWN


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
        misuse.note_leaf_use(run, base, "grad", node)
    return misuse.uncalled(run, node, base, run.attribute(base, node.attr, node))


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
        odd |= assign.is_odd_key(name)
        if isinstance(name, Const):
            fields[str(name.value)] = value
        else:
            rest = value if rest is None else union((rest, value))
    return run.new(Record("dict", fields=fields, rest=rest, info=(("odd-keys", True),) if odd else ()))


def _comprehension(run: Interpreter, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
    results, known = _comprehend(run, node.generators, lambda: evaluate(run, node.elt))
    if isinstance(node, ast.GeneratorExp) and not known:
        return Yields(calls.one_of_each(run, results))
    if known:
        made = run.new(Record("list", fields={str(i): value for i, value in enumerate(results)}))
    else:
        made = run.new(Record("list", rest=calls.one_of_each(run, results)))
    hosts.stamp(run, made, node.elt)
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
        odd |= assign.is_odd_key(key)
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
    return union((evaluate(run, node.body), evaluate(run, node.orelse)))


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


def _unary(run: Interpreter, node: ast.UnaryOp) -> Value:
    if isinstance(node.op, ast.Not):
        truth = run.truth(node.operand)
        return Const(not truth) if truth is not None else UNKNOWN
    value = evaluate(run, node.operand)
    if isinstance(value, Const) and isinstance(value.value, (int, float)) and isinstance(node.op, ast.USub):
        return Const(-value.value)
    return value


def _compare(run: Interpreter, node: ast.Compare) -> Value:
    if len(node.ops) == 1:
        left, right = evaluate(run, node.left), evaluate(run, node.comparators[0])
        if _holds_tensor(left) or _holds_tensor(right):
            if isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
                return UNKNOWN
            return _combine(run, node, left, right, node.left, node.comparators[0], strict=False)
        truth = run.truth(node)
        return Const(truth) if truth is not None else UNKNOWN
    for part in (node.left, *node.comparators):
        evaluate(run, part)
    return UNKNOWN


def augmented(run: Interpreter, node: ast.BinOp) -> Value:
    """``left op= right``: the same as the operator, but a tensor on the left is written in place."""
    run.tick()
    return _binary(run, node, in_place=True)


def _holds_tensor(value: Value) -> bool:
    return any(isinstance(option, Tensor) for option in options(value))


def _binary(run: Interpreter, node: ast.BinOp, in_place: bool = False) -> Value:
    left, right = evaluate(run, node.left), evaluate(run, node.right)
    if _holds_tensor(left) or _holds_tensor(right):
        strict = isinstance(node.op, ast.MatMult)
        return _combine(run, node, left, right, node.left, node.right, strict, in_place)
    if isinstance(node.op, ast.Add):
        joined = _concatenated(run, left, right)
        if joined is not None:
            return joined
    if isinstance(node.op, ast.Mod) and isinstance(left, (Const, DeviceValue)):
        return _formatted(left)
    if isinstance(left, Ref) and run.record(left).kind == "list":
        return run.new(Record("list", rest=iteration.element(run, left, node)))
    if all(isinstance(side, (Const, Number)) for side in (left, right)):
        return Number()
    return UNKNOWN


def _concatenated(run: Interpreter, left: Value, right: Value) -> Value | None:
    if isinstance(left, Const) and isinstance(left.value, str):
        if isinstance(right, Const) and isinstance(right.value, str):
            return Const(left.value + right.value)
        return _formatted(left)
    if isinstance(left, TupleValue) and isinstance(right, TupleValue):
        return TupleValue(left.items + right.items)
    if isinstance(left, Parameters) or isinstance(right, Parameters):
        return run.new(Record("list", fields={"0": left, "1": right}))
    if all(isinstance(side, Ref) and run.record(side).kind == "list" for side in (left, right)):
        both = [run.record(side) for side in (left, right) if isinstance(side, Ref)]
        held = [item for record in both for item in (*record.fields.values(), record.rest) if item is not None]
        if all(record.rest is None for record in both):
            return run.new(Record("list", fields={str(i): item for i, item in enumerate(held)}))
        return run.new(Record("list", rest=union(held)))
    return None


def _formatted(value: Value) -> Value:
    """A string that starts with a known text: ``"cuda:%d" % i`` names a device."""
    if isinstance(value, Const) and isinstance(value.value, str):
        place = device_named(value.value.split("%")[0].split("{")[0].rstrip(":") or "-")
        return DeviceValue(place, text=True, symbol=INDEXED) if place is not None else Text()
    return value if isinstance(value, DeviceValue) else Text()


def _combine(
    run: Interpreter,
    node: ast.expr,
    left: Value,
    right: Value,
    left_node: ast.expr,
    right_node: ast.expr,
    strict: bool,
    in_place: bool = False,
) -> Value:
    """An operator on tensors: both operands must live together (CPU scalars may join, except in ``@``)."""
    sides = [
        tensor_side(value, text_of(part))
        for value, part in ((left, left_node), (right, right_node))
        if isinstance(value, (Tensor, Union)) and _holds_tensor(value)
    ]
    if len(sides) == 1 and len(sides[0].places) > 1:  # with a number, each alternative stays what it is
        value = left if _holds_tensor(left) else right
        return union(replace(option, loose=False) for option in options(value) if isinstance(option, Tensor))
    written = sides[0] if in_place and _holds_tensor(left) else None
    place, births = meet(run, node, "operator", sides, scalars_are_free=not strict, written=written)
    grad = any(side.grad for side in sides) and not isinstance(node, ast.Compare)
    single = all(side.single for side in sides)
    return Tensor(place, births, scalar=all(side.scalar for side in sides), grad=grad, single=single)


def _subscript(run: Interpreter, node: ast.Subscript) -> Value:
    base = evaluate(run, node.value)
    key = evaluate(run, node.slice)
    if _meet_indices(run, base, key, node):
        return Tensor(ACCELERATOR)  # told once: what the program does with it comes after
    return union(_item(run, option, key, node) for option in options(base))


def _meet_indices(run: Interpreter, base: Value, key: Value, node: ast.Subscript) -> bool:
    """``x[index]``: an index on the accelerator needs ``x`` there, one on the CPU serves any ``x``.

    An index without dimensions is read as a number, wherever it is.  Gives whether the two met.
    ``aten/src/ATen/native/TensorAdvancedIndexing.cpp``: "indices should be either on cpu or on the same device as the
    indexed tensor".
    """
    tensors = [option for option in options(base) if isinstance(option, Tensor)]
    if not any(tensor.place == CPU and not tensor.loose for tensor in tensors):
        return False
    met = len(run.facts.meetings)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    keys = key.items if isinstance(key, TupleValue) and len(key.items) == len(parts) else (key,)
    for index, part in zip(keys, parts, strict=False):
        if any(isinstance(option, Tensor) and option.place == ACCELERATOR for option in options(index)) and all(
            isinstance(option, Tensor) and not option.scalar and not option.loose for option in options(index)
        ):
            sides = [tensor_side(value, text_of(one)) for value, one in ((base, node.value), (index, part))]  # type: ignore[arg-type]
            meet(run, node, "index", sides)
    return len(run.facts.meetings) > met


def _item(run: Interpreter, base: Value, key: Value, node: ast.Subscript) -> Value:
    name = str(key.value) if isinstance(key, Const) else None
    match base:
        case TupleValue(items):
            if isinstance(node.slice, ast.Slice):
                return TupleValue(_sliced(items, node.slice)) if _sliced(items, node.slice) is not None else base
            if isinstance(key, Const) and isinstance(key.value, int) and -len(items) <= key.value < len(items):
                return items[key.value]
            return union(items)
        case Tensor(loose=True, place=place, births=births) if not isinstance(node.slice, ast.Slice):
            if place == CPU and births and name is not None:
                return Tensor(place, tuple(Birth(b.kind, b.key, (*b.item, name)) for b in births), base.sure, True)
            return base
        case Tensor():
            keys = key.items if isinstance(key, TupleValue) else (key,)
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            sliced = any(isinstance(part, (ast.Slice, ast.Starred)) for part in parts)
            whole = not sliced and all(_may_be_number(k) for k in keys)
            if whole:
                return replace(base, scalar=True)  # an element may have no dimensions left
            return base
        case Ref():
            return _item_of_record(run, base, name, node)
        case Yields(inner):
            return inner
        case Unknown(symbol):
            return Unknown(f"{symbol}[{name}]".replace("[", ".").replace("]", "") if symbol and name else "")
        case Parameters():
            return iteration.element(run, base, node)
        case DeviceValue():
            return base
        case External(full) if full.endswith(".__dict__"):
            return External(f"{full.removesuffix('.__dict__')}.{name or 'any'}")
        case External(full):
            return External(full) if full.startswith("typing") else Unknown(f"{full}.{name}" if name else "")
    return UNKNOWN


def _may_be_number(key: Value) -> bool:
    return isinstance(key, (Number, Unknown)) or (isinstance(key, Const) and isinstance(key.value, int))


def _part_of_graphs(ref: Ref, node: ast.Subscript) -> Value:
    """``dataset[:100]`` is a dataset; by a name, it may be an item or a part."""
    return ref if isinstance(node.slice, ast.Slice) else UNKNOWN


def _sliced(items: tuple[Value, ...], node: ast.Slice) -> tuple[Value, ...]:
    bounds: list[int | None] = []
    for part in (node.lower, node.upper, node.step):
        if part is None:
            bounds.append(None)
        elif isinstance(part, ast.Constant) and isinstance(part.value, int):
            bounds.append(part.value)
        elif isinstance(part, ast.UnaryOp) and isinstance(part.operand, ast.Constant):
            bounds.append(-int(part.operand.value))  # type: ignore[arg-type]
        else:
            return items
    return items[slice(*bounds)]


def _item_of_record(run: Interpreter, ref: Ref, name: str | None, node: ast.Subscript) -> Value:
    record = run.record(ref)
    if record.cls is not None and record.kind != "module":
        getter = run.attribute(ref, "__getitem__", node)
        if isinstance(getter, calls.Bound):
            call = ast.copy_location(ast.Call(ast.Name("item", ast.Load()), [], []), node)
            key = Const(name) if name is not None else Number("index")
            result = run.call(getter, [key], {}, call)
            if not isinstance(result, (Tensor, TupleValue, Ref)):
                return result
            return iteration.stamp(run, result, iteration.source_key(run, "batch", node), ())
    if record.kind == "dataset":
        one = iteration.sample(run, ref, node)
        if isinstance(one, Ref) and run.record(one).kind == "bundle":
            return iteration.whole_of(run, ref, node) if name is not None else _part_of_graphs(ref, node)
        return iteration.stamp(run, one, iteration.source_key(run, "batch", node), ()) if _known(one) else UNKNOWN
    if record.kind == "loader":
        return UNKNOWN
    if record.get("in-part"):
        return Tensor(ANYWHERE, loose=True)  # a type's store: some of its tensors have moved
    if isinstance(node.slice, ast.Slice):
        held = [*record.fields.values(), *([record.rest] if record.rest is not None else [])]
        if record.kind == "list":
            if record.rest is None:
                sliced = _sliced(tuple(held), node.slice)
                return run.new(Record("list", fields={str(i): item for i, item in enumerate(sliced)}))
            return run.new(Record("list", rest=union(held)))
        return ref
    if (
        name is not None
        and name.lstrip("-").isdigit()
        and record.kind in ("list", "module")
        and name not in record.fields
    ):
        numbered = [key for key in record.fields if key.isdigit()]
        if int(name) < 0 and numbered and record.rest is None:
            name = str(len(numbered) + int(name))
    if name is not None and name in record.fields:
        return record.fields[name]
    if record.rest is not None:
        rest = record.rest
        if isinstance(rest, Tensor) and rest.loose and rest.births and name is not None and rest.place == CPU:
            return Tensor(CPU, tuple(Birth(b.kind, b.key, (*b.item, name)) for b in rest.births), rest.sure, True)
        return rest
    if record.kind == "module" and modules.is_opaque(record):
        return modules.child(run, ref, name or "*")
    if record.kind in ("list", "module") and name is None and record.fields:
        return union(record.fields.values())
    if record.kind == "dict" and name is None and record.fields:
        return union(record.fields.values())
    return Unknown(f"{record.name or record.kind}#{ref.id}.{name}" if name else "")


def _known(value: Value) -> bool:
    """Whether an item of a data set is made of tensors that devfix knows."""
    return isinstance(value, TupleValue) and all(isinstance(item, Tensor) and item.sure for item in value.items)


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
        return _formatted(head)
    return DeviceValue(head.place, text=True) if isinstance(head, DeviceValue) else Text(text_of(node))


def _lambda(run: Interpreter, node: ast.Lambda) -> Value:
    from devfix.flow.classes import make_function

    return make_function(run, node)


def _walrus(run: Interpreter, node: ast.NamedExpr) -> Value:
    value = evaluate(run, node.value)
    assign.assign(run, node.target, value, source=node.value)
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
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BinOp: _binary,
    ast.Subscript: _subscript,
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
