"""What a path knows: conditions taken for true or false on it, and what they tell of the values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import (
    UNKNOWN_DEVICE,
    Const,
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
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["assume", "assumed", "comparison_subject", "condition_key", "is_known_tensor"]


def comparison_subject(test: ast.Compare, left: Value) -> str:
    """What a comparison speaks of: the symbol of its left side, else its text."""
    symbol = getattr(left, "symbol", "")
    return symbol or text_of(test.left)


def condition_key(interp: Interpreter, test: ast.expr) -> str:
    """The name under which a condition is assumed: the same wherever the same unknown thing is asked."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.NotEq)):
        subject = comparison_subject(test, _quietly(interp, test.left))
        return f"{subject} == {text_of(test.comparators[0])}"
    value = _quietly(interp, test)
    symbol = getattr(value, "symbol", "")
    if symbol:
        return str(symbol)
    assert interp.activation is not None
    return f"{interp.activation.module.path}:{text_of(test)}"


def _quietly(interp: Interpreter, node: ast.expr) -> Value:
    """The value of a name or attribute chain, without running anything."""
    if isinstance(node, ast.Name):
        return interp.lookup(node.id) or Unknown()
    if isinstance(node, ast.Attribute):
        base = _quietly(interp, node.value)
        if isinstance(base, (Pointer, Unknown)) and not (isinstance(base, Unknown) and not base.symbol):
            return interp.attribute(base, node.attr, node)
    return Unknown()


def assume(interp: Interpreter, test: ast.expr, holds: bool) -> None:
    """Take a condition for true or false on the path from here, and narrow what it speaks of."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        assume(interp, test.operand, not holds)
        return
    if isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) is holds:  # every part has the same outcome
            for part in test.values:
                assume(interp, part, holds)
        return
    key = condition_key(interp, test)
    negative = isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.NotEq,))
    interp.now.assumptions[key] = holds is not negative
    _narrow(interp, test, holds)


@contextmanager
def assumed(interp: Interpreter, test: ast.expr, holds: bool) -> Iterator[None]:
    """Take a condition for true or false within one expression: ``v.to(device) if torch.is_tensor(v) else v``."""
    assert interp.activation is not None
    env = interp.activation.env
    names = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
    saved = {name: interp.now.envs.get(env, {}).get(name) for name in names}
    known = dict(interp.now.assumptions)
    assume(interp, test, holds)
    try:
        yield
    finally:
        if interp.state is not None:
            interp.now.assumptions.clear()
            interp.now.assumptions.update(known)
            for name, value in saved.items():
                if value is None:
                    interp.now.unbind(env, name)
                else:
                    interp.now.bind(env, name, value)


_SCALARS = frozenset({"str", "bytes", "int", "float", "bool", "complex", "Number", "string_classes", "string_types"})


def _narrow_kind(interp: Interpreter, test: ast.Call, holds: bool) -> None:
    """``isinstance(x, torch.Tensor)``, ``torch.is_tensor(x)``, ``hasattr(x, "to")`` of what may be a tensor or not."""
    if not test.args or not isinstance(test.args[0], ast.Name):
        return
    name, asked = test.args[0].id, _asked_kinds(interp, test)
    value = interp.lookup(name)
    if value is None or asked is None:
        return
    tensor = asked == {"Tensor"}
    if tensor or (holds and asked <= _SCALARS):
        left = alternatives(value)
        if tensor:
            known = {option: is_known_tensor(interp, option) for option in left}
            left = tuple(option for option in left if known[option] in (None, holds)) or left
        kept = [_narrowed(option, tensor and holds) for option in left]
        if kept != list(alternatives(value)):
            interp.bind(name, join(kept))


def _asked_kinds(interp: Interpreter, test: ast.Call) -> set[str] | None:
    """The last names of the classes that a value is asked for; ``None`` where the call asks for something else."""
    called = text_of(test.func).split(".")[-1]
    if called == "is_tensor":
        return {"Tensor"}
    if len(test.args) != 2:
        return None
    if called == "hasattr" and isinstance(test.args[1], ast.Constant):
        return {"Tensor"} if test.args[1].value in ("to", "cuda", "device") else None
    if called != "isinstance":
        return None
    kinds = interp.evaluate(test.args[1])
    wanted = kinds.items if isinstance(kinds, TupleValue) else (kinds,)
    return {kind.name.split(".")[-1] if isinstance(kind, External) else "" for kind in wanted}


def is_known_tensor(interp: Interpreter, value: Value) -> bool | None:
    """Whether a value is a tensor, as ``isinstance`` says it; ``None`` where the code does not tell."""
    if isinstance(value, Tensor):
        return True if value.is_certain and not value.maybe_container else None
    if isinstance(value, Pointer):
        obj = interp.heap_object(value)
        return False if obj.kind in ("list", "dict", "set") and obj.cls is None else None
    return False if isinstance(value, (Text, Number, Const, TupleValue)) else None


def _narrowed(value: Value, is_tensor: bool) -> Value:
    if not isinstance(value, Tensor) or (value.is_certain and not value.maybe_container):
        return value
    if is_tensor:
        return replace(value, is_certain=True, maybe_container=False)
    return Tensor(
        UNKNOWN_DEVICE, is_certain=False, maybe_container=True
    )  # a string, or a container that is looked into elsewhere


def _narrow(interp: Interpreter, test: ast.expr, holds: bool) -> None:
    if isinstance(test, ast.Call):
        _narrow_kind(interp, test, holds)
        return
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
    if isinstance(value, Union):
        kept = [option for option in value.alternatives if (option == Const(None)) is is_none]
        if kept and (not is_none or isinstance(test, ast.Compare)):
            interp.bind(name.id, join(kept))
