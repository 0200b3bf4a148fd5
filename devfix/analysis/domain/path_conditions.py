"""Path conditions: assumptions of the current path, and the values that they narrow."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import Container, Opaque, module_at
from devfix.analysis.domain.records import replace
from devfix.analysis.domain.splits import take_side, take_side_of_value
from devfix.analysis.domain.values import (
    CPU,
    UNKNOWN_DEVICE,
    Builtin,
    Const,
    Device,
    DeviceValue,
    External,
    Number,
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
from devfix.syntax.flags import meaning_of_flag
from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import names_in, text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = [
    "assume",
    "assumed",
    "assumes_array",
    "condition_key",
    "condition_symbol",
    "implied",
    "is_known_tensor",
    "is_negative",
    "narrow",
]


_MEMBER = " in "


def condition_key(interp: Interpreter, test: ast.expr) -> str:
    """Return the key of a condition's assumption; tests of the same unknown value have the same key."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], _EQUALITY):
        options = _constant_options(test)
        if options is not None:
            return f"{_subject(interp, test)}{_MEMBER}{', '.join(sorted(options))}"
        return f"{_subject(interp, test)} == {text_of(test.comparators[0])}"
    order = _order_key(interp, test) if isinstance(test, ast.Compare) else ""
    if order:
        return order
    symbol = condition_symbol(interp, _value_without_calls(interp, test))
    if symbol:
        return symbol
    assert interp.activation is not None
    return f"{interp.activation.module.path}:{_scope(interp, test)}{text_of(test)}"


def condition_symbol(interp: Interpreter, value: Value | None) -> str:
    """Return the name under which a path remembers what it assumes of an unknown value; empty if it has none.

    Of an object of an unknown class, what looks like a method may be a setting: ``config.debug``.
    """
    match value:
        case Builtin(Pointer(number) as receiver, name):
            owner = interp.heap_object(receiver)
            return f"{owner.name}#{number}.{name}" if isinstance(owner, Opaque) else ""
        case Builtin(Builtin() as receiver, name):
            symbol = condition_symbol(interp, receiver)
            return f"{symbol}.{name}" if symbol else ""
    return str(getattr(value, "symbol", ""))


_EQUALITY = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)
_POSITIVE_ORDER = {ast.GtE: ">=", ast.Lt: ">=", ast.Gt: ">", ast.LtE: ">"}


def is_negative(test: ast.expr) -> bool:
    """Return whether a comparison is the negation of what its key says: ``x != 1``, ``x < 0``."""
    if not isinstance(test, ast.Compare):
        return False
    if isinstance(test.ops[0], (ast.Lt, ast.LtE)):
        return len(test.ops) == 1 and _is_literal(test.comparators[0])
    return isinstance(test.ops[0], (ast.NotEq, ast.NotIn))


def _order_key(interp: Interpreter, test: ast.Compare) -> str:
    """Return the key of ``index >= 0`` and ``index < 0``; empty unless one side is a literal."""
    if len(test.ops) != 1 or type(test.ops[0]) not in _POSITIVE_ORDER or not _is_literal(test.comparators[0]):
        return ""
    order = f"{_POSITIVE_ORDER[type(test.ops[0])]} {text_of(test.comparators[0])}"
    symbol = getattr(_value_without_calls(interp, test.left), "symbol", "")
    assert interp.activation is not None
    return f"{symbol or f'{interp.activation.module.path}:{_scope(interp, test)}{text_of(test.left)}'} {order}"


