"""Lazy caches: what the first use makes and later ones find.

Of a placeholder tensor, ``self.grid = [torch.zeros(1)] * 3``, the first use checks the shape and rebuilds the cache, so
the placeholder itself is never an operand.  ``if name not in models: models[name] = Net()`` builds a module once, and
``if name in batch: batch[name] = batch[name].cuda()`` replaces what is there.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import Container, Mapping, Module, object_at
from devfix.analysis.domain.values import CPU, Const, Pointer, Tensor, Value, alternatives
from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import text_of, walk

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["builds_first", "is_filled", "rebuild_items", "rebuild_statements", "replaces_entry"]

_SHAPE_ATTRIBUTES = frozenset("shape size numel nelement dim ndim".split())


def rebuild_statements(interp: Interpreter, stmt: ast.If) -> list[ast.Assign]:
    """Return the assignments of an ``if`` that checks the shape of a placeholder and rebuilds it."""
    checked = _checked_shapes(stmt.test)
    if not checked:
        return []
    return [inner for inner in stmt.body if isinstance(inner, ast.Assign) and _rebuilds(interp, inner, checked)]


@node_cache(8192)
def _checked_shapes(test: ast.expr) -> frozenset[str]:
    """Return the expressions of whose shapes a condition tells."""
    attributes = (node for node in walk(test) if isinstance(node, ast.Attribute))
    return frozenset(text_of(node.value) for node in attributes if node.attr in _SHAPE_ATTRIBUTES)


def builds_first(interp: Interpreter, stmt: ast.If) -> bool:
    """Return whether an ``if`` builds a cache at its first use: ``if length > self.length: self.length = …``.

    The attribute that it compares and sets still has the value of an empty cache, 0 or -1.
    """
    return any(interp.evaluate(side) in _EMPTY and _sets(stmt.body, side) for side in _compared_attributes(stmt.test))


@node_cache(8192)
def _compared_attributes(test: ast.expr) -> tuple[ast.Attribute, ...]:
    """Return the attributes that a condition compares with something, in the order of ``ast.walk``."""
    ordered = (ast.Gt, ast.Lt, ast.GtE, ast.LtE, ast.NotEq)
    compared = [node for node in walk(test) if isinstance(node, ast.Compare) and isinstance(node.ops[0], ordered)]
    sides = [side for node in compared for side in (node.left, node.comparators[0])]
    return tuple(side for side in sides if isinstance(side, ast.Attribute))


def is_filled(interp: Interpreter, stmt: ast.If) -> bool:
    """Return whether an ``if key not in cache`` fills an entry that an earlier call has filled with modules.

    Which key is meant is not known; that it is the same one is the reason for the cache.
    """
    entry = _missing_entry(stmt)
    if entry is None:
        return False
    found = alternatives(interp.evaluate(entry))
    return all(
        isinstance(option, Pointer) and isinstance(interp.heap_object(option), (Module, Mapping)) for option in found
    )


@node_cache(8192)
def _missing_entry(stmt: ast.If) -> ast.Subscript | None:
    """Return the entry that an ``if`` without ``else`` finds missing and sets."""
    match stmt:
        case ast.If(test=ast.Compare(left=key, ops=[ast.NotIn()], comparators=[cache]), orelse=[]):
            wanted = text_of(cache), text_of(key)
            targets = [inner.targets[0] for inner in stmt.body if isinstance(inner, ast.Assign)]
            entries = [target for target in targets if isinstance(target, ast.Subscript)]
            return next((each for each in entries if (text_of(each.value), text_of(each.slice)) == wanted), None)
    return None


@node_cache(4096)
def replaces_entry(stmt: ast.If) -> bool:
    """Return whether an ``if`` replaces an entry where there is one: ``if k in batch: batch[k] = batch[k].to(device)``.

    Where there is none, it is nowhere.
    """
    match stmt:
        case ast.If(test=ast.Compare(left=key, ops=[ast.In()], comparators=[holder]), orelse=[]):
            entry = f"{text_of(holder)}[{text_of(key)}]"
        case ast.If(test=ast.Call(ast.Name("hasattr"), [holder, ast.Constant(str(name))]), orelse=[]):
            entry = f"{text_of(holder)}.{name}"
        case _:
            return False
    written = [inner.targets[0] for inner in stmt.body if isinstance(inner, ast.Assign)]
    return len(written) == len(stmt.body) and all(text_of(target) == entry for target in written)


_EMPTY = (Const(0), Const(-1))


def _sets(body: list[ast.stmt], attribute: ast.Attribute) -> bool:
    """Return whether a block sets an attribute, and another one of the same object."""
    owner = text_of(attribute.value)
    targets = {
        target.attr
        for inner in body
        if isinstance(inner, ast.Assign)
        for target in inner.targets
        if isinstance(target, ast.Attribute) and text_of(target.value) == owner
    }
    return attribute.attr in targets and len(targets) > 1


def _rebuilds(interp: Interpreter, stmt: ast.Assign, checked: frozenset[str]) -> bool:
    target = stmt.targets[0]
    if (
        len(stmt.targets) > 1
        or not isinstance(target, (ast.Attribute, ast.Subscript))
        or text_of(target) not in checked
    ):
        return False
    tensors = [
        option
        for option in alternatives(interp.evaluate(target))
        if isinstance(option, Tensor) and option.device == CPU
    ]
    return bool(tensors) and all(_is_placeholder(interp, tensor) for tensor in tensors)


def _is_placeholder(interp: Interpreter, tensor: Tensor) -> bool:
    """Return whether a tensor was created with at most one element."""
    return bool(tensor.origins) and all(
        origin.kind == "made" and _creates_placeholder(interp.observations.sources[origin.site_id].point.node)
        for origin in tensor.origins
    )


def _creates_placeholder(call: ast.AST) -> bool:
    match call:
        case ast.Call(args=[] | [ast.Constant(value=0 | 1)] | [ast.List(elts=[])]):
            return True
    return False


def rebuild_items(interp: Interpreter, statements: list[ast.Assign]) -> None:
    """Assign the rebuilt value to all items of the cache: each is rebuilt before its use (``self.grid[i] = value``)."""
    for stmt in statements:
        target = stmt.targets[0]
        if isinstance(target, ast.Subscript) and interp.state is not None:
            rebuilt = interp.evaluate(stmt.value)
            for base in alternatives(interp.evaluate(target.value)):
                if isinstance(base, Pointer):
                    _fill(interp, base, rebuilt)


def _fill(interp: Interpreter, base: Pointer, value: Value) -> None:
    """Replace every item of a container."""
    cache = object_at(interp, base, Container)
    if cache is not None:
        interp.now.write(base.id, cache.transformed(lambda *_: value))
