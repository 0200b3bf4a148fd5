"""Stages that may move a module of an object, and the statement that restores its placement beside them, by syntax.

An object that was built with a module, ``self.loader = make_loader(self.model)``, may move the module whenever one of
its methods runs.  If a class moves that module to the CPU itself, and restores its placement beside other calls of the
same method, then a call without the restoring statement leaves the module where the stage has put it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis.callers.in_place_moves import in_place_moves
from devfix.analysis.domain.records import dataclass
from devfix.syntax.tree import SourceTree, position, walk

__all__ = ["UnrestoredStage", "unrestored_stages"]

_Method = ast.FunctionDef | ast.AsyncFunctionDef

_DEVICE_WORDS = frozenset({"device", "devices", "cuda", "gpu", "accelerator"})
_LEAST_RESTORED = 2  # calls of the stage beside which the placement is restored


@dataclass(frozen=True, eq=False)
class UnrestoredStage:
    """A call of a stage after which a module is used without restoring its placement.

    Attributes:
        tree: the file.
        module: the module: ``self.model``.
        stage: the call of the stage.
        use: the statement of the same block that uses the module.
        anchor: the statement after which the placement can be restored.
        restore: the statement that does so in other places.
        restored: another call of the stage, which the restoring statement follows.

    """

    tree: SourceTree
    module: str
    stage: ast.Expr
    use: ast.stmt
    anchor: ast.stmt
    restore: ast.Expr
    restored: ast.Expr


def unrestored_stages(tree: SourceTree, cls: ast.ClassDef) -> Iterator[UnrestoredStage]:
    """Yield the calls of stages in a class after which no statement restores the placement of a module."""
    methods = [stmt for stmt in cls.body if isinstance(stmt, _Method)]
    moved = [move for method in methods for move in in_place_moves(method) if move.to_cpu]
    receivers = (move.call.func.value for move in moved if isinstance(move.call.func, ast.Attribute))
    for module in dict.fromkeys(map(ast.unparse, receivers)):
        if module.count(".") == 1:
            yield from _Stages(tree, methods, module).unrestored()


class _Stages:
    """The stages of a class that may move one of its modules."""

    def __init__(self, tree: SourceTree, methods: list[_Method], module: str) -> None:
        self._tree = tree
        self._methods = methods
        self._module = module
        self._holders = {name for method in methods for name in self._held_by(method)}

    def unrestored(self) -> Iterator[UnrestoredStage]:
        """Yield the calls without a restoring statement, of stages that have one in most places."""
        restoring = [method for method in self._methods if any(self._restores(stmt) for stmt in walk(method))]
        used = {name for method in restoring for name in self._uses(method)}
        pairs = [pair for method in restoring for pair in self._restored(method)]
        for method in self._methods:
            if method in restoring:
                continue
            for stage in self._stages(method):
                same = [pair for pair in pairs if _method_name(pair[0]) == _method_name(stage)]
                following = [(call, restore) for call, restore in same if position(restore) > position(call)]
                if len({call for call, _ in same}) >= _LEAST_RESTORED and following:
                    yield from self._used_after(method, stage, used, *following[0])

    def _used_after(
        self, method: _Method, stage: ast.Expr, used: set[str], restored: ast.Expr, restore: ast.Expr
    ) -> Iterator[UnrestoredStage]:
        _, block, index = self._tree.block(stage)
        for number, stmt in enumerate(block[index + 1 :], index + 1):
            if not used.isdisjoint(self._uses(stmt)):
                exits = (each for each in reversed(block[index + 1 : number]) if _may_leave(each))
                anchor = next(exits, stage)
                yield UnrestoredStage(self._tree, self._module, stage, stmt, anchor, restore, restored)
                return

    def _held_by(self, method: _Method) -> Iterator[str]:
        """Yield the attributes whose values are built with the module."""
        for node in walk(method):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and self._passes_module(node.value):
                yield from (ast.unparse(target) for target in node.targets if isinstance(target, ast.Attribute))

    def _passes_module(self, call: ast.Call) -> bool:
        values = (*call.args, *(keyword.value for keyword in call.keywords))
        return any(isinstance(value, ast.Attribute) and ast.unparse(value) == self._module for value in values)

    def _restores(self, stmt: ast.AST) -> bool:
        """Return whether a statement places the module: ``setup_device(self.model)``."""
        name = _method_name(stmt) if isinstance(stmt, ast.Expr) else ""
        if not name or not isinstance(stmt, ast.Expr) or not isinstance(stmt.value, ast.Call):
            return False
        return not _DEVICE_WORDS.isdisjoint(name.lower().split("_")) and self._passes_module(stmt.value)

    def _stages(self, method: _Method) -> Iterator[ast.Expr]:
        """Yield the statements that call an object which was built with the module."""
        for node in walk(method):
            if isinstance(node, ast.Expr) and _method_name(node) and not self._restores(node):
                receiver: ast.expr = node.value
                while isinstance(receiver, (ast.Call, ast.Attribute)) and ast.unparse(receiver) not in self._holders:
                    receiver = receiver.func if isinstance(receiver, ast.Call) else receiver.value
                if isinstance(receiver, ast.Attribute):
                    yield node

    def _restored(self, method: _Method) -> Iterator[tuple[ast.Expr, ast.Expr]]:
        """Yield the calls of stages with the restoring statement directly before or after them."""
        for stage in self._stages(method):
            _, block, index = self._tree.block(stage)
            for beside in (*block[index + 1 : index + 2], *block[max(index - 1, 0) : index]):
                if isinstance(beside, ast.Expr) and self._restores(beside):
                    yield stage, beside
                    break

    def _uses(self, node: ast.AST) -> set[str]:
        """Return the methods that get the module, without those that place it."""
        calls = (each for each in walk(node) if isinstance(each, ast.Call) and self._passes_module(each))
        names = {call.func.attr for call in calls if isinstance(call.func, ast.Attribute)}
        return {name for name in names if _DEVICE_WORDS.isdisjoint(name.lower().split("_"))}


def _method_name(stmt: ast.Expr) -> str:
    """Return the method that a statement calls; ``""`` for other statements."""
    value = stmt.value
    return value.func.attr if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) else ""


def _may_leave(stmt: ast.stmt) -> bool:
    """Return whether a statement may leave the function."""
    return any(isinstance(node, (ast.Return, ast.Raise)) for node in walk(stmt))
