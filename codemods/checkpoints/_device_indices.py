"""Expressions for devices that are, or may be, the index of an accelerator: ``torch.load`` takes no number."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from devfix.analysis.domain.values import Const, Number, Value
from devfix.syntax.declared_options import is_declared, option_attribute
from devfix.syntax.tree import SourceTree, text_of

__all__ = ["is_number", "may_be_index", "may_be_no_index"]

_WORDS_OF_INDICES = frozenset({"gpu", "gpus", "gpuid", "id", "idx", "index", "rank"})


def is_number(value: Value) -> bool:
    """Return whether a value is a number."""
    return isinstance(value, Number) or (isinstance(value, Const) and type(value.value) is int)


def may_be_index(trees: Iterable[SourceTree], device: str) -> bool:
    """Return whether a program also binds a name or attribute to an index: ``device = gpu if args.ddp else "cuda"``."""
    name = device.rpartition(".")[2]
    return any(
        _names_index(branch)
        for tree in trees
        for node in tree.nodes
        if isinstance(node, ast.Assign)
        for target in node.targets
        if text_of(target) == device or ("." in device and isinstance(target, ast.Attribute) and target.attr == name)
        for branch in _branches(node.value)
    )


def _branches(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.IfExp(body=body, orelse=orelse):
            yield from _branches(body)
            yield from _branches(orelse)
        case ast.BoolOp(values=values):
            for value in values:
                yield from _branches(value)
        case _:
            yield node


def _names_index(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value):
            return type(value) is int
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return not _WORDS_OF_INDICES.isdisjoint(re.findall(r"[a-z]+", name.lower()))
        case ast.Subscript(value=value):
            return _names_index(value)
        case ast.Call(func=ast.Attribute(attr="current_device")):
            return True  # https://docs.pytorch.org/docs/stable/generated/torch.cuda.current_device.html
    return False


def may_be_no_index(trees: Iterable[SourceTree], index: str) -> bool:
    """Return whether a program tests an index, or sets it to -1: ``f"cuda:{args.gpu}"`` would name no device then."""
    name = index.rpartition(".")[2]
    for node in (node for tree in dict.fromkeys(trees) for node in tree.nodes):
        match node:
            case ast.Compare(left=left, comparators=[ast.Constant(value=None) | ast.UnaryOp()]):
                is_test = text_of(left) == index
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[ast.Constant(value=str())]):
                is_test = text_of(left) == index  # ``args.gpu != "cpu"``
            case ast.Compare(left=left, ops=[ast.Lt() | ast.GtE()], comparators=[ast.Constant(value=0)]):
                is_test = text_of(left) == index
            case ast.Assign(targets=[target], value=ast.UnaryOp(op=ast.USub())):
                is_test = text_of(target).rpartition(".")[2] == name
            case ast.Call(keywords=keywords) if is_declared(node) and option_attribute(node) == name:
                is_test = any(_allows_no_index(keyword) for keyword in keywords)
            case _:
                is_test = False
        if is_test:
            return True
    return False


def _allows_no_index(keyword: ast.keyword) -> bool:
    """Return whether an option may be none, by its default, ``-1``, or by its choices, ``[0, 1, "cpu"]``."""
    match keyword:
        case ast.keyword(arg="default", value=ast.UnaryOp()):
            return True
        case ast.keyword(arg="choices", value=ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items)):
            return any(isinstance(item, ast.Constant) and item.value == "cpu" for item in items)
    return False
