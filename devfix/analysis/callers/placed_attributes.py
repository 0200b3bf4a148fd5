"""Attributes that a method with a device argument places: ``scheduler.set_timesteps(50, device=device)``.

Objects that are no modules have no ``to``; a method that is told the device takes its part.  Callers call it before
they use what it places, so the device of these attributes is not known here.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.callers.arguments import Kind
from devfix.analysis.callers.file_names import names_of
from devfix.analysis.callers.kinds import argument_kinds
from devfix.analysis.domain.values import Pointer, anywhere
from devfix.syntax.tree import SourceTree, walk

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter
    from devfix.analysis.domain.values import ClassValue

__all__ = ["forget_placed", "placed_attributes"]


def forget_placed(interp: Interpreter, cls: ClassValue, instance: Pointer) -> None:
    """Make the device of attributes unknown that a method with a device argument places."""
    fields = interp.heap_object(instance).fields
    for name in placed_attributes(cls.node, cls.module.tree) & fields.keys():
        interp.now.set_field(instance, name, anywhere(fields[name]))


def placed_attributes(owner: ast.ClassDef, tree: SourceTree) -> frozenset[str]:
    """Return the attributes that methods with a device argument set, constructors aside."""
    names = names_of(tree)
    found: set[str] = set()
    for each in names.lineage(owner):
        for method in each.body:
            if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) and method.name != "__init__":
                kinds = argument_kinds(method, each, tree).values()
                if any(argument.kind is Kind.DEVICE for argument in kinds):
                    found |= {
                        node.attr
                        for node in walk(method)
                        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
                    }
    return frozenset(found)
