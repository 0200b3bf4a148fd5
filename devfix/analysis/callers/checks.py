"""Checks of arguments: ``isinstance``, ``torch.is_tensor``, ``type(x) is``, ``x is None``."""

from __future__ import annotations

import ast

from devfix.analysis.callers.annotations import annotation_kind
from devfix.analysis.callers.arguments import Kind
from devfix.analysis.callers.file_names import FileNames
from devfix.analysis.domain.records import dataclass

__all__ = ["Check", "check_of", "checks_in"]

# Predicates of one argument: https://docs.pytorch.org/docs/stable/generated/torch.is_tensor.html
_PREDICATES = {
    "torch.is_tensor": Kind.TENSOR,
    "callable": Kind.CALLABLE,
    "numpy.isscalar": Kind.NUMBER,
    "inspect.isfunction": Kind.CALLABLE,
}


@dataclass(frozen=True)
class Check:
    """A condition that tells what the value of a name is.

    Attributes:
        name: the name.
        kinds: the kinds that the condition accepts; empty for ``None``.
        negated: whether the condition holds if the value is something else.

    """

    name: str
    kinds: frozenset[Kind]
    negated: bool = False


def check_of(test: ast.expr, names: FileNames) -> Check | None:
    """Return the check that a condition consists of."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            check = check_of(operand, names)
            return check and Check(check.name, check.kinds, not check.negated)
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), classes]):
            return Check(name, _kinds_of(classes, names))
        case ast.Call(func=func, args=[ast.Name(id=name)], keywords=[]):
            kind = _PREDICATES.get(names.full_name(func))
            return Check(name, frozenset({kind})) if kind else None
        case ast.Compare(
            left=ast.Name(id=name), ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=None)]
        ):
            return Check(name, frozenset(), isinstance(op, ast.IsNot))
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="type"), args=[ast.Name(id=name)]),
            ops=[ast.Eq() | ast.Is() | ast.In() | ast.NotEq() | ast.IsNot() as op],
            comparators=[classes],
        ):
            return Check(name, _kinds_of(classes, names), isinstance(op, (ast.NotEq, ast.IsNot)))
    return None


def checks_in(test: ast.expr, names: FileNames) -> list[Check]:
    """Return the checks that ``and``, ``or`` and ``not`` combine in a condition."""
    if isinstance(test, ast.BoolOp):
        return [check for value in test.values for check in checks_in(value, names)]
    check = check_of(test, names)
    return [check] if check is not None else []


def _kinds_of(classes: ast.expr, names: FileNames) -> frozenset[Kind]:
    parts = classes.elts if isinstance(classes, (ast.Tuple, ast.List)) else [classes]
    return frozenset(kind for part in parts for kind in annotation_kind(part, names).kinds)
