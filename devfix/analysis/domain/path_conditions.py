"""What a path knows: conditions taken for true or false on it, and what they tell of the values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import (
    ANYWHERE,
    Const,
    External,
    Number,
    Ref,
    Tensor,
    Text,
    TupleValue,
    Union,
    Unknown,
    Value,
    options,
    union,
)
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["assume", "assumed", "condition_key", "known_tensor", "subject_of"]


def subject_of(test: ast.Compare, left: Value) -> str:
    """What a comparison speaks of: the symbol of its left side, else its text."""
    symbol = getattr(left, "symbol", "")
    return symbol or text_of(test.left)


def condition_key(run: Interpreter, test: ast.expr) -> str:
    """The name under which a condition is assumed: the same wherever the same unknown thing is asked."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.NotEq)):
        subject = subject_of(test, _quietly(run, test.left))
        return f"{subject} == {text_of(test.comparators[0])}"
    value = _quietly(run, test)
    symbol = getattr(value, "symbol", "")
    if symbol:
        return str(symbol)
    assert run.frame is not None
    return f"{run.frame.module.path}:{text_of(test)}"


def _quietly(run: Interpreter, node: ast.expr) -> Value:
    """The value of a name or attribute chain, without running anything."""
    if isinstance(node, ast.Name):
        return run.lookup(node.id) or Unknown()
    if isinstance(node, ast.Attribute):
        base = _quietly(run, node.value)
        if isinstance(base, (Ref, Unknown)) and not (isinstance(base, Unknown) and not base.symbol):
            return run.attribute(base, node.attr, node)
    return Unknown()


def assume(run: Interpreter, test: ast.expr, holds: bool) -> None:
    """Take a condition for true or false on the path from here, and narrow what it speaks of."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        assume(run, test.operand, not holds)
        return
    if isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) is holds:  # every part has the same outcome
            for part in test.values:
                assume(run, part, holds)
        return
    key = condition_key(run, test)
    negative = isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.NotEq,))
    run.now.assumptions[key] = holds is not negative
    _narrow(run, test, holds)


@contextmanager
def assumed(run: Interpreter, test: ast.expr, holds: bool) -> Iterator[None]:
    """Take a condition for true or false within one expression: ``v.to(device) if torch.is_tensor(v) else v``."""
    assert run.frame is not None
    env = run.frame.env
    names = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
    saved = {name: run.now.envs.get(env, {}).get(name) for name in names}
    known = dict(run.now.assumptions)
    assume(run, test, holds)
    try:
        yield
    finally:
        if run.state is not None:
            run.now.assumptions.clear()
            run.now.assumptions.update(known)
            for name, value in saved.items():
                if value is None:
                    run.now.unbind(env, name)
                else:
                    run.now.bind(env, name, value)


_SCALARS = frozenset({"str", "bytes", "int", "float", "bool", "complex", "Number", "string_classes", "string_types"})


def _narrow_kind(run: Interpreter, test: ast.Call, holds: bool) -> None:
    """``isinstance(x, torch.Tensor)``, ``torch.is_tensor(x)``, ``hasattr(x, "to")`` of what may be a tensor or not."""
    if not test.args or not isinstance(test.args[0], ast.Name):
        return
    name, asked = test.args[0].id, _asked_kinds(run, test)
    value = run.lookup(name)
    if value is None or asked is None:
        return
    tensor = asked == {"Tensor"}
    if tensor or (holds and asked <= _SCALARS):
        left = options(value)
        if tensor:
            known = {option: known_tensor(run, option) for option in left}
            left = tuple(option for option in left if known[option] in (None, holds)) or left
        kept = [_narrowed(option, tensor and holds) for option in left]
        if kept != list(options(value)):
            run.bind(name, union(kept))


def _asked_kinds(run: Interpreter, test: ast.Call) -> set[str] | None:
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
    kinds = run.evaluate(test.args[1])
    wanted = kinds.items if isinstance(kinds, TupleValue) else (kinds,)
    return {kind.name.split(".")[-1] if isinstance(kind, External) else "" for kind in wanted}


def known_tensor(run: Interpreter, value: Value) -> bool | None:
    """Whether a value is a tensor, as ``isinstance`` says it; ``None`` where the code does not tell."""
    if isinstance(value, Tensor):
        return True if value.sure and not value.loose else None
    if isinstance(value, Ref):
        record = run.record(value)
        return False if record.kind in ("list", "dict", "set") and record.cls is None else None
    return False if isinstance(value, (Text, Number, Const, TupleValue)) else None


def _narrowed(value: Value, is_tensor: bool) -> Value:
    if not isinstance(value, Tensor) or (value.sure and not value.loose):
        return value
    if is_tensor:
        return replace(value, sure=True, loose=False)
    return Tensor(ANYWHERE, sure=False, loose=True)  # a string, or a container that is looked into elsewhere


def _narrow(run: Interpreter, test: ast.expr, holds: bool) -> None:
    if isinstance(test, ast.Call):
        _narrow_kind(run, test, holds)
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
    value = run.lookup(name.id)
    if isinstance(value, Union):
        kept = [option for option in value.options if (option == Const(None)) is is_none]
        if kept and (not is_none or isinstance(test, ast.Compare)):
            run.bind(name.id, union(kept))
