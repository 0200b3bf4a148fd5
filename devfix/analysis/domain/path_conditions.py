"""Path conditions: what the current path assumes of the outcomes of unknown tests."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from devfix.analysis.domain.assumptions import MEMBER, membership_key, options_of, outcome_of_membership
from devfix.analysis.domain.narrowing import narrow, value_without_calls
from devfix.analysis.domain.objects import Opaque
from devfix.analysis.domain.splits import take_side
from devfix.analysis.domain.values import UNKNOWN, UNNAMED, Builtin, External, Pointer, Unknown, Value
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
    "identified",
    "implied",
    "is_negative",
    "passes_arguments",
]


def condition_key(interp: Interpreter, test: ast.expr) -> str:
    """Return the key of a condition's assumption; tests of the same unknown value have the same key."""
    if isinstance(test, ast.Compare) and _is_equality(test):
        options = _constant_options(test)
        if options is not None:
            return membership_key(_subject(interp, test), options)
        return f"{_subject(interp, test)} == {text_of(test.comparators[0])}"
    order = _order_key(interp, test) if isinstance(test, ast.Compare) else ""
    if order:
        return order
    symbol = condition_symbol(interp, value_without_calls(interp, test))
    if symbol:
        return symbol
    return _name_of(interp, test)


def _name_of(interp: Interpreter, node: ast.expr) -> str:
    """Return a name for what an expression is here; equal for the same expression of one function or object."""
    assert interp.activation is not None
    return f"{UNNAMED}{interp.activation.module.path}:{_scope(interp, node)}{text_of(node)}"


def identified(interp: Interpreter, value: Value, node: ast.expr) -> Value:
    """Return a value that can be told from others where ``node``, a name or attribute, is passed on.

    Tests of an unknown value in several functions are then decided together.
    """
    if value == UNKNOWN and isinstance(node, (ast.Name, ast.Attribute)) and interp.activation is not None:
        return Unknown(_name_of(interp, node))
    return value


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
        case Pointer(number):
            return f"{UNNAMED}#{number}" if isinstance(interp.heap_object(value), Opaque) else ""
        case External(name):
            return f"{UNNAMED}{name}"
    return str(getattr(value, "symbol", ""))


_EQUALITY = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)
_POSITIVE_ORDER = {ast.GtE: ">=", ast.Lt: ">=", ast.Gt: ">", ast.LtE: ">"}


def _is_equality(test: ast.Compare) -> bool:
    """Return whether a test compares values; two names may be equal and not identical, ``x is None`` is both."""
    is_identity = isinstance(test.ops[0], (ast.Is, ast.IsNot)) and _is_literal(test.comparators[0])
    return len(test.ops) == 1 and (is_identity or isinstance(test.ops[0], _EQUALITY))


def is_negative(test: ast.expr) -> bool:
    """Return whether a comparison is the negation of what its key says: ``x != 1``, ``x < 0``."""
    if not isinstance(test, ast.Compare):
        return False
    if isinstance(test.ops[0], (ast.Lt, ast.LtE)):
        return len(test.ops) == 1 and _is_literal(test.comparators[0])
    return isinstance(test.ops[0], (ast.NotEq, ast.NotIn)) or (
        isinstance(test.ops[0], ast.IsNot) and _is_equality(test)
    )


def _order_key(interp: Interpreter, test: ast.Compare) -> str:
    """Return the key of ``index >= 0`` and ``index < 0``; empty unless one side is a literal."""
    if len(test.ops) != 1 or type(test.ops[0]) not in _POSITIVE_ORDER or not _is_literal(test.comparators[0]):
        return ""
    order = f"{_POSITIVE_ORDER[type(test.ops[0])]} {text_of(test.comparators[0])}"
    symbol = getattr(value_without_calls(interp, test.left), "symbol", "")
    return f"{symbol or _name_of(interp, test.left)} {order}"


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
    symbol = condition_symbol(interp, value_without_calls(interp, test.left))
    return symbol or _name_of(interp, test.left)


def implied(interp: Interpreter, test: ast.Compare) -> bool | None:
    """Return the outcome of a comparison with literals that follows from those assumed; ``None`` if open."""
    options = _constant_options(test)
    return None if options is None else outcome_of_membership(interp.now.assumptions, _subject(interp, test), options)


def _scope(interp: Interpreter, test: ast.expr) -> str:
    """Return what tells a condition on local variables from the same text in another call; the receiver is the same."""
    activation = interp.activation
    assert activation is not None
    if activation.function is None:
        return ""
    is_local = any(
        name not in ("self", "cls") and interp.now.lookup(activation.env, name) is not None for name in names_in(test)
    )
    return f"#{activation.env}:" if is_local else ""


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
    subject, member, _ = key.rpartition(MEMBER)
    similar = [each for each in interp.now.splits if each.startswith(subject + member)] if member else []
    for other in (each for each in similar if each != key):
        outcome = outcome_of_membership(interp.now.assumptions, subject, options_of(other))
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
    if passes_arguments(test):
        return []  # a call may do anything: it is not evaluated again
    is_open = [part for part in test.values if interp.truth(part) is None]
    return is_open if len(is_open) == 1 else []


@node_cache(8192)
def passes_arguments(test: ast.expr) -> bool:
    """Return whether a condition calls something with arguments, which may do anything; plain questions do nothing."""
    return any(
        isinstance(node, ast.Call) and (node.args or node.keywords) and text_of(node.func) not in _QUESTIONS
        for node in ast.walk(test)
    )


_QUESTIONS = frozenset(
    "hasattr getattr isinstance issubclass callable type len str int float bool abs min max "
    "torch.is_tensor torch.device".split()
)


@contextmanager
def assumed(interp: Interpreter, test: ast.expr, holds: bool) -> Iterator[None]:
    """Assume a condition within one expression: ``v.to(device) if torch.is_tensor(v) else v``."""
    assert interp.activation is not None
    env = interp.activation.env
    names = names_in(test)
    saved_values = {name: interp.now.envs.get(env, {}).get(name) for name in names}
    saved_assumptions = interp.now.assumptions
    saved_fields = list(_fields_in(interp, test))
    assume(interp, test, holds)
    narrowed = [(owner, name, old, interp.heap_object(owner).fields.get(name)) for owner, name, old in saved_fields]
    try:
        yield
    finally:
        if interp.state is not None:
            interp.now.assumptions = saved_assumptions
            for owner, field, old, new in narrowed:
                if new is not old and interp.heap_object(owner).fields.get(field) is new:
                    interp.now.set_field(owner, field, old)
            for name, value in saved_values.items():
                if value is None:
                    interp.now.unbind(env, name)
                else:
                    interp.now.bind(env, name, value)


def _fields_in(interp: Interpreter, test: ast.expr) -> Iterator[tuple[Pointer, str, Value]]:
    """Yield the fields of objects that a condition names: ``self.x`` of ``self.x.device == device``."""
    for node in ast.walk(test):
        owner = value_without_calls(interp, node.value) if isinstance(node, ast.Attribute) else None
        if isinstance(node, ast.Attribute) and isinstance(owner, Pointer):
            value = interp.heap_object(owner).fields.get(node.attr)
            if value is not None:
                yield owner, node.attr, value
