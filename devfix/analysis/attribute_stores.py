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
    Birth,
    ClassValue,
    Ref,
    Tensor,
    TupleValue,
    Union,
    Value,
    options,
    union,
)
from devfix.analysis.observations import Stored
from devfix.syntax.tree import position

if TYPE_CHECKING:
    from devfix.analysis.domain.location import Site
    from devfix.analysis.interpreter import Interpreter

__all__ = ["added", "any_of", "is_plain", "keep", "keep_class_attributes"]

_CONTAINERS = ("list", "dict", "set")
_DEEPEST = 3


def keep(
    run: Interpreter,
    owner: Ref,
    name: str,
    value: Value,
    node: ast.AST,
    source: ast.expr | None,
    site: Site | None = None,
) -> Value:
    """``owner.name = value``: the value as it is read from the attribute later, with the attribute as its holder."""
    if not _matters(run, value):
        return value
    record = run.record(owner)
    stored = _noted(run, record.cls, name, value, node, source, site)
    stored.owners[owner] = run.moment
    return _tagged(run, value, stored.number)


def keep_class_attributes(run: Interpreter, cls: ClassValue, stmt: ast.stmt) -> None:
    """Tensors that a class body binds are attributes of every instance."""
    if not run.alive or not isinstance(stmt, (ast.Assign, ast.AnnAssign)):
        return
    targets, source = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target], stmt.value
    for target in targets:
        value = run.now.lookup(cls.scope, target.id) if isinstance(target, ast.Name) else None
        if isinstance(target, ast.Name) and value is not None and _matters(run, value):
            stored = _noted(run, cls, target.id, value, target, source, None)
            run.now.bind(cls.scope, target.id, _tagged(run, value, stored.number))


def _noted(
    run: Interpreter,
    cls: ClassValue | None,
    name: str,
    value: Value,
    node: ast.AST,
    source: ast.expr | None,
    site: Site | None,
) -> Stored:
    assert run.frame is not None
    key = (run.frame.module.path, *position(node), name)
    stored = run.facts.stored.get(key)
    if stored is None:
        where = site if site is not None and site.memory is not None else run.site(node, remember=True)
        stored = Stored(len(run.facts.stored) + 1, name, where, cls, source, value)
        run.facts.stored[key] = stored
    return stored


def added(run: Interpreter, container: Ref, value: Value) -> Value:
    """What a container that an attribute holds is given later."""
    number = run.record(container).get("holder")
    return _tagged(run, value, number) if isinstance(number, int) else value


def _matters(run: Interpreter, value: Value, depth: int = 0) -> bool:
    """Whether a value is a CPU tensor, or a container that is empty or holds tensors or modules."""
    for option in options(value):
        if isinstance(option, Tensor) and option.place == CPU:
            return True
        if isinstance(option, Ref):
            record = run.record(option)
            if depth and record.kind == "module":
                return True
            if record.kind in _CONTAINERS and depth < _DEEPEST:
                held = [*record.fields.values(), *([record.rest] if record.rest is not None else [])]
                if not held or any(_matters(run, item, depth + 1) for item in held):
                    return True
        elif isinstance(option, TupleValue) and any(_matters(run, item, depth + 1) for item in option.items):
            return True
    return False


def _tagged(run: Interpreter, value: Value, number: int, depth: int = 0) -> Value:
    match value:
        case Tensor(place=place, births=births) if place == CPU:
            if any(birth.kind == "batch" for birth in births):
                return value  # an item of a batch stays one
            return replace(value, births=tuple(replace(birth, holder=number) for birth in births or (Birth("stored"),)))
        case Union(alternatives):
            return union(_tagged(run, option, number, depth) for option in alternatives)
        case TupleValue(items) if depth < _DEEPEST:
            return TupleValue(tuple(_tagged(run, item, number, depth + 1) for item in items))
        case Ref():
            record = run.record(value)
            if record.kind in _CONTAINERS and depth < _DEEPEST and record.get("holder") is None:
                fields = {key: _tagged(run, item, number, depth + 1) for key, item in record.fields.items()}
                rest = None if record.rest is None else _tagged(run, record.rest, number, depth + 1)
                run.now.update(value, fields=fields, rest=rest, info=(*record.info, ("holder", number)))
    return value


def any_of(run: Interpreter, owner: Ref) -> Value:
    """The attribute of an object whose name is computed: any of them, and what is done to it may be done to each."""
    from devfix.analysis.transfer.calls import escape

    escape(run, [owner])
    return UNKNOWN


def is_plain(births: tuple[Birth, ...], source: ast.expr | None) -> bool:
    """Whether a tensor that comes from a parameter is an ordinary tensor now: ``weight.data``, ``weight.clone()``.

    The parameter itself, assigned to another attribute, is registered there, too.
    """
    if any(birth.kind == "parameter" and birth.holder for birth in births):
        return True
    if isinstance(source, ast.Call):
        return isinstance(source.func, ast.Attribute) and source.func.attr in _TENSOR_ONLY
    return isinstance(source, ast.BinOp) or (isinstance(source, ast.Attribute) and source.attr == "data")


_TENSOR_ONLY = frozenset(
    "detach clone mean sum norm abs float t transpose view reshape squeeze unsqueeze sqrt exp".split()
)
