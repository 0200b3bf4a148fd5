"""What attributes hold: CPU tensors that no ``Module.to()`` will move, and containers of tensors or modules.

``Module.to()`` moves parameters, buffers and submodules.  A tensor that is a plain attribute stays, and so does
everything in a Python list, tuple or dictionary:
https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import (
    CPU,
    UNKNOWN,
    ClassValue,
    Origin,
    Pointer,
    Tensor,
    TupleValue,
    Union,
    Value,
    alternatives,
    join,
)
from devfix.analysis.observations import AttributeStore
from devfix.syntax.tree import position

if TYPE_CHECKING:
    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["added", "any_of", "is_plain", "keep", "keep_class_attributes"]

_CONTAINERS = ("list", "dict", "set")
_DEEPEST = 3


def keep(
    interp: Interpreter,
    owner: Pointer,
    name: str,
    value: Value,
    node: ast.AST,
    source: ast.expr | None,
    point: ProgramPoint | None = None,
) -> Value:
    """``owner.name = value``: the value as it is read from the attribute later, with the attribute as its holder."""
    if not _matters(interp, value):
        return value
    obj = interp.heap_object(owner)
    stored = _noted(interp, obj.cls, name, value, node, source, point)
    stored.owners[owner] = interp.clock
    return _tagged(interp, value, stored.number)


def keep_class_attributes(interp: Interpreter, cls: ClassValue, stmt: ast.stmt) -> None:
    """Tensors that a class body binds are attributes of every instance."""
    if not interp.alive or not isinstance(stmt, (ast.Assign, ast.AnnAssign)):
        return
    targets, source = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target], stmt.value
    for target in targets:
        value = interp.now.lookup(cls.scope, target.id) if isinstance(target, ast.Name) else None
        if isinstance(target, ast.Name) and value is not None and _matters(interp, value):
            stored = _noted(interp, cls, target.id, value, target, source, None)
            interp.now.bind(cls.scope, target.id, _tagged(interp, value, stored.number))


def _noted(
    interp: Interpreter,
    cls: ClassValue | None,
    name: str,
    value: Value,
    node: ast.AST,
    source: ast.expr | None,
    point: ProgramPoint | None,
) -> AttributeStore:
    assert interp.activation is not None
    key = (interp.activation.module.path, *position(node), name)
    stored = interp.observations.attribute_stores.get(key)
    if stored is None:
        where = point if point is not None and point.state is not None else interp.point(node, with_state=True)
        stored = AttributeStore(len(interp.observations.attribute_stores) + 1, name, where, cls, source, value)
        interp.observations.attribute_stores[key] = stored
    return stored


def added(interp: Interpreter, container: Pointer, value: Value) -> Value:
    """What a container that an attribute holds is given later."""
    number = interp.heap_object(container).get("holder")
    return _tagged(interp, value, number) if isinstance(number, int) else value


def _matters(interp: Interpreter, value: Value, depth: int = 0) -> bool:
    """Whether a value is a CPU tensor, or a container that is empty or holds tensors or modules."""
    for option in alternatives(value):
        if isinstance(option, Tensor) and option.device == CPU:
            return True
        if isinstance(option, Pointer):
            obj = interp.heap_object(option)
            if depth and obj.kind == "module":
                return True
            if obj.kind in _CONTAINERS and depth < _DEEPEST:
                held = obj.contents
                if not held or any(_matters(interp, item, depth + 1) for item in held):
                    return True
        elif isinstance(option, TupleValue) and any(_matters(interp, item, depth + 1) for item in option.items):
            return True
    return False


def _tagged(interp: Interpreter, value: Value, number: int, depth: int = 0) -> Value:
    match value:
        case Tensor(device=device, origins=origins) if device == CPU:
            if any(origin.kind == "batch" for origin in origins):
                return value  # an item of a batch stays one
            return replace(
                value, origins=tuple(replace(origin, attribute_id=number) for origin in origins or (Origin("stored"),))
            )
        case Union(alternatives):
            return join(_tagged(interp, option, number, depth) for option in alternatives)
        case TupleValue(items) if depth < _DEEPEST:
            return TupleValue(tuple(_tagged(interp, item, number, depth + 1) for item in items))
        case Pointer():
            obj = interp.heap_object(value)
            if obj.kind in _CONTAINERS and depth < _DEEPEST and obj.get("holder") is None:
                fields = {key: _tagged(interp, item, number, depth + 1) for key, item in obj.fields.items()}
                rest = None if obj.default_item is None else _tagged(interp, obj.default_item, number, depth + 1)
                interp.now.update(value, fields=fields, default_item=rest, info=(*obj.info, ("holder", number)))
    return value


def any_of(interp: Interpreter, owner: Pointer) -> Value:
    """The attribute of an object whose name is computed: any of them, and what is done to it may be done to each."""
    interp.escape([owner])
    return UNKNOWN


def is_plain(origins: tuple[Origin, ...], source: ast.expr | None) -> bool:
    """Whether a tensor that comes from a parameter is an ordinary tensor now: ``weight.data``, ``weight.clone()``.

    The parameter itself, assigned to another attribute, is registered there, too.
    """
    if any(origin.kind == "parameter" and origin.attribute_id for origin in origins):
        return True
    if isinstance(source, ast.Call):
        return isinstance(source.func, ast.Attribute) and source.func.attr in _TENSOR_ONLY
    return isinstance(source, ast.BinOp) or (isinstance(source, ast.Attribute) and source.attr == "data")


_TENSOR_ONLY = frozenset(
    "detach clone mean sum norm abs float t transpose view reshape squeeze unsqueeze sqrt exp".split()
)
