"""Tensor attributes that fail on the accelerator: where they are written and where they are used."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from devfix.analysis import Observations
from devfix.analysis.domain.classes import mro
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.objects import HeapObject, Module
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import ClassValue, Origin
from devfix.analysis.observations import AttributeStore, DeviceMismatch, Operand
from devfix.analysis.stdlib.instances import InstanceObject
from devfix.fixes.tensors.misplaced_items import MisplacedItem, moved_siblings
from devfix.syntax.tree import SourceTree

__all__ = ["Attribute", "Use", "Write", "attribute_groups", "methods_of"]

_KINDS = ("made", "stored", "moved", "load", "buffer", "parameter")


@dataclass(frozen=True, eq=False)
class Use:
    """One operation that uses the attribute's value on the CPU, and the operand that holds it."""

    mismatch: DeviceMismatch
    operand: Operand
    origins: tuple[Origin, ...]

    @property
    def state(self) -> State:
        """The state at the failing operation."""
        assert self.mismatch.point.state is not None
        return self.mismatch.point.state


@dataclass(frozen=True, eq=False)
class Write:
    """A statement that assigns the attribute."""

    tree: SourceTree
    stmt: ast.stmt
    function: ast.AST


@dataclass(frozen=True, eq=False)
class Attribute:
    """One attribute of one class (or of the objects that one function creates), with its failing uses."""

    name: str
    stored: tuple[AttributeStore, ...]
    uses: tuple[Use, ...]

    @property
    def point(self) -> ProgramPoint:
        """The first write."""
        return self.stored[0].point

    @property
    def cls(self) -> ClassValue | None:
        """The class that has the attribute; ``None`` if it is not in the source."""
        return self.stored[0].cls

    @property
    def text(self) -> str:
        """The attribute as written in the first write: ``self.mask``."""
        node = self.point.node
        return ast.unparse(node) if isinstance(node, ast.Attribute) else self.name

    @cached_property
    def owners(self) -> list[HeapObject]:
        """The objects that have the attribute, in the state of the first use."""
        state = self.uses[0].state
        found = {ref for stored in self.stored for ref in stored.owners if state.has(ref.id)}
        return [state.heap_object(ref) for ref in sorted(found, key=lambda ref: ref.id)]

    @property
    def is_module_attribute(self) -> bool:
        """Whether an ``nn.Module`` has the attribute."""
        return any(isinstance(obj, Module) for obj in self.owners)

    @property
    def moved(self) -> ProgramPoint | None:
        """The move of an owner after the tensor was assigned; ``None`` if there is none."""
        state = self.uses[0].state
        for stored in self.stored:
            for ref, moment in stored.owners.items():
                moved = state.heap_object(ref).last_moved_at if state.has(ref.id) else None
                if moved is not None and moved.time > moment:
                    return moved
        return None

    @property
    def is_alias(self) -> bool:
        """Whether the attribute is an alias of a buffer or parameter."""
        kinds = {origin.kind for use in self.uses for origin in use.origins}
        return kinds <= {"buffer", "parameter"} and all(_reads_only(stored.value) for stored in self.stored)

    @property
    def is_parameter(self) -> bool:
        """Whether the attribute refers to a parameter of a module, and so is where that module is.

        ``Module.to`` replaces the data of a parameter and keeps the object; a buffer is another object afterwards.
        ``torch/nn/modules/module.py``, ``Module._apply``.
        """
        kinds = {origin.kind for use in self.uses for origin in use.origins}
        data = any(isinstance(stored.value, ast.Attribute) and stored.value.attr == "data" for stored in self.stored)
        return kinds == {"parameter"} and self.is_alias and not data


