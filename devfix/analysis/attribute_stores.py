"""Attribute stores: CPU tensors, and containers of tensors or modules, that ``Module.to()`` does not move.

``Module.to()`` moves parameters, buffers and submodules, but no tensor that is a plain attribute, and nothing in a
Python list, tuple or dictionary:
https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer
"""

from __future__ import annotations

import ast
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import Container, Module, object_at
from devfix.analysis.domain.records import replace
from devfix.analysis.domain.values import (
    CPU,
    UNKNOWN,
    UNKNOWN_DEVICE,
    ClassValue,
    Device,
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
from devfix.models.index import is_operation
from devfix.syntax.tree import position

if TYPE_CHECKING:
    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.protocol import Interpreter

__all__ = [
    "computed_attribute",
    "current_parameter",
    "is_plain_tensor",
    "note_class_attributes",
    "note_store",
    "tag_added",
]

_MOST_DEPTH = 3


def note_store(
    interp: Interpreter,
    owner: Pointer,
    name: str,
    value: Value,
    node: ast.AST,
    source: ast.expr | None,
    point: ProgramPoint | None = None,
) -> Value:
    """Record ``owner.name = value``; return the value tagged with the store.

    Values other than CPU tensors and containers are returned unchanged.
    """
    if not _needs_tracking(interp, value):
        return value
    obj = interp.heap_object(owner)
    stored = _store(interp, obj.cls, name, value, node, source, point)
    stored.owners[owner] = interp.clock
    elements = source.elts if isinstance(source, (ast.List, ast.Tuple)) else ()
    return _tag(interp, value, stored.number, derived=any(is_plain_tensor((), each) for each in elements))


def note_class_attributes(interp: Interpreter, cls: ClassValue, stmt: ast.stmt) -> None:
    """Record the tensors and containers that a class body binds: attributes of every instance."""
    if not interp.alive or not isinstance(stmt, (ast.Assign, ast.AnnAssign)):
        return
    targets, source = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target], stmt.value
    for target in targets:
        value = interp.now.lookup(cls.scope, target.id) if isinstance(target, ast.Name) else None
        if isinstance(target, ast.Name) and value is not None and _needs_tracking(interp, value):
            stored = _store(interp, cls, target.id, value, target, source, None)
            interp.now.bind(cls.scope, target.id, _tag(interp, value, stored.number))


def _store(
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
        site = point if point is not None and point.state is not None else interp.point(node, with_state=True)
        stored = AttributeStore(len(interp.observations.attribute_stores) + 1, name, site, cls, source, value)
        interp.observations.attribute_stores[key] = stored
    return stored


def tag_added(interp: Interpreter, container: Pointer, value: Value) -> Value:
    """Return a value that is added to a container, tagged with the attribute that stores the container."""
    held = object_at(interp, container, Container)
    return value if held is None or held.holder is None else _tag(interp, value, held.holder, 1, derived=False)


def _needs_tracking(interp: Interpreter, value: Value, depth: int = 0) -> bool:
    """Return whether a value is a CPU tensor, or a container that is empty or contains tensors or modules."""
    for option in alternatives(value):
        if isinstance(option, Tensor) and option.device == CPU:
            return True
        if isinstance(option, Pointer):
            obj = interp.heap_object(option)
            if depth and isinstance(obj, Module):
                return True
            is_searched = isinstance(obj, Container) and depth < _MOST_DEPTH
            if is_searched and (not obj.contents or any(_needs_tracking(interp, x, depth + 1) for x in obj.contents)):
                return True
        elif isinstance(option, TupleValue) and any(_needs_tracking(interp, item, depth + 1) for item in option.items):
            return True
    return False


def _tag(interp: Interpreter, value: Value, number: int, depth: int = 0, *, derived: bool = True) -> Value:
    """Return a value, its tensors tagged with the attribute that stores them.

    Parameters of a module in a container are the module's own, which every move of it moves, unless they are
    ``derived``: what is computed from parameters.
    """
    tag = partial(_tag, derived=derived)
    match value:
        case Tensor(origins=origins) if depth and not derived and any(map(_is_own, origins)):
            return value
        case Tensor(device=device, origins=origins) if device == CPU:
            if any(origin.kind == "batch" for origin in origins):
                return value  # items of batches keep their origins
            return replace(
                value, origins=tuple(replace(origin, attribute_id=number) for origin in origins or (Origin("stored"),))
            )
        case Union(alternatives):
            return join(tag(interp, option, number, depth) for option in alternatives)
        case TupleValue(items) if depth < _MOST_DEPTH:
            return TupleValue(tuple(tag(interp, item, number, depth + 1) for item in items))
        case Pointer():
            held = object_at(interp, value, Container)
            if held is not None and depth < _MOST_DEPTH and held.holder is None:
                tagged = held.transformed(lambda _, item: tag(interp, item, number, depth + 1))
                interp.now.write(value.id, replace(tagged, holder=number))
    return value


def current_parameter(interp: Interpreter, value: Value) -> Value:
    """Return what an attribute holds; a parameter of another object, by its name, is where that has been moved.

    ``Module.to`` replaces the data of a parameter and keeps the object: ``torch/nn/modules/module.py``,
    ``Module._apply``.
    """
    if not isinstance(value, Tensor) or value.device != CPU or not value.origins:
        return value
    devices = set[Device]()
    for origin in value.origins:
        if origin.kind != "parameter" or not origin.attribute_id or not interp.now.has(origin.site_id):
            return value
        owner = interp.now.at(origin.site_id)
        stored = next(islice(interp.observations.attribute_stores.values(), origin.attribute_id - 1, None))
        is_name = isinstance(stored.value, ast.Name) or (
            isinstance(stored.value, ast.Attribute) and stored.value.attr != "data"
        )
        if not is_name or not isinstance(owner, Module) or CPU in owner.devices:
            return value
        devices |= owner.devices
    return replace(value, device=next(iter(devices)) if len(devices) == 1 else UNKNOWN_DEVICE)


def _is_own(origin: Origin) -> bool:
    """Return whether an origin is a parameter that a module has registered."""
    return origin.kind == "parameter" and origin.site_id > 0 and not origin.attribute_id


def computed_attribute(interp: Interpreter, owner: Pointer) -> Value:
    """Return the value of an attribute with a computed name: unknown; its use may change every attribute."""
    interp.base.computed.add(owner.id)
    interp.escape([owner])
    return UNKNOWN


def is_plain_tensor(origins: tuple[Origin, ...], source: ast.expr | None) -> bool:
    """Return whether a tensor derived from a parameter is a plain tensor: ``weight.data``, ``weight.clone()``.

    A parameter that is assigned to another attribute is registered there, and is not plain.
    """
    if any(origin.kind == "parameter" and origin.attribute_id for origin in origins):
        return True
    if isinstance(source, ast.Call):
        name = source.func.attr if isinstance(source.func, ast.Attribute) else "_"
        return is_operation(f"torch.Tensor.{name}") and not name.endswith("_") and name not in _MAY_RETURN_ITSELF
    if isinstance(source, ast.Subscript):
        return isinstance(source.slice, ast.Tuple)  # another index may be one of a list of parameters
    return isinstance(source, ast.BinOp) or (isinstance(source, ast.Attribute) and source.attr == "data")


#: Methods that return the parameter itself if there is nothing to do, and those that a list or dictionary has, too.
_MAY_RETURN_ITSELF = frozenset(
    "contiguous float double half bfloat16 resolve_conj resolve_neg coalesce to_dense"
    " values index split indices".split()
)
