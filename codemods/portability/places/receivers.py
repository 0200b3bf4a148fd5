"""Whether ``cuda`` is a method of tensors and modules at a call, or of a class of the program."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from codemods.portability._torch_names import named
from devfix.analysis import Observations
from devfix.syntax.tree import SourceTree

__all__ = ["Receivers"]


#: Classes of PyTorch that modules of programs pass on: ``from common import *``.
_TENSORS = ("Variable", "Parameter", "Tensor", "FloatTensor", "LongTensor")


@dataclass(frozen=True)
class Receivers:
    """The values that a file moves.

    Attributes:
        tree: the file.
        placed: calls that the analysis saw placing a tensor or a module.
        classes: the classes of the program, and whether each defines a method ``cuda``.

    """

    tree: SourceTree
    placed: frozenset[ast.Call]
    classes: dict[str, bool]

    @classmethod
    def of(cls, observations: Observations) -> Receivers:
        """Return the values of the entry file of a program."""
        classes = [(tree, node) for tree in observations.trees for node in tree.nodes if isinstance(node, ast.ClassDef)]
        return cls(
            observations.trees[0],
            frozenset(call for call, devices in observations.device_assignments.items() if devices),
            {node.name: _defines_cuda(node) for _, node in classes},
        )

    def may_have_own_cuda(self, call: ast.Call, receiver: ast.expr) -> bool:
        """Return whether a receiver may be an object of the program that defines ``cuda`` itself.

        It may if it is built by a class that defines it, or by one that is imported from elsewhere. If nothing is
        known of it, it may if any class of the program does.
        """
        if any(self.classes.get(_class_name(each)) for each in self._built(receiver)):
            return True
        if call in self.placed or named(self.tree, _base(receiver)).startswith("torch."):
            return False
        built = [receiver] if isinstance(receiver, ast.Call) else self._built(receiver)
        names = [name for each in built if (name := _class_name(each))]
        if names and all(name in _TENSORS and name not in self.classes for name in names):
            return False
        if any(named(self.tree, each.func).startswith("torch.") for each in built if isinstance(each, ast.Call)):
            return False
        if names:
            imported = self.tree.derived(_imported_names)
            return any(self.classes.get(name, name in imported or "*" in imported) for name in names)
        return any(self.classes.values())

    def _built(self, receiver: ast.expr) -> list[ast.expr]:
        """Return what the file assigns to the name or attribute that is moved."""
        if not isinstance(receiver, (ast.Name, ast.Attribute)):
            return []
        text = ast.unparse(receiver)
        return self.tree.derived(_assigned).get(text, [])


def _defines_cuda(node: ast.ClassDef) -> bool:
    return any(isinstance(stmt, ast.FunctionDef) and stmt.name == "cuda" for stmt in node.body)


def _imported_names(tree: SourceTree) -> frozenset[str]:
    """Return the names that a file imports from other modules than PyTorch's; ``*`` if it imports all of one."""
    return frozenset(
        alias.asname or alias.name
        for node in tree.nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] != "torch"
        for alias in node.names
    )


def _assigned(tree: SourceTree) -> dict[str, list[ast.expr]]:
    """Return the values that are assigned to each name and attribute of a file."""
    found: dict[str, list[ast.expr]] = {}
    for node in tree.nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, (ast.Name, ast.Attribute)):
                    found.setdefault(ast.unparse(target), []).append(node.value)
    return found


def _base(node: ast.expr) -> ast.expr:
    """Return the function of the first call in a chain: ``torch.rand`` of ``torch.rand(3).view(-1)[0]``."""
    found = node
    while isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Call):
            found = node.func
        node = node.func if isinstance(node, ast.Call) else node.value
    return found


def _class_name(node: ast.expr) -> str:
    """Return the name of the class that a call builds, by its spelling; empty for other values."""
    if not isinstance(node, ast.Call):
        return ""
    func = node.func
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    return name if name.lstrip("_")[:1].isupper() else ""
