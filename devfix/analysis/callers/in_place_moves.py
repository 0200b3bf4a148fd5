"""In-place moves of an object's modules, by syntax: ``self.vae.to("cpu")`` as a statement.

The result of such a statement is discarded, so what it moves is a module; a class that moves a module to the CPU and
to the accelerator decides itself where the module is at each moment.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis.domain.device_parsing import moves_to_cpu, target_of_move
from devfix.analysis.domain.records import dataclass
from devfix.syntax.tree import called_name, walk

__all__ = ["InPlaceMove", "in_place_moves", "names_cpu", "offloading_methods"]

_Method = ast.FunctionDef | ast.AsyncFunctionDef

# Words in names of devices on which modules wait for their next use: ``self.temp_device``, ``offload_device``
_WAITING_WORDS = frozenset("cpu temp offload offloading unload unloading idle host storage".split())


@dataclass(frozen=True)
class InPlaceMove:
    """A statement that moves a module of ``self``.

    Attributes:
        attribute: the first attribute of ``self``: ``model`` of ``self.model.vae.cpu()``.
        call: the call.
        to_cpu: whether the module goes to the CPU.

    """

    attribute: str
    call: ast.Call
    to_cpu: bool


def in_place_moves(method: _Method) -> Iterator[InPlaceMove]:
    """Yield the statements of a method that move a module of its object."""
    if not method.args.args:
        return
    receiver = method.args.args[0].arg
    for node in walk(method):
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            continue
        func = node.value.func
        if not isinstance(func, ast.Attribute) or func.attr not in ("to", "cpu", "cuda"):
            continue
        attribute = _first_attribute(func.value, receiver)
        if attribute is not None and (func.attr != "to" or node.value.args or node.value.keywords):
            yield InPlaceMove(attribute, node.value, _goes_to_cpu(node.value))


def offloading_methods(cls: ast.ClassDef) -> dict[str, _Method]:
    """Return the methods of a class that move a module to the CPU, themselves or through other methods of the class."""
    methods = {stmt.name: stmt for stmt in cls.body if isinstance(stmt, _Method)}
    found = {name for name, method in methods.items() if any(move.to_cpu for move in in_place_moves(method))}
    calls = {name: _called_methods(method) for name, method in methods.items()} if found else {}
    before = -1
    while before != (before := len(found)):
        found |= {name for name, called in calls.items() if not found.isdisjoint(called)}
    return {name: method for name, method in methods.items() if name in found}


def names_cpu(name: str) -> bool:
    """Return whether a device of this name is the one on which modules wait: ``temp_device``."""
    return not _WAITING_WORDS.isdisjoint(name.lower().split("_"))


def _first_attribute(node: ast.expr, receiver: str) -> str | None:
    """Return ``a`` of ``self.a.b``; ``None`` for other expressions."""
    name = ""
    while isinstance(node, ast.Attribute):
        name, node = node.attr, node.value
    return name if name and isinstance(node, ast.Name) and node.id == receiver else None


def _goes_to_cpu(call: ast.Call) -> bool:
    """Return whether a module is moved to the CPU, or where it waits: ``self.temp_device``."""
    target = target_of_move(call) if called_name(call) == "to" else None
    if isinstance(target, (ast.Name, ast.Attribute)):
        return names_cpu(target.attr if isinstance(target, ast.Attribute) else target.id)
    return moves_to_cpu(call)


def _called_methods(method: _Method) -> set[str]:
    """Return the names of the methods that a method calls on its own object."""
    receiver = method.args.args[0].arg if method.args.args else ""
    return {
        node.func.attr
        for node in walk(method)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == receiver
    }
