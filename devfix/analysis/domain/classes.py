"""Classes: their bases, what they inherit, and what kind of objects they make."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import ClassValue, External, Function, HeapObject, Pointer, Union, Unknown, Value
from devfix.models.frameworks import DEVICE_PLACING_TRAINERS, MANAGED
from devfix.models.index import model_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = [
    "external_bases",
    "find_member",
    "find_property_setter",
    "is_device_placing_trainer",
    "is_managed",
    "is_module_class",
    "is_named_tuple",
    "mro",
]


def mro(cls: ClassValue) -> Iterator[ClassValue | External | Unknown]:
    """A class and its bases in (simplified) method resolution order."""
    seen: set[int] = set()
    stack: list[Value] = [cls]
    while stack:
        current = stack.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        if isinstance(current, ClassValue):
            yield current
            stack = [*current.bases, *stack]
        elif isinstance(current, External):
            yield current
        elif isinstance(current, (Unknown, Union, Pointer)):
            yield Unknown()


def external_bases(cls: ClassValue) -> list[str]:
    """Full names of the library classes that a project class derives from; ``"?"`` where a base is not known."""
    names = []
    for base in mro(cls):
        if isinstance(base, External):
            names.append(base.name)
        elif isinstance(base, Unknown):
            names.append("?")
    return names


def find_member(interp: Interpreter, cls: ClassValue, name: str, above: ClassValue | None = None) -> Value | None:
    """A class attribute, looked up along the mro (from behind ``above``)."""
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


def is_module_class(interp: Interpreter, cls: ClassValue) -> bool:
    """Whether instances are ``nn.Module`` objects, as far as the code tells."""
    names = external_bases(cls)
    if any(name.startswith("torch.nn.") or model_of(name) in ("opaque-module", "placed-module") for name in names):
        return True
    own = [name for name in names if name not in ("builtins.object", "object", "abc.ABC", "typing.Generic", "?")]
    return (bool(own) or "?" in names) and isinstance(find_member(interp, cls, "forward"), Function)


def is_managed(name: str) -> bool:
    """Whether a library places things itself."""
    return name.startswith(MANAGED)


def is_named_tuple(interp: Interpreter, ref: Pointer) -> bool:
    """Whether an object is a tuple whose items have names: it is unpacked and iterated as one."""
    cls = interp.heap_object(ref).cls
    return cls is not None and "typing.NamedTuple" in external_bases(cls)


def is_device_placing_trainer(obj: HeapObject) -> bool:
    """Whether an object is of a project class that derives from the ``Trainer`` of transformers."""
    names = external_bases(obj.cls) if obj.cls is not None else []
    return any(name.startswith(DEVICE_PLACING_TRAINERS) for name in names)


def find_property_setter(interp: Interpreter, obj: HeapObject, name: str) -> Function | None:
    """The setter of a property, if the class has one."""
    found = find_member(interp, obj.cls, f"{name}.setter") if obj.cls is not None else None
    return found if isinstance(found, Function) else None
