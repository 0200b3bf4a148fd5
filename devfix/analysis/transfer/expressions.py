"""Expressions: one function per kind of node; see also ``operators`` and ``subscripts``."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING

from devfix.analysis.domain.device_parsing import parse_device
from devfix.analysis.domain.objects import Mapping, module_at, object_at
from devfix.analysis.domain.path_conditions import assume, assumed
from devfix.analysis.domain.state import Unreachable
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    UNKNOWN,
    Const,
    Device,
    DeviceValue,
    External,
    IterableOf,
    Text,
    TupleValue,
    Union,
    Unknown,
    Value,
    join,
)
from devfix.analysis.observations.execution import AttributeRead
from devfix.analysis.stdlib import containers
from devfix.analysis.stdlib.containers import DictObject, ListObject, SetObject, new_list
from devfix.analysis.stdlib.items import is_non_string_key
from devfix.analysis.stdlib.texts import composed
from devfix.analysis.transfer import assignment, calls, conditions, functions, iteration
from devfix.analysis.transfer.definitions import make_function
from devfix.analysis.transfer.device_arguments import device_by_symbol
from devfix.analysis.transfer.operators import binary, compare, format_string, unary
from devfix.analysis.transfer.subscripts import subscript
from devfix.syntax.bindings import assigned_names, names_bound_in
from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import SourceTree, position, text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["evaluate"]

_BUILTINS = frozenset(dir(builtins))


def evaluate(interp: Interpreter, node: ast.expr) -> Value:
    """Evaluate an expression, with its side effects; return its value."""
    interp.steps += 1
    if interp.steps > interp.step_budget:
        interp.give_up()
    handler = _HANDLERS.get(type(node))
    value = handler(interp, node) if handler is not None else UNKNOWN
    if interp.watch is not None:
        interp.watch(interp, node, value)
    return value


def _name(interp: Interpreter, node: ast.Name) -> Value:
    value = interp.lookup(node.id)
    if value is not None:
        return value
    if node.id in _BUILTINS:
        return External(f"builtins.{node.id}")
    if interp.scenario.no_accelerator and _is_never_bound(interp, node):
        raise Unreachable  # the program ends here without an accelerator
    function = interp.activation.function if interp.activation is not None else None
    is_local = function is not None and node.id in assigned_names(function.node)
    is_missing = device_by_symbol(node.id) == ACCELERATOR and _is_bound_nowhere(interp, node.id)
    return Unknown() if is_local or is_missing else Unknown(node.id)  # a local name is not bound on this path


def _is_bound_nowhere(interp: Interpreter, name: str) -> bool:
    """Return whether no statement of the file binds a name: what it is called does not say what it would be."""
    if interp.activation is None:
        return False
    tree = interp.activation.module.tree
    is_bound = not {name, "*"}.isdisjoint(tree.derived(names_bound_in))
    return not (is_bound or any(word in tree.text for word in _BINDS_UNSEEN))


def _is_never_bound(interp: Interpreter, node: ast.Name) -> bool:
    """Return whether a script reads a name that it binds in branches only that this path has not taken."""
    activation = interp.activation
    if activation is None or activation.function is not None or interp.loop_depth:
        return False
    tree = activation.module.tree
    if hasattr(builtins, node.id) or node.id.startswith("__") or any(word in tree.text for word in _BINDS_UNSEEN):
        return False
    if any(isinstance(each, ast.ImportFrom) and each.names[0].name == "*" for each in tree.nodes):
        return False
    if any(isinstance(outer, _MAY_SKIP) or _catches(outer) for outer in tree.ancestors(node)):
        return False
    bound = [each for each in tree.nodes if isinstance(each, ast.Name) and each.id == node.id and _is_stored(each)]
    return bool(bound) and all(_is_in_branch(tree, each, node) for each in bound)


#: What may bind names that no statement shows.
_BINDS_UNSEEN = ("exec(", "globals()", "builtins", "__dict__", "vars(", "setattr(", "get_ipython", "%run", "%load")
#: Code in these may not run, or may fail without an end of the program.
_COMPREHENSIONS = (ast.comprehension, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
_MAY_SKIP = (ast.IfExp, ast.BoolOp, *_COMPREHENSIONS, ast.Lambda, ast.Try)


def _catches(node: ast.AST) -> bool:
    """Return whether a ``with`` goes on after an error."""
    items = node.items if isinstance(node, (ast.With, ast.AsyncWith)) else []
    return any(word in text_of(item.context_expr) for item in items for word in ("suppress", "raises"))


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _is_in_branch(tree: SourceTree, bound: ast.AST, read: ast.AST) -> bool:
    """Return whether an earlier statement binds a name under an ``if``, and nothing else decides whether it does."""
    outer = [each for each in tree.ancestors(bound) if isinstance(each, ast.stmt)]
    return position(bound) < position(read) and all(isinstance(each, (ast.Assign, ast.If, ast.With)) for each in outer)


def _constant(interp: Interpreter, node: ast.Constant) -> Value:
    return Const(node.value)


def _attribute(interp: Interpreter, node: ast.Attribute) -> Value:
    base = evaluate(interp, node.value)
    if node.attr == "module" and isinstance(node.value, ast.Name) and isinstance(base, Union):
        base = _wrapped(interp, node.value.id, base)
    value = interp.attribute(base, node.attr, node)
    return interp.observe(AttributeRead(value, base, node)).value


def _wrapped(interp: Interpreter, name: str, models: Union) -> Value:
    """Return the models that a wrapper holds, where the name is bound to these and to others.

    ``net.module`` raises for a module that nothing wraps and that has no such part: from here on, it is wrapped.
    """
    parts = {option: module_at(interp, option) for option in models.alternatives}
    wrappers = [option for option, module in parts.items() if module is not None and module.data_parallel]
    others = [module for option, module in parts.items() if option not in wrappers]
    if not wrappers or any(module is None or module.is_opaque or "module" in module.fields for module in others):
        return models
    assert interp.activation is not None
    found = join(wrappers)
    if interp.now.names(interp.activation.env).get(name) == models:
        interp.bind(name, found)
    return found


def _tuple(interp: Interpreter, node: ast.Tuple) -> Value:
    items = _evaluate_items(interp, node.elts)
    return TupleValue(tuple(items)) if items is not None else IterableOf(UNKNOWN)


def _list(interp: Interpreter, node: ast.List | ast.Set) -> Value:
    items = _evaluate_items(interp, node.elts)
    kind = SetObject if isinstance(node, ast.Set) else ListObject
    if items is None:
        return interp.new(kind(default_item=join(evaluate(interp, element) for element in node.elts)))
    return interp.new(kind(fields={str(i): item for i, item in enumerate(items)}))


def _evaluate_items(interp: Interpreter, nodes: list[ast.expr]) -> list[Value] | None:
    items: list[Value] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            inner = evaluate(interp, node.value)
            unpacked = iteration.elements(interp, inner, node)
            if unpacked is None:
                return None
            items.extend(unpacked)
        else:
            items.append(evaluate(interp, node))
    return items


def _dict(interp: Interpreter, node: ast.Dict) -> Value:
    fields: dict[str, Value] = {}
    default_item: Value | None = None
    has_other_keys = False
    for key, value_node in zip(node.keys, node.values, strict=False):
        value = evaluate(interp, value_node)
        if key is None:
            given = object_at(interp, value, Mapping)
            if given is not None:
                fields.update(given.fields)
                default_item = given.default_item or default_item
            else:
                default_item = UNKNOWN
            continue
        name = evaluate(interp, key)
        has_other_keys |= is_non_string_key(name)
        if isinstance(name, Const):
            fields[str(name.value)] = value
        else:
            default_item = value if default_item is None else join((default_item, value))
    return _new_dict(interp, fields, default_item, has_other_keys)


def _comprehension(interp: Interpreter, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
    results, is_exact = _comprehend(interp, node.generators, lambda: evaluate(interp, node.elt))
    if isinstance(node, ast.GeneratorExp) and not is_exact:
        return IterableOf(functions.join_by_identity(interp, results))
    if is_exact:
        elements = new_list(interp, results)
    else:
        elements = interp.new(ListObject(default_item=functions.join_by_identity(interp, results)))
    containers.observe_items(interp, elements, node.elt)
    return elements


def _new_dict(interp: Interpreter, fields: dict[str, Value], default_item: Value | None, has_other_keys: bool) -> Value:
    return interp.new(DictObject(fields=fields, default_item=default_item, odd_keys=has_other_keys))


def _dict_comprehension(interp: Interpreter, node: ast.DictComp) -> Value:
    pairs, _ = _comprehend(
        interp, node.generators, lambda: TupleValue((evaluate(interp, node.key), evaluate(interp, node.value)))
    )
    fields: dict[str, Value] = {}
    default_item: Value | None = None
    has_other_keys = False
    for pair in pairs:
        assert isinstance(pair, TupleValue)
        key, value = pair.items
        has_other_keys |= is_non_string_key(key)
        if isinstance(key, Const):
            fields[str(key.value)] = value
        else:
            default_item = value if default_item is None else join((default_item, value))
    return _new_dict(interp, fields, default_item, has_other_keys)


def _comprehend(
    interp: Interpreter, generators: list[ast.comprehension], produce: Callable[[], Value]
) -> tuple[list[Value], bool]:
    """Return the values of a comprehension, and whether they are exactly its elements."""
    assert interp.activation is not None
    names = interp.now.envs.get(interp.activation.env, {})
    saved = {name: names.get(name) for generator in generators for name in _names_in_target(generator.target)}
    results, is_exact = _generate(interp, generators, produce)
    for name, value in saved.items():
        if value is None:
            interp.now.unbind(interp.activation.env, name)
        else:
            interp.now.bind(interp.activation.env, name, value)
    return results, is_exact


@node_cache(8192)
def _names_in_target(target: ast.expr) -> tuple[str, ...]:
    return tuple(node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _generate(
    interp: Interpreter, generators: list[ast.comprehension], produce: Callable[[], Value]
) -> tuple[list[Value], bool]:
    first, *inner = generators
    iterable = evaluate(interp, first.iter)
    elements = iteration.elements(interp, iterable, first.iter)
    is_exact = elements is not None and not first.ifs and not inner
    results: list[Value] = []
    env = interp.activation.env if interp.activation is not None else 0
    for value in elements if elements is not None else [iteration.element(interp, iterable, first.iter)]:
        for name, part in _target_bindings(interp, first.target, value):
            interp.now.bind(env, name, part)
        outcomes = [interp.truth(condition) for condition in first.ifs]
        if False in outcomes:
            continue
        if inner:
            results.extend(_generate(interp, inner, produce)[0])
        else:
            results.append(produce())
    return results, is_exact


def _target_bindings(interp: Interpreter, target: ast.expr, value: Value) -> list[tuple[str, Value]]:
    if isinstance(target, ast.Name):
        return [(target.id, value)]
    if isinstance(target, (ast.Tuple, ast.List)):
        items = (
            iteration.unpack(interp, value, len(target.elts))
            if not isinstance(value, Union)
            else [
                join(iteration.unpack(interp, option, len(target.elts))[i] for option in value.alternatives)
                for i in range(len(target.elts))
            ]
        )
        return [
            pair
            for inner, item in zip(target.elts, items, strict=False)
            for pair in _target_bindings(interp, inner, item)
        ]
    return []


def _conditional(interp: Interpreter, node: ast.IfExp) -> Value:
    truth = interp.truth(node.test)
    if truth is not None:
        return evaluate(interp, node.body if truth else node.orelse)
    with assumed(interp, node.test, True):
        body = evaluate(interp, node.body)
    with assumed(interp, node.test, False):
        values = body, evaluate(interp, node.orelse)
    devices = [_device_of(value) for value in values]
    if set(devices) == {ACCELERATOR, CPU} and not interp.scenario.no_accelerator:
        chosen = devices.index(ACCELERATOR)  # a device choice: follow the path with the accelerator
        assume(interp, node.test, chosen == 0)
        return values[chosen]
    return join(values)


def _device_of(value: Value) -> Device | None:
    """Return the device of a device value or device string; ``None`` for other values."""
    if isinstance(value, Const) and isinstance(value.value, str):
        return parse_device(value.value)
    return value.device if isinstance(value, DeviceValue) else None


def _boolean(interp: Interpreter, node: ast.BoolOp) -> Value:
    possible: list[Value] = []
    for index, part in enumerate(node.values):
        value = evaluate(interp, part)
        last = index == len(node.values) - 1
        truth = conditions.truth_of(interp, value)
        decisive = not isinstance(node.op, ast.And)
        if last or truth is decisive:
            possible.append(value)
            break
        if truth is None:
            if isinstance(value, Union):
                possible.extend(o for o in value.alternatives if conditions.truth_of(interp, o) is not (not decisive))
            else:
                possible.append(value)
    return join(possible)


def _f_string(interp: Interpreter, node: ast.JoinedStr) -> Value:
    """Evaluate an f-string; one that starts with ``cuda`` names a device."""
    first = node.values[0] if node.values else None
    first_value: Value = Text()
    texts: list[str] = []
    parts: list[Value] = []
    for part in node.values:
        value = evaluate(interp, part.value) if isinstance(part, ast.FormattedValue) else evaluate(interp, part)
        if part is first:
            first_value = value
        texts.append(str(value.value) if isinstance(value, Const) else "\0")
        parts.append(value)
    if "\0" not in texts:
        return Const("".join(texts))
    if isinstance(first_value, DeviceValue):
        return DeviceValue(first_value.device, text=True)
    if isinstance(first_value, Const) and isinstance(first, ast.Constant):
        named = format_string(first_value)
        return named if isinstance(named, DeviceValue) else composed(parts, node)
    return composed(parts, node)


def _lambda(interp: Interpreter, node: ast.Lambda) -> Value:
    return make_function(interp, node)


def _walrus(interp: Interpreter, node: ast.NamedExpr) -> Value:
    value = evaluate(interp, node.value)
    assignment.assign(interp, node.target, value, source=node.value)
    return value


def _yield(interp: Interpreter, node: ast.Yield) -> Value:
    value = Const(None) if node.value is None else evaluate(interp, node.value)
    assert interp.activation is not None
    interp.activation.yields.append(value)
    return UNKNOWN


def _yield_from(interp: Interpreter, node: ast.YieldFrom) -> Value:
    value = iteration.element(interp, evaluate(interp, node.value), node)
    assert interp.activation is not None
    interp.activation.yields.append(value)
    return UNKNOWN


def _slice(interp: Interpreter, node: ast.Slice) -> Value:
    for part in (node.lower, node.upper, node.step):
        if part is not None:
            evaluate(interp, part)
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
    ast.JoinedStr: _f_string,
    ast.Lambda: _lambda,
    ast.NamedExpr: _walrus,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
    ast.Slice: _slice,
    ast.Await: lambda interp, node: evaluate(interp, node.value),
    ast.Starred: lambda interp, node: evaluate(interp, node.value),
    ast.FormattedValue: lambda interp, node: evaluate(interp, node.value),
}
