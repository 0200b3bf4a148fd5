"""Tensors that are attributes: which attributes there are, what writes them, and where they fail."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from devfix.analysis import Observations
from devfix.analysis.domain.classes import mro
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import ClassValue, HeapObject, Origin
from devfix.analysis.observations import AttributeStore, DeviceMismatch, Operand
from devfix.fixes.tensors.misplaced_items import MisplacedItem, made_siblings
from devfix.syntax.tree import SourceTree

__all__ = ["Attribute", "Use", "Write", "groups", "methods_of"]

_KINDS = ("made", "stored", "moved", "load", "buffer", "parameter")


@dataclass(frozen=True, eq=False)
class Use:
    """One operation in which a value of the attribute lies on the CPU, and the operand that it is."""

    mismatch: DeviceMismatch
    operand: Operand
    origins: tuple[Origin, ...]

    @property
    def memory(self) -> State:
        """The names and objects of that moment."""
        assert self.mismatch.point.state is not None
        return self.mismatch.point.state


@dataclass(frozen=True, eq=False)
class Write:
    """A statement that gives the attribute a value."""

    tree: SourceTree
    stmt: ast.stmt
    function: ast.AST


@dataclass(frozen=True, eq=False)
class Attribute:
    """One attribute of one class (or of the objects that some function makes), and where its tensors fail."""

    name: str
    stored: tuple[AttributeStore, ...]
    uses: tuple[Use, ...]

    @property
    def point(self) -> ProgramPoint:
        """Where it is written first."""
        return self.stored[0].point

    @property
    def cls(self) -> ClassValue | None:
        """The class of the objects that have it."""
        return self.stored[0].cls

    @property
    def shown(self) -> str:
        """``self.mask``, as it stands where it is written."""
        node = self.point.node
        return ast.unparse(node) if isinstance(node, ast.Attribute) else self.name

    @cached_property
    def owners(self) -> list[HeapObject]:
        """The objects that have it, as they are at the first use."""
        memory = self.uses[0].memory
        found = {ref for stored in self.stored for ref in stored.owners if memory.has(ref.id)}
        return [memory.heap_object(ref) for ref in sorted(found, key=lambda ref: ref.id)]

    @property
    def of_module(self) -> bool:
        """Whether it belongs to ``nn.Module`` objects."""
        return any(obj.kind == "module" for obj in self.owners)

    @property
    def moved(self) -> ProgramPoint | None:
        """Where an owner was moved after it had got the tensor; ``None`` where none was."""
        memory = self.uses[0].memory
        for stored in self.stored:
            for ref, moment in stored.owners.items():
                moved = memory.heap_object(ref).last_moved_at if memory.has(ref.id) else None
                if moved is not None and moved.time > moment:
                    return moved
        return None

    @property
    def is_alias(self) -> bool:
        """Whether it is another name for a buffer's or parameter's tensor, not a value of its own."""
        kinds = {origin.kind for use in self.uses for origin in use.origins}
        return kinds <= {"buffer", "parameter"} and all(_reads_only(stored.value) for stored in self.stored)


def _reads_only(node: ast.expr | None) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def groups(observations: Observations) -> Iterator[list[Attribute]]:
    """Attributes that fail, in the order in which they were written; those that meet in one operand go together.

    So do those of one object that is no module: it stays where it is as a whole, and half of it moved helps nobody.
    """
    numbered = {stored.number: stored for stored in observations.stored.values()}
    uses: dict[tuple[object, ...], list[Use]] = {}
    above: dict[tuple[object, ...], tuple[object, ...]] = {}
    for mismatch in observations.mismatches:
        for operand in mismatch.cpu:
            origins = tuple(origin for origin in operand.origins if origin.attribute_id and origin.kind in _KINDS)
            if any(origin.kind == "parameter" and not origin.site_id for origin in origins):
                continue  # a parameter that is not registered, but kept in a container: DEV203 speaks
            if any(origin.kind == "batch" for origin in operand.origins):
                continue  # the batch has to move first
            if not origins or not operand.is_certain or _has_moved_siblings(observations, mismatch, operand, origins):
                continue
            own: dict[tuple[object, ...], list[Origin]] = {}
            for origin in origins:
                own.setdefault(_key(numbered[origin.attribute_id]), []).append(origin)
            for key, its in own.items():
                uses.setdefault(key, []).append(Use(mismatch, operand, tuple(its)))
                above[_top(above, key)] = _top(above, next(iter(own)))
    found: dict[tuple[object, ...], list[Attribute]] = {}
    attributes: dict[tuple[object, ...], Attribute] = {}
    for key, held in uses.items():
        stored = tuple(item for item in observations.stored.values() if _key(item) == key)
        attribute = Attribute(stored[0].name, stored, tuple(held))
        for owner in _plain_owners(attribute):
            above[_top(above, key)] = _top(above, owner)
        attributes[key] = attribute
    for key, attribute in attributes.items():
        found.setdefault(_top(above, key), []).append(attribute)
    for group in found.values():
        yield sorted(group, key=lambda attribute: attribute.point.time)


def _plain_owners(attribute: Attribute) -> Iterator[tuple[object, ...]]:
    """A key for each object that is no module and has the attribute."""
    memory = attribute.uses[0].memory
    for stored in attribute.stored:
        for ref in stored.owners:
            if memory.has(ref.id) and memory.heap_object(ref).kind == "instance":
                yield "object", ref.id


def _has_moved_siblings(
    observations: Observations, mismatch: DeviceMismatch, operand: Operand, origins: tuple[Origin, ...]
) -> bool:
    """Whether the value is one of several that a function gave, and the program moves the others: DEV101 speaks."""
    made = [origin for origin in origins if origin.kind == "made"]
    return any(
        made_siblings(observations, MisplacedItem(origin.site_id, origin.path, (mismatch,), (operand.text,)))
        for origin in made
    )


def _top(above: dict[tuple[object, ...], tuple[object, ...]], key: tuple[object, ...]) -> tuple[object, ...]:
    while above.setdefault(key, key) != key:
        key = above[key]
    return key


def _key(stored: AttributeStore) -> tuple[object, ...]:
    """The same for every place that writes one attribute of one class."""
    tree = stored.point.tree
    around = [node for node in tree.ancestors(stored.point.node) if isinstance(node, ast.ClassDef)]
    if around:
        return stored.name, around[0]
    return stored.name, stored.cls.node if stored.cls is not None else tree.path


def methods_of(cls: ClassValue) -> Iterator[tuple[SourceTree, ast.ClassDef, ast.FunctionDef]]:
    """The methods of a project class and of its project bases."""
    for base in mro(cls):
        if isinstance(base, ClassValue):
            for stmt in base.node.body:
                if isinstance(stmt, ast.FunctionDef):
                    yield base.module.tree, base.node, stmt
