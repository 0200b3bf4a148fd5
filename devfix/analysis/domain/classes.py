"""Project classes: method resolution order, inherited attributes, kinds of instances."""

from __future__ import annotations

import ast
import builtins
import os
import sys
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import (
    Bound,
    ClassValue,
    External,
    Function,
    Pointer,
    Union,
    Unknown,
    Value,
)
from devfix.models.index import is_module
from devfix.models.names import FRAMEWORK_CLASSES, MANAGED
from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import implicit_call

if TYPE_CHECKING:
    from devfix.analysis.domain.objects import HeapObject
    from devfix.analysis.domain.protocol import Interpreter

__all__ = [
    "NO_MODULES",
    "external_bases",
    "find_member",
    "find_property_setter",
    "framework_name",
    "inherited_attribute",
    "is_managed",
    "is_module_class",
    "is_named_tuple",
    "mro",
]


#: Packages and classes that no module inherits from.
NO_MODULES = frozenset({*sys.stdlib_module_names, *vars(builtins), "typing_extensions"})


@node_cache(2048)
def mro(cls: ClassValue) -> tuple[ClassValue | External | Unknown, ...]:
    """Return a class and its bases in (simplified) method resolution order."""
    order: list[ClassValue | External | Unknown] = []
    seen: set[int] = set()
    pending: list[Value] = [cls]
    while pending:
        current = pending.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        if isinstance(current, ClassValue) and current is not cls and (name := framework_name(current)):
            order.append(External(name))
        elif isinstance(current, ClassValue):
            order.append(current)
            pending = [*current.bases, *pending]
        elif isinstance(current, External):
            order.append(current)
        elif isinstance(current, Union):  # a library's class, or what stands in for it where the library is missing
            order.append(next((each for each in current.alternatives if isinstance(each, External)), Unknown()))
        elif isinstance(current, (Unknown, Pointer)):
            order.append(Unknown())
    return tuple(order)


def framework_name(cls: ClassValue) -> str:
    """Return the full name of a framework's class whose source is in the project; ``""`` for other classes.

    What the framework does with its subclasses is known by that name, wherever the source is.
    """
    name = FRAMEWORK_CLASSES.get(cls.node.name, "")
    place = f"/{name.rpartition('.')[0].replace('.', '/')}.py"
    return name if name and f"/{cls.module.path.replace(os.sep, '/')}".endswith(place) else ""


@node_cache(2048)
def external_bases(cls: ClassValue) -> tuple[str, ...]:
    """Return the full names of the library classes in a project class's bases; ``"?"`` stands for an unknown base."""
    names = []
    for base in mro(cls):
        if isinstance(base, External):
            names.append(base.name)
        elif isinstance(base, Unknown):
            names.append("?")
    return tuple(names)


def find_member(interp: Interpreter, cls: ClassValue, name: str, above: ClassValue | None = None) -> Value | None:
    """Return a class attribute, looked up in method resolution order; ``None`` if no project class has it.

    With ``above``, the lookup starts after that class, as ``super()`` does.
    """
    skipping = above is not None
    for base in mro(cls):
        if skipping:
            skipping = base is not above
            continue
        if isinstance(base, ClassValue):
            found = interp.now.lookup(base.scope, name)
            if found is not None:
                return found
    return None


def inherited_attribute(
    interp: Interpreter, cls: ClassValue, pointer: Pointer, name: str, node: ast.AST
) -> Value | None:
    """Return what an instance's class has under a name: a bound method, or a property's value; ``None`` if nothing."""
    found = find_member(interp, cls, name)
    if not isinstance(found, Function):
        return cls if found is None and name == "__class__" else found
    if found.kind == "property":
        call = implicit_call(node, name)
        return interp.call(Bound(found, pointer), [], {}, call)
    if found.kind == "static":
        return found
    return Bound(found, cls if found.kind == "class" else pointer)


def is_module_class(interp: Interpreter, cls: ClassValue) -> bool:
    """Return whether instances are ``nn.Module`` objects; an unknown base counts if the class defines ``forward``."""
    names = external_bases(cls)
    if any(name.startswith("torch.nn.") or is_module(name) for name in names):
        return True
    relevant = [name for name in names if name != "?" and name.partition(".")[0] not in NO_MODULES]
    return (bool(relevant) or "?" in names) and isinstance(find_member(interp, cls, "forward"), Function)


def is_managed(name: str) -> bool:
    """Return whether a library of this name manages devices."""
    return name.startswith(MANAGED)


def is_named_tuple(interp: Interpreter, pointer: Pointer) -> bool:
    """Return whether an object is a named tuple, which unpacks and iterates as a tuple."""
    cls = interp.heap_object(pointer).cls
    return cls is not None and "typing.NamedTuple" in external_bases(cls)


def find_property_setter(interp: Interpreter, obj: HeapObject, name: str) -> Function | None:
    """Return the setter of a property; ``None`` if the class has none."""
    found = find_member(interp, obj.cls, f"{name}.setter") if obj.cls is not None else None
    return found if isinstance(found, Function) else None
