"""Heap objects: one class for each kind of object with identity, with its operations as methods.

The operations of :class:`HeapObject` are neutral: nothing is known about their results.  A subclass lies in the module
that models its kind, and overrides what it knows.  The kinds that every layer tells apart (modules, containers, objects
of unknown classes) have their facts here, and their operations in subclasses of :class:`Module`, :class:`Container` and
:class:`Opaque`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import field, fields
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

from devfix.analysis.domain.classes import find_member, inherited_attribute, mro
from devfix.analysis.domain.joins import (
    EITHER,
    ENTRIES,
    LATEST,
    LOWEST,
    MADE_UNION,
    OPTIONS,
    UNION,
    JoinFunction,
    equal_or,
    join_options,
)
from devfix.analysis.domain.records import dataclass, replace
from devfix.analysis.domain.values import (
    CPU,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Bound,
    Builtin,
    ClassValue,
    Const,
    Device,
    Function,
    Origin,
    Pointer,
    Tensor,
    Unknown,
    Value,
    alternatives,
)

if TYPE_CHECKING:
    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.protocol import Interpreter
    from devfix.analysis.domain.values import Keywords

__all__ = [
    "BatchPart",
    "BatchSource",
    "Container",
    "HeapObject",
    "Mapping",
    "Memory",
    "Module",
    "Opaque",
    "join_objects",
    "module_at",
    "moves_item",
    "object_at",
    "ways_to_join",
]

Kind = TypeVar("Kind", bound="HeapObject")


@dataclass(frozen=True)
class HeapObject:
    """An object with identity, of which only its class and its fields are known.

    Attributes:
        name: full name of the class or factory.
        cls: the project class; ``None`` for other objects.
        fields: attributes, list items under ``"0"``, ``"1"`` …, or dictionary entries.
        default_item: represents every other item.
        devices: possible devices of the object's own tensors.
        allocated_at: its creation.
        last_moved_at: its latest move.

    """

    name: str = field(default="", metadata=equal_or(""))
    cls: ClassValue | None = field(default=None, metadata=equal_or(None))
    fields: dict[str, Value] = field(default_factory=dict, metadata=ENTRIES)
    default_item: Value | None = field(default=None, metadata=OPTIONS)
    devices: frozenset[Device] = field(default=frozenset(), metadata=MADE_UNION)
    allocated_at: ProgramPoint | None = field(default=None, metadata=LATEST)
    last_moved_at: ProgramPoint | None = field(default=None, metadata=LATEST)

    @property
    def device(self) -> Device:
        """Return the device of the object's own tensors; unknown if it differs between paths."""
        return next(iter(self.devices)) if len(self.devices) == 1 else UNKNOWN_DEVICE

    @property
    def contents(self) -> list[Value]:
        """Return the values of all fields and the default item, if there is one."""
        return [*self.fields.values(), *([self.default_item] if self.default_item is not None else [])]

    def transformed(self: Kind, change: Callable[[str, Value], Value]) -> Kind:
        """Return the object with each item replaced by ``change(key, item)``; the default item's key is ``*``."""
        changed = {name: change(name, value) for name, value in self.fields.items()}
        rest = None if self.default_item is None else change("*", self.default_item)
        return replace(self, fields=changed, default_item=rest)

    # --- calls ------------------------------------------------------------------------------------------------
    def call(
        self, interp: Interpreter, pointer: Pointer, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call the object."""
        method = find_member(interp, self.cls, "__call__") if self.cls is not None else None
        return interp.call(Bound(method, pointer), args, keywords, node) if isinstance(method, Function) else UNKNOWN

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method that no project class defines."""
        interp.escape([*args, *keywords.values()])
        return UNKNOWN

    # --- attributes -------------------------------------------------------------------------------------------
    def attribute(self, interp: Interpreter, pointer: Pointer, name: str, node: ast.AST) -> Value:
        """Return an attribute: the object's own, its class's, or one that its kind models."""
        if name in self.fields:
            return self.fields[name]
        found = inherited_attribute(interp, self.cls, pointer, name, node) if self.cls is not None else None
        return found if found is not None else self.other_attribute(interp, pointer, name, node)

    def other_attribute(self, interp: Interpreter, pointer: Pointer, name: str, node: ast.AST) -> Value:
        """Return an attribute that neither the object nor a project class has: by default, a method."""
        return Builtin(pointer, name)

    def adopt(self, name: str, value: Value) -> Value:
        """Return a value as it is after it is assigned to an attribute."""
        return value

    # --- items ------------------------------------------------------------------------------------------------
    def elements(self, interp: Interpreter, pointer: Pointer) -> list[Value] | None:
        """Return the elements one by one; ``None`` if they are unknown or too many."""
        return None

    def element(self, interp: Interpreter, pointer: Pointer, node: ast.AST, moved: frozenset[str]) -> Value | None:
        """Return one value that represents every element; ``None`` if the object is not known to be iterable."""
        return None

    def unpack(self, interp: Interpreter, pointer: Pointer, count: int) -> list[Value]:
        """Return the values of ``count`` targets that the object is unpacked to."""
        return [UNKNOWN] * count

    def sample(self, interp: Interpreter, pointer: Pointer, node: ast.AST) -> Value:
        """Return one item of the object as a dataset, before collation."""
        return UNKNOWN

    def item(self, interp: Interpreter, pointer: Pointer, name: str | None, node: ast.Subscript) -> Value:
        """Return ``object[name]``; ``None`` stands for an unknown key."""
        if isinstance(node.slice, ast.Slice):
            return pointer
        if name is not None and name in self.fields:
            return self.fields[name]
        if self.default_item is not None:
            return _part(self.default_item, name)
        return self.other_item(interp, pointer, name)

    def other_item(self, interp: Interpreter, pointer: Pointer, name: str | None) -> Value:
        """Return an item that is not among the fields."""
        return Unknown(f"{self.name or 'object'}#{pointer.id}.{name}" if name else "")

    def set_item(self, interp: Interpreter, pointer: Pointer, key: Value, value: Value, node: ast.AST) -> None:
        """Execute ``object[key] = value``."""
        rest = self.default_item
        if isinstance(key, Const):
            interp.now.set_field(pointer, str(key.value), value)
        elif rest is not None and moves_item(rest, value):
            interp.now.update(pointer, default_item=value, fields=dict.fromkeys(self.fields, value))
        elif self.fields and all(moves_item(item, value) or item == value for item in self.fields.values()):
            interp.now.update(pointer, fields=dict.fromkeys(self.fields, value))
        else:
            written = {
                name: self.after_unknown_write(pointer, name, _maybe_replaced(item, value))
                for name, item in self.fields.items()
            }
            interp.now.update(pointer, default_item=join_options(rest, value), fields=written)

    def after_unknown_write(self, pointer: Pointer, name: str, value: Value) -> Value:
        """Return a field's value after a write under an unknown key."""
        return value

    # --- what the analysis asks -------------------------------------------------------------------------------
    def moved(self, move: Callable[[Value], Value]) -> HeapObject:
        """Return the object after its tensors are moved: a new one if it has any."""
        return self

    def escape(self, interp: Interpreter, pointer: Pointer, depth: int) -> None:
        """Pass the object to code that cannot be read."""

    def tensors(self) -> list[Value]:
        """Return the values whose tensors are operands if the object is an operand."""
        return []

    def truth(self) -> bool | None:
        """Return the truth value; ``None`` if unknown."""
        return True

    def is_a(self, cls: Value, name: str) -> bool | None:
        """Return whether the object is an instance of ``cls``, with the full name ``name``; ``None`` if unknown."""
        if isinstance(cls, ClassValue) and self.cls is not None:
            return any(base is cls for base in mro(self.cls))
        if name == "torch.Tensor":
            return False
        return True if name == self.name else None

    def matches_class(self, name: str) -> bool | None:
        """Return whether a ``case`` pattern with the class ``name`` matches; ``None`` if unknown."""
        return None

    def as_module(self, interp: Interpreter) -> Module | None:
        """Return the object as a module, if the program treats it as one; ``None`` if it certainly is none."""
        return None

    def seen_as(self, other: HeapObject) -> HeapObject:
        """Return the object as an object of the class of ``other``, if it may be the same object."""
        return self


def moves_item(old: Value, new: Value) -> bool:
    """Return whether a write replaces a tensor by one on the accelerator."""
    return (
        isinstance(old, Tensor)
        and isinstance(new, Tensor)
        and old.device != new.device
        and new.device.kind == "accelerator"
    )


def _maybe_replaced(item: Value, value: Value) -> Value:
    """Return an item after a write under an unknown key: a tensor is elsewhere if the write meant it."""
    if isinstance(item, Tensor) and any(_is_elsewhere(option, item) for option in alternatives(value)):
        return replace(item, device=UNKNOWN_DEVICE, origins=())
    return item


def _is_elsewhere(value: Value, item: Tensor) -> bool:
    return value.device != item.device if isinstance(value, Tensor) else isinstance(value, Unknown)


def _part(rest: Value, name: str | None) -> Value:
    """Return one of the items that a default item represents, with its path in the batch."""
    if not (isinstance(rest, Tensor) and rest.maybe_container and rest.origins) or name is None or rest.device != CPU:
        return rest
    origins = tuple(Origin(each.kind, each.site_id, (*each.path, name)) for each in rest.origins)
    return Tensor(CPU, origins, rest.is_certain, maybe_container=True)


@dataclass(frozen=True)
class BatchPart(HeapObject):
    """An object that may be a batch, or a part of one.

    Attributes:
        position: number of the batch, and the path into it; ``None`` if it is no part of a batch on the CPU.

    """

    position: tuple[int, tuple[str, ...]] | None = field(default=None, metadata=LOWEST)

    def in_batch(self, position: tuple[int, tuple[str, ...]], tag: Callable[[str, Value], Value]) -> BatchPart | None:
        """Return the object as a part of a batch, with tagged items; ``None`` if it cannot be one."""
        return replace(self.transformed(tag), position=position)


@dataclass(frozen=True)
class BatchSource(HeapObject):
    """An object that may yield batches.

    Attributes:
        batch_device: where a framework moves each batch; ``None`` if it leaves them where they are.

    """

    batch_device: Device | None = field(default=None, metadata=equal_or(UNKNOWN_DEVICE))


@dataclass(frozen=True)
class Container(BatchPart):
    """A list, a set or a dictionary.

    Attributes:
        holder: number of the attribute that stores it; ``None`` if none does.
        builtin: name of the class.
        pattern_names: names by which a ``case`` pattern may ask for the class.

    """

    holder: int | None = field(default=None, metadata=LOWEST)
    builtin: ClassVar[str] = ""
    pattern_names: ClassVar[tuple[str, ...]] = ()

    def attribute(self, interp: Interpreter, pointer: Pointer, name: str, node: ast.AST) -> Value:
        """Return a method: the fields are items."""
        return Builtin(pointer, name)

    def tensors(self) -> list[Value]:
        """Return the contents."""
        return self.contents

    def truth(self) -> bool | None:
        """Return true if there is an item."""
        return bool(self.fields) or None

    def is_a(self, cls: Value, name: str) -> bool | None:
        """Return whether the container's class is asked for."""
        return name == f"builtins.{self.builtin}"

    def matches_class(self, name: str) -> bool | None:
        """Return whether the container's class is asked for."""
        return name in self.pattern_names


@dataclass(frozen=True)
class Mapping(Container):
    """A dictionary.

    Attributes:
        odd_keys: whether a key may be no string.

    """

    odd_keys: bool = field(default=False, metadata=EITHER)


@dataclass(frozen=True)
class Module(HeapObject):
    """An ``nn.Module``; its ``devices`` are those of its own weights.

    Attributes:
        weights: whether it has weights besides its submodules'.
        attached_at: its latest assignment to another module.
        parents: modules to which it was assigned.
        buffers: names of its registered buffers.
        opaque: whether its code is not followed.
        frozen: whether its weights require no gradient.
        training: whether it is in training mode; ``None`` if it may be in either.
        mean: whether it returns a single number: a loss that takes the mean.
        wraps: whether it passes its arguments on to ``module``.
        data_parallel: whether it passes its arguments on to ``module`` after moving them.
        input_device: where it moves them; ``None`` if it does not.

    """

    weights: bool = field(default=False, metadata=EITHER)
    attached_at: ProgramPoint | None = field(default=None, metadata=LATEST)
    parents: frozenset[Pointer] = field(default=frozenset(), metadata=UNION)
    buffers: frozenset[str] = field(default=frozenset(), metadata=UNION)
    opaque: bool = field(default=False, metadata=EITHER)
    frozen: bool = field(default=False, metadata=EITHER)
    training: bool | None = field(default=None, metadata=equal_or(None))
    mean: bool = field(default=False, metadata=EITHER)
    wraps: bool = field(default=False, metadata=EITHER)
    data_parallel: bool = field(default=False, metadata=EITHER)
    input_device: Device | None = field(default=None, metadata=equal_or(UNKNOWN_DEVICE))

    @property
    def is_opaque(self) -> bool:
        """Return whether the submodules are unknown."""
        return self.cls is None and self.opaque

    def as_module(self, interp: Interpreter) -> Module:
        """Return the module itself."""
        return self


@dataclass(frozen=True)
class Opaque(BatchSource):
    """The result of code that cannot be read: it may be anything, a module among others.

    Attributes:
        constructed: whether a class was called, without a device.

    """

    constructed: bool = field(default=False, metadata=EITHER)

    def truth(self) -> bool | None:
        """Return that it is unknown."""
        return None


class Memory(Protocol):
    """What has objects: a state of the run, or the interpreter in its present state."""

    def heap_object(self, pointer: Pointer) -> HeapObject:
        """Return the object at a pointer."""


def object_at(memory: Memory, value: Value | None, kind: type[Kind]) -> Kind | None:
    """Return the object that a value points to, if it is of this kind."""
    obj = memory.heap_object(value) if isinstance(value, Pointer) else None
    return obj if isinstance(obj, kind) else None


def module_at(memory: Memory, value: Value | None) -> Module | None:
    """Return the module that a value points to; ``None`` if it is no module."""
    obj = memory.heap_object(value) if isinstance(value, Pointer) else None
    return obj if isinstance(obj, Module) else None


def join_objects(one: HeapObject, two: HeapObject) -> HeapObject:
    """Return what holds for one object on either of two paths; of two kinds, only what every object has."""
    one, two = one.seen_as(two), two.seen_as(one)
    if type(one) is type(two):
        pairs = ((name, way, getattr(one, name), getattr(two, name)) for name, way in ways_to_join(type(one)))
        return replace(one, **{name: way(ours, theirs) for name, way, ours, theirs in pairs if ours is not theirs})
    joined = {name: way(getattr(one, name), getattr(two, name)) for name, way in ways_to_join(HeapObject)}
    return HeapObject(**{**joined, "devices": frozenset({UNKNOWN_DEVICE})})


def ways_to_join(kind: type[HeapObject]) -> list[tuple[str, JoinFunction]]:
    """Return in which way each fact about a kind of object is joined."""
    ways = _ways.get(kind)
    if ways is None:
        ways = _ways[kind] = [(each.name, each.metadata["join"]) for each in fields(kind)]
    return ways


_ways: dict[type[HeapObject], list[tuple[str, JoinFunction]]] = {}
