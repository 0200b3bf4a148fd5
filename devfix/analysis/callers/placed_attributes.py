"""Attributes that a method places: ``scheduler.set_timesteps(50, device=device)``, ``self.model.to(self.device)``.

Objects that are no modules have no ``to``; a method that is told the device, or that moves a part, takes its part.
Callers call it before they use what it places, so the device of these attributes is not known here.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from devfix.analysis.callers.arguments import Kind
from devfix.analysis.callers.file_names import names_of
from devfix.analysis.callers.kinds import argument_kinds
from devfix.analysis.domain.objects import module_at
from devfix.analysis.domain.values import Pointer, alternatives, anywhere
from devfix.analysis.torch import modules
from devfix.syntax.tree import SourceTree, walk

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter
    from devfix.analysis.domain.values import ClassValue

__all__ = ["forget_placed", "placed_attributes"]

_Method = ast.FunctionDef | ast.AsyncFunctionDef


def forget_placed(interp: Interpreter, cls: ClassValue, instance: Pointer, builders: Collection[ast.AST]) -> None:
    """Make the device of attributes unknown that a method with a device argument places, and of modules it moves.

    ``builders`` are the functions that the constructor has called: what these place is known.
    """
    fields = interp.heap_object(instance).fields
    for name in placed_attributes(cls.node, cls.module.tree, builders) & fields.keys():
        interp.now.set_field(instance, name, anywhere(fields[name]))
    for name in _moved_attributes(cls.node, cls.module.tree, builders) & fields.keys():
        for value in alternatives(fields[name]):
            if isinstance(value, Pointer) and module_at(interp, value) is not None:
                modules.forget_device(interp, value)


def placed_attributes(owner: ast.ClassDef, tree: SourceTree, builders: Collection[ast.AST] = ()) -> frozenset[str]:
    """Return the attributes that methods with a device argument set, constructors and what they call aside."""
    found: set[str] = set()
    for cls, method in _methods(owner, tree, builders):
        kinds = argument_kinds(method, cls, tree).values()
        if any(argument.kind is Kind.DEVICE for argument in kinds):
            stored = (node for node in walk(method) if isinstance(node, ast.Attribute))
            found |= {node.attr for node in stored if isinstance(node.ctx, ast.Store)}
    return frozenset(found)


def _moved_attributes(owner: ast.ClassDef, tree: SourceTree, builders: Collection[ast.AST]) -> frozenset[str]:
    """Return the attributes that methods move, those that build it aside: ``self.model.to(self.device)``."""
    found: set[str] = set()
    for _, method in _methods(owner, tree, builders):
        for node in walk(method):
            match node:
                case ast.Call(func=ast.Attribute(attr="to" | "cuda", value=ast.Attribute(attr=name, value=owner_name))):
                    if isinstance(owner_name, ast.Name) and owner_name.id == "self":
                        found.add(name)
    return frozenset(found)


def _methods(
    owner: ast.ClassDef, tree: SourceTree, builders: Collection[ast.AST]
) -> Iterator[tuple[ast.ClassDef, _Method]]:
    """Yield the methods of a class and its bases in the file, each with its class; those that build it aside."""
    for cls in names_of(tree).lineage(owner):
        for method in cls.body:
            if isinstance(method, _Method) and method.name != "__init__" and method not in builders:
                yield cls, method