def _reads_only(node: ast.expr | None) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def attribute_groups(observations: Observations) -> Iterator[list[Attribute]]:
    """Yield the misplaced attributes in groups that one fix must move together, in the order of their first writes.

    Attributes that reach the same operand form a group, and so do all attributes of one object that is not a module: it
    stays on one device, so moving some of its tensors would only move the error.
    """
    numbered = {stored.number: stored for stored in observations.attribute_stores.values()}
    uses: dict[tuple[object, ...], list[Use]] = {}
    parents: dict[tuple[object, ...], tuple[object, ...]] = {}
    for mismatch in observations.mismatches:
        for operand in mismatch.cpu:
            origins = tuple(origin for origin in operand.origins if origin.attribute_id and origin.kind in _KINDS)
            if any(origin.kind == "parameter" and not origin.site_id for origin in origins):
                continue  # an unregistered parameter in a Python container: reported by DEV203
            if any(origin.kind == "batch" for origin in operand.origins):
                continue  # the batch must be moved first
            if not origins or not operand.is_certain or _has_moved_siblings(observations, mismatch, operand, origins):
                continue
            by_key: dict[tuple[object, ...], list[Origin]] = {}
            for origin in origins:
                by_key.setdefault(_key(numbered[origin.attribute_id]), []).append(origin)
            for key, key_origins in by_key.items():
                uses.setdefault(key, []).append(Use(mismatch, operand, tuple(key_origins)))
                parents[_representative(parents, key)] = _representative(parents, next(iter(by_key)))
    grouped: dict[tuple[object, ...], list[Attribute]] = {}
    attributes: dict[tuple[object, ...], Attribute] = {}
    for key, key_uses in uses.items():
        stored = tuple(item for item in observations.attribute_stores.values() if _key(item) == key)
        attribute = Attribute(stored[0].name, stored, tuple(key_uses))
        for owner in _plain_owners(attribute):
            parents[_representative(parents, key)] = _representative(parents, owner)
        attributes[key] = attribute
    for key, attribute in attributes.items():
        grouped.setdefault(_representative(parents, key), []).append(attribute)
    for group in grouped.values():
        if not all(attribute.is_parameter for attribute in group):
            yield sorted(group, key=lambda attribute: attribute.point.time)


def _plain_owners(attribute: Attribute) -> Iterator[tuple[object, ...]]:
    """Yield a key for each object that has the attribute and is not a module."""
    state = attribute.uses[0].state
    for stored in attribute.stored:
        for ref in stored.owners:
            if state.has(ref.id) and isinstance(state.heap_object(ref), InstanceObject):
                yield "object", ref.id


def _has_moved_siblings(
    observations: Observations, mismatch: DeviceMismatch, operand: Operand, origins: tuple[Origin, ...]
) -> bool:
    """Whether one function returned several values and the program moves the others: then DEV101 reports it."""
    created = [origin for origin in origins if origin.kind == "made"]
    return any(
        moved_siblings(observations, MisplacedItem(origin.site_id, origin.path, (mismatch,), (operand.text,)))
        for origin in created
    )


def _representative(
    parents: dict[tuple[object, ...], tuple[object, ...]], key: tuple[object, ...]
) -> tuple[object, ...]:
    while parents.setdefault(key, key) != key:
        key = parents[key]
    return key


def _key(stored: AttributeStore) -> tuple[object, ...]:
    """Return a key that is equal for all writes of one attribute of one class."""
    tree = stored.point.tree
    classes = [node for node in tree.ancestors(stored.point.node) if isinstance(node, ast.ClassDef)]
    if classes:
        return stored.name, classes[0]
    return stored.name, stored.cls.node if stored.cls is not None else tree.path


def methods_of(cls: ClassValue) -> Iterator[tuple[SourceTree, ast.ClassDef, ast.FunctionDef]]:
    """Yield the methods of a project class and of its project bases, each with its tree and class."""
    for base in mro(cls):
        if isinstance(base, ClassValue):
            for stmt in base.node.body:
                if isinstance(stmt, ast.FunctionDef):
                    yield base.module.tree, base.node, stmt