def _is_literal(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    return isinstance(inner, ast.Constant)


def _constant_options(test: ast.Compare) -> frozenset[str] | None:
    """Return the literals, as source, that a value is compared with: ``x == "a"``, ``x in ("a", "b")``."""
    other = test.comparators[0]
    literals = other.elts if isinstance(other, (ast.Tuple, ast.List, ast.Set)) else [other]
    if isinstance(test.ops[0], (ast.In, ast.NotIn)) is (literals == [other]):
        return None
    if not all(isinstance(each, ast.Constant) for each in literals):
        return None
    return frozenset(repr(each.value) for each in literals if isinstance(each, ast.Constant))


def _subject(interp: Interpreter, test: ast.Compare) -> str:
    """Return the subject of a comparison: the symbol of its left side, or its text."""
    symbol = condition_symbol(interp, _value_without_calls(interp, test.left))
    return symbol or f"{_scope(interp, test)}{text_of(test.left)}"


def implied(interp: Interpreter, test: ast.Compare) -> bool | None:
    """Return the outcome of a comparison with literals that follows from those assumed; ``None`` if open."""
    options = _constant_options(test)
    return None if options is None else _implied(interp.now.assumptions, _subject(interp, test), options)


def _implied(assumptions: Mapping[str, bool], subject: str, options: frozenset[str]) -> bool | None:
    possible: frozenset[str] | None = None
    excluded: frozenset[str] = frozenset()
    for key, holds in assumptions.items():
        if key.startswith(subject + _MEMBER):
            known = _options_of(key)
            if holds:
                possible = known if possible is None else possible & known
            else:
                excluded |= known
    if possible is not None:
        left = possible - excluded
        return True if left and left <= options else False if not left & options else None
    return False if options <= excluded else None


def _options_of(key: str) -> frozenset[str]:
    return frozenset(key.rpartition(_MEMBER)[2].split(", "))


def _scope(interp: Interpreter, test: ast.expr) -> str:
    """Return what tells a condition on local variables from the same text in another call; the receiver is the same."""
    activation = interp.activation
    assert activation is not None
    if activation.function is None:
        return ""
    is_local = any(
        name not in ("self", "cls") and interp.now.lookup(activation.env, name) is not None for name in names_in(test)
    )
    return f"{activation.env}:" if is_local else ""


def _value_without_calls(interp: Interpreter, node: ast.expr) -> Value:
    """Return the value of a name or attribute chain without evaluating calls."""
    if isinstance(node, ast.Name):
        return interp.lookup(node.id) or Unknown()
    if isinstance(node, ast.Attribute):
        base = _value_without_calls(interp, node.value)
        if isinstance(base, (Pointer, Unknown)) and not (isinstance(base, Unknown) and not base.symbol):
            return interp.attribute(base, node.attr, node)
    return Unknown()


def assume(interp: Interpreter, test: ast.expr, holds: bool) -> None:
    """Assume on the current path that a condition holds or not, and narrow the tested value."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        assume(interp, test.operand, not holds)
        return
    if isinstance(test, ast.BoolOp):
        parts = test.values if isinstance(test.op, ast.And) is holds else _deciding(interp, test)
        for part in parts:  # each of them has the outcome of the whole
            assume(interp, part, holds)
        return
    key = condition_key(interp, test)
    negative = is_negative(test)
    interp.now.assume(key, holds is not negative)
    take_side(interp.now, key, holds is not negative)
    subject, member, _ = key.rpartition(_MEMBER)
    similar = [each for each in interp.now.splits if each.startswith(subject + member)] if member else []
    for other in (each for each in similar if each != key):
        outcome = _implied(interp.now.assumptions, subject, _options_of(other))
        if outcome is not None:
            take_side(interp.now, other, outcome)
    narrow(interp, test, holds)
    if isinstance(test, ast.Name) and interp.activation is not None:
        flag = meaning_of_flag(interp.activation.node, test.id)
        if flag is not None and not flag.is_outdated:
            assume(interp, flag.test, holds)
        elif flag is not None:
            interp.now.assume(f"{key} was {text_of(flag.test)}", holds)


def assumes_array(interp: Interpreter) -> bool:
    """Return whether the path assumes that some value is a NumPy array, or no tensor: it is one of the host."""
    return any(
        (_TESTS_ARRAY if holds else _TESTS_TENSOR).search(key) is not None
        for key, holds in interp.now.assumptions.items()
    )


_TESTS_ARRAY = re.compile(r"\bisinstance\(.*\bndarray\b")
_TESTS_TENSOR = re.compile(r"\b(isinstance\([^,]*, (\w+\.)*Tensor|is_tensor\()")


def _deciding(interp: Interpreter, test: ast.BoolOp) -> list[ast.expr]:
    """Return the one part that decides a condition, because the path knows the others; empty if there is none."""
    if _passes_arguments(test):
        return []  # a call may do anything: it is not evaluated again
    is_open = [part for part in test.values if interp.truth(part) is None]
    return is_open if len(is_open) == 1 else []


@node_cache(8192)
def _passes_arguments(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Call) and (node.args or node.keywords) for node in ast.walk(test))


@contextmanager
def assumed(interp: Interpreter, test: ast.expr, holds: bool) -> Iterator[None]:
    """Assume a condition within one expression: ``v.to(device) if torch.is_tensor(v) else v``."""
    assert interp.activation is not None
    env = interp.activation.env
    names = names_in(test)
    saved_values = {name: interp.now.envs.get(env, {}).get(name) for name in names}
    saved_assumptions = interp.now.assumptions
    assume(interp, test, holds)
    try:
        yield
    finally:
        if interp.state is not None:
            interp.now.assumptions = saved_assumptions
            for name, value in saved_values.items():
                if value is None:
                    interp.now.unbind(env, name)
                else:
                    interp.now.bind(env, name, value)


_SCALAR_TYPES = frozenset(
    {"str", "bytes", "int", "float", "bool", "complex", "Number", "string_classes", "string_types"}
)
# Other classes of which no tensor is an instance
_OTHER_TYPES = frozenset({"ndarray", "list", "tuple", "set", "dict", "Sequence", "Mapping", "Image", "Module"})


def _narrow_type(interp: Interpreter, test: ast.Call, holds: bool) -> None:
    """Narrow ``x`` by ``isinstance(x, torch.Tensor)``, ``torch.is_tensor(x)`` or ``hasattr(x, "to")``."""
    if not test.args or not isinstance(test.args[0], ast.Name):
        return
    name, types = test.args[0].id, _tested_types(interp, test)
    value = interp.lookup(name)
    if value is None or types is None:
        return
    tests_tensor = types == {"Tensor"}
    if holds and not types <= _SCALAR_TYPES and types <= _SCALAR_TYPES | _OTHER_TYPES:
        options = alternatives(value)
        others = [option for option in options if not (is_known_tensor(interp, option))]
        if 0 < len(others) < len(options):
            interp.bind(name, join(others))
    elif not holds and not tests_tensor:
        others = [option for option in alternatives(value) if not _is_of_type(interp, option, types)]
        if 0 < len(others) < len(alternatives(value)):
            interp.bind(name, join(others))
    elif tests_tensor or (holds and types <= _SCALAR_TYPES):
        options = alternatives(value)
        if tests_tensor:
            is_tensor = {option: is_known_tensor(interp, option) for option in options}
            options = tuple(option for option in options if is_tensor[option] in (None, holds)) or options
        else:
            options = tuple(option for option in options if not is_known_tensor(interp, option)) or options
        narrowed = [_narrowed(interp, option, tests_tensor and holds) for option in options]
        if narrowed != list(alternatives(value)):
            interp.bind(name, join(narrowed))


def _is_of_type(interp: Interpreter, value: Value, types: set[str]) -> bool:
    """Return whether a value certainly is of one of these types; a number is a ``float`` by convention."""
    if isinstance(value, TupleValue):
        return "tuple" in types
    if isinstance(value, Number):
        return not types.isdisjoint({"float", "Number"})
    if isinstance(value, Text):
        return "str" in types
    obj = interp.heap_object(value) if isinstance(value, Pointer) else None
    return isinstance(obj, Container) and obj.builtin in types


def _tested_types(interp: Interpreter, test: ast.Call) -> set[str] | None:
    """Return the last names of the tested classes; ``None`` if the call is no type test."""
    function = text_of(test.func).split(".")[-1]
    if function == "is_tensor":
        return {"Tensor"}
    if len(test.args) != 2:
        return None
    if function == "hasattr" and isinstance(test.args[1], ast.Constant):
        return {"Tensor"} if test.args[1].value in ("to", "cuda", "device") else None
    if function != "isinstance":
        return None
    types = interp.evaluate(test.args[1])
    classes = types.items if isinstance(types, TupleValue) else (types,)
    return {cls.name.split(".")[-1] if isinstance(cls, External) else "" for cls in classes}


def is_known_tensor(interp: Interpreter, value: Value) -> bool | None:
    """Return whether ``isinstance(value, Tensor)`` holds; ``None`` if unknown."""
    if isinstance(value, Tensor):
        return True if value.is_certain and not value.maybe_container else None
    if isinstance(value, Pointer):
        return False if isinstance(interp.heap_object(value), Container) else None
    return False if isinstance(value, (Text, Number, Const, TupleValue)) else None


def _narrowed(interp: Interpreter, value: Value, is_tensor: bool) -> Value:
    if is_tensor and isinstance(value, Pointer):
        obj = interp.heap_object(value)
        return Tensor(_only_device(obj.devices)) if isinstance(obj, Opaque) else value
    if not isinstance(value, Tensor) or (value.is_certain and not value.maybe_container):
        return value
    if is_tensor:
        return replace(value, is_certain=True, maybe_container=False)
    return Tensor(UNKNOWN_DEVICE, is_certain=False, maybe_container=True)  # a string or a container


def _only_device(devices: frozenset[Device]) -> Device:
    return next(iter(devices)) if len(devices) == 1 else UNKNOWN_DEVICE


def _narrow_device(interp: Interpreter, test: ast.Compare, equal: bool) -> None:
    """Narrow ``x`` by ``x.device == device`` or ``x.type() == y.type()``: where it holds, ``x`` is nowhere else."""
    if not equal:
        return
    sides = (test.left, test.comparators[0])
    for side, other in (sides, sides[::-1]):
        subject = _subject_of_device(side)
        device = _device_of(interp, other) if subject is not None else None
        if subject is not None and device is not None:
            _narrow_tensors(interp, subject, partial(_on_device, device))


def _on_device(device: Device, tensor: Tensor) -> Tensor | None:
    """Return a tensor that is on a device; ``None`` if it cannot be there."""
    if device.known:
        return None if tensor.device.differs(device) else tensor
    return replace(tensor, device=device)


def _if_cuda(holds: bool, tensor: Tensor) -> Tensor | None:
    return tensor if not tensor.device.known or (tensor.device != CPU) is holds else None


def _subject_of_device(node: ast.expr) -> ast.expr | None:
    """Return ``x`` of ``x.device``, ``x.type()`` and ``x.data.type()``."""
    match node:
        case ast.Attribute(value=subject, attr="device"):
            pass
        case ast.Call(func=ast.Attribute(value=subject, attr="type"), args=[], keywords=[]):
            pass
        case _:
            return None
    return subject.value if isinstance(subject, ast.Attribute) and subject.attr == "data" else subject


def _device_of(interp: Interpreter, node: ast.expr) -> Device | None:
    """Return the device that an expression names, or that of the tensor whose device or type it is."""
    subject = _subject_of_device(node)
    if subject is not None:
        owner = _value_without_calls(interp, subject)
        devices = {each.device if isinstance(each, Tensor) else UNKNOWN_DEVICE for each in alternatives(owner)}
        return _only_device(frozenset(devices))
    is_constructed = isinstance(node, ast.Call) and text_of(node.func).endswith("device")  # ``torch.device("cpu")``
    value = interp.evaluate(node) if is_constructed else _value_without_calls(interp, node)
    return value.device if isinstance(value, DeviceValue) else None


def _narrow_tensors(interp: Interpreter, place: ast.expr, narrowed: Callable[[Tensor], Tensor | None]) -> None:
    """Narrow the tensors at a place (``x``, ``self.x``); those that become ``None`` go, unless nothing else is left."""
    options = alternatives(_value_without_calls(interp, place))
    kept = [narrowed(each) if isinstance(each, Tensor) else each for each in options]
    remaining = [each for each in kept if each is not None]
    if not remaining or remaining == list(options):
        return
    match place:
        case ast.Name(id=name):
            interp.bind(name, join(remaining))
        case ast.Attribute(value=base, attr=attribute):
            owner = _value_without_calls(interp, base)
            if isinstance(owner, Pointer):
                interp.now.set_field(owner, attribute, join(remaining))


def _narrow_modules(interp: Interpreter, test: ast.Attribute, holds: bool) -> None:
    """Leave out the modules that ``next(module.parameters()).is_cuda`` contradicts."""
    match test.value:
        case ast.Call(func=ast.Name(id="next"), args=[ast.Call(func=ast.Attribute(value=ast.Name(id=name)))]):
            whole = interp.lookup(name)
        case _:
            return
    if not isinstance(whole, Union):
        return
    possible: list[Value] = []
    elsewhere: list[Value] = []
    for option in whole.alternatives:
        interp.bind(name, option)
        if interp.truth(test) in (holds, None):
            module = module_at(interp, option)
            (elsewhere if holds and module is not None and module.devices == {CPU} else possible).append(option)
    interp.bind(name, join(possible or elsewhere or whole.alternatives))


def narrow(interp: Interpreter, test: ast.expr, holds: bool) -> None:
    """Narrow the value that a single condition tests."""
    if isinstance(test, ast.Call):
        _narrow_type(interp, test, holds)
        return
    if isinstance(test, ast.Attribute) and test.attr == "is_cuda":
        _narrow_tensors(interp, test.value, partial(_if_cuda, holds))
        _narrow_modules(interp, test, holds)
        return
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Eq, ast.NotEq)):
        _narrow_device(interp, test, holds is isinstance(test.ops[0], ast.Eq))
    is_none = holds
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Is, ast.IsNot)):
        name, right = test.left, test.comparators[0]
        if not (isinstance(right, ast.Constant) and right.value is None):
            return
        is_none = holds is isinstance(test.ops[0], ast.Is)
    else:
        name, is_none = test, not holds
    if not isinstance(name, ast.Name):
        return
    value = interp.lookup(name.id)
    if not isinstance(value, Union):
        return
    if is_none and not isinstance(test, ast.Compare):  # what is no module may be empty
        remaining = [option for option in value.alternatives if module_at(interp, option) is None]
    else:
        remaining = [option for option in value.alternatives if (option == Const(None)) is is_none]
    excluded = frozenset(value.alternatives).difference(remaining)
    if remaining and excluded:
        joined: Value | None = value
        while isinstance(joined, Union):
            joined = take_side_of_value(interp.now, joined, excluded)
        interp.bind(name.id, join(remaining))
