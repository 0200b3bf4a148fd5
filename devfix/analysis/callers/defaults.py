"""Kinds of arguments by their defaults: ``0.1``, ``None``, ``True``, ``"mean"``, ``()``."""

from __future__ import annotations

import ast

from devfix.analysis.callers.arguments import Argument, Evidence, Kind
from devfix.analysis.domain.records import replace

__all__ = ["default_kind", "literal_kind"]


def default_kind(argument: Argument, default: ast.expr) -> Argument:
    """Return what is known of an argument once its default is seen, too."""
    if isinstance(default, ast.Constant) and default.value is None:
        return replace(argument, optional=True)
    if argument.evidence not in (Evidence.NONE, Evidence.DOCSTRING):
        return argument
    kind = literal_kind(default)
    if argument.evidence is Evidence.DOCSTRING:
        may_be_number = kind is Kind.NUMBER is not argument.kind
        return replace(argument, alternatives=argument.alternatives | {kind}) if may_be_number else argument
    return argument if kind is Kind.UNKNOWN else replace(argument, kind=kind, evidence=Evidence.DEFAULT)


def literal_kind(node: ast.expr) -> Kind:
    """Return the kind of a literal; ``UNKNOWN`` for other expressions."""
    match node:
        case ast.Constant(value=bool()):
            return Kind.BOOL
        case ast.Constant(value=int() | float() | complex()):
            return Kind.NUMBER
        case ast.Constant(value=str() | bytes()) | ast.JoinedStr():
            return Kind.TEXT
        case ast.UnaryOp(operand=operand):
            return literal_kind(operand)
        case ast.BinOp(left=left, right=right):
            kinds = {literal_kind(left), literal_kind(right)}
            return kinds.pop() if len(kinds) == 1 else Kind.UNKNOWN
        case ast.Tuple() | ast.List() | ast.Set():
            return Kind.LIST
        case ast.Lambda():
            return Kind.CALLABLE
    return Kind.UNKNOWN
