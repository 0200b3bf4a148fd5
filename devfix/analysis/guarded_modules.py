"""Modules that the methods of a class bring back from the CPU before they use them, by syntax.

``if self.vae.device == torch.device("cpu"): self.vae.to(self.device)`` says that the module may wait on the CPU when
a method is called.  A method of the class that uses the module without that finds it there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis.callers.in_place_moves import in_place_moves
from devfix.analysis.domain.classes import mro
from devfix.analysis.domain.device_parsing import parse_device
from devfix.analysis.domain.records import dataclass
from devfix.analysis.domain.values import CPU, ClassValue
from devfix.syntax.tree import SourceTree, walk

__all__ = ["UnguardedUse", "guards_modules", "unguarded_uses"]

_Method = ast.FunctionDef | ast.AsyncFunctionDef

_LEAST_GUARDS = 2  # methods that bring a module back
_RUNS = frozenset({"encode", "decode", "forward", "generate"})
_NEUTRAL = frozenset({"print", "len", "isinstance", "hasattr", "getattr", "id", "type", "next"})


@dataclass(frozen=True, eq=False)
class UnguardedUse:
    """A use of a module that other methods bring back from the CPU first.

    Attributes:
        tree: the file of the use.
        module: the module: ``self.vae``.
        use: the call that uses it.
        guard: the statement that brings it back in another method.
        guard_tree: the file of that statement.

    """

    tree: SourceTree
    module: str
    use: ast.Call
    guard: ast.If
    guard_tree: SourceTree


def guards_modules(tree: SourceTree) -> bool:
    """Return whether a method of a file brings a module back from the CPU."""
    if ".device" not in tree.text or ".to(" not in tree.text:
        return False
    classes = (stmt for stmt in tree.tree.body if isinstance(stmt, ast.ClassDef))
    return any(_guarded(node) for cls in classes for node in walk(cls) if isinstance(node, ast.If))


def unguarded_uses(cls: ClassValue) -> Iterator[UnguardedUse]:
    """Yield the uses of modules in the methods of a class, without those of its bases."""
    methods = [
        (base.module.tree, stmt)
        for base in mro(cls)
        if isinstance(base, ClassValue)
        for stmt in base.node.body
        if isinstance(stmt, _Method)
    ]
    guards: dict[str, list[tuple[SourceTree, ast.If]]] = {}
    for tree, method in methods:
        own = {_guarded(node): node for node in walk(method) if isinstance(node, ast.If)}
        for name, guard in own.items():
            if name:
                guards.setdefault(name, []).append((tree, guard))
    for name, known in guards.items():
        if len(known) >= _LEAST_GUARDS:
            moving = {method.name for _, method in methods if _moves(method, name)}
            called = {each for _, method in methods if method.name in moving for each in _called(method)}
            for stmt in cls.node.body:
                if isinstance(stmt, _Method) and stmt.name not in moving | called | {"__init__"}:
                    yield from _uses(cls.module.tree, stmt, name, moving, known)


def _uses(
    tree: SourceTree, method: _Method, name: str, moving: set[str], known: list[tuple[SourceTree, ast.If]]
) -> Iterator[UnguardedUse]:
    """Yield the first use of a module in a method that calls no other one which moves it."""
    uses = [node for node in walk(method) if isinstance(node, ast.Call) and _runs(node, name)]
    if uses and moving.isdisjoint(_called(method)):
        first = min(uses, key=lambda node: (node.lineno, node.col_offset))
        copied = [pair for pair in known if _names(pair[1]) <= {"self", "torch"}]
        guard_tree, guard = next((pair for pair in copied if pair[0] is tree), (copied or known)[0])
        yield UnguardedUse(tree, f"self.{name}", first, guard, guard_tree)


def _guarded(node: ast.If) -> str:
    """Return the attribute that a statement brings back from the CPU; ``""`` for other statements."""
    match node.test:
        case ast.Compare(left=ast.Attribute(attr="device" | "type") as left, ops=[ast.Eq()], comparators=[other]):
            owner = left.value if left.attr == "device" else getattr(left.value, "value", None)
        case _:
            return ""
    if isinstance(other, ast.Call) and other.args:
        other = other.args[0]
    if not (isinstance(other, ast.Constant) and isinstance(other.value, str) and parse_device(other.value) == CPU):
        return ""
    name = _attribute(owner)
    moved = [stmt.value for stmt in node.body if isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call)]
    receivers = [call.func.value for call in moved if isinstance(call.func, ast.Attribute) and call.func.attr == "to"]
    return name if name and any(_attribute(receiver) == name for receiver in receivers) else ""


def _attribute(node: ast.AST | None) -> str:
    """Return ``vae`` of ``self.vae``."""
    match node:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name
    return ""


def _moves(method: _Method, name: str) -> bool:
    return any(move.attribute == name and not move.to_cpu for move in in_place_moves(method))


def _called(method: _Method) -> set[str]:
    """Return the methods of its own object that a method calls."""
    return {_attribute(node.func) for node in walk(method) if isinstance(node, ast.Call)} - {""}


def _runs(call: ast.Call, name: str) -> bool:
    """Return whether a call runs a module: the module, a method of it, or a function that gets it beside its input."""
    func = call.func
    if _attribute(func) == name:
        return True
    if isinstance(func, ast.Attribute):
        return func.attr in _RUNS and _attribute(func.value) == name
    is_function = isinstance(func, ast.Name) and func.id.islower() and func.id not in _NEUTRAL
    return is_function and len(call.args) > 1 and any(_attribute(argument) == name for argument in call.args)


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in walk(node) if isinstance(each, ast.Name)}
