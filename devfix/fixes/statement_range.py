"""The statements between the construction of a module and its first use."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from devfix.analysis.domain.location import CallFrame
from devfix.analysis.domain.objects import Module, module_at
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import Pointer, alternatives
from devfix.analysis.observations import DeviceMismatch
from devfix.fixes.module_move import ModuleMove, is_bound_ahead
from devfix.fixes.modules.module_roots import RootModule
from devfix.fixes.reorder import common_block
from devfix.syntax.bindings import binds

__all__ = ["StatementRange"]


class StatementRange:
    """The block after the statement that binds a root module to its name."""

    def __init__(
        self, mismatch: DeviceMismatch, root: RootModule, call_frame: CallFrame, statement: ast.stmt, name: str
    ) -> None:
        self.mismatch = mismatch
        self.root = root
        self.call_frame = call_frame
        self.name = name
        self.statement = statement
        _, self.block, self.index = call_frame.tree.block(statement)

    def index_of(self, statement: ast.stmt) -> int | None:
        """Return the index in the block of a statement, or of the one that contains it; ``None`` if there is none."""
        found = common_block(self.call_frame.tree, self.statement, statement)
        return found[2] if found is not None and found[0] is self.block else None

    @cached_property
    def limit(self) -> int:
        """Index of the first later statement that takes over the module: an optimizer, a copy, a wrapper, a use."""
        for index in range(self.index + 1, len(self.block)):
            if self._takes_over(self.block[index]):
                return index
        return len(self.block)

    @cached_property
    def changes(self) -> list[int]:
        """Indices of the statements that replace or add parts of the module."""
        memory = self.mismatch.point.state
        assert memory is not None
        found = []
        for module in _parts(memory, self.root.id, set()):
            attached = module.attached_at
            if attached is None or attached.time < self.root.allocated_at.time:
                continue
            for call_frame in attached.call_stack:
                index = self.index_of(call_frame.stmt) if call_frame.activation is self.call_frame.activation else None
                if index is not None and index > self.index:
                    found.append(index)
        return found

    @cached_property
    def loads(self) -> list[int]:
        """Indices of the statements before the first use that load a checkpoint into the module."""
        return [
            index
            for index in range(self.index + 1, self.limit)
            if any(_loads(node, self.name) for node in ast.walk(self.block[index]))
        ]

    def start(self, move: ModuleMove, loaded: bool = True) -> int | None:
        """Return the index of the statement to insert the move after; ``None`` if its names are never bound.

        Without ``loaded``, a checkpoint may be loaded after the move: its weights are copied to the module's device.
        """
        first = max([self.index, *self.changes, *(self.loads if loaded else [])])
        for index in range(first, len(self.block)):
            following = self.block[index + 1] if index + 1 < len(self.block) else None
            if following is not None and move.is_bound_before(self.call_frame, following):
                return index
            if following is None and all(
                is_bound_ahead(self.call_frame, self.block[index], name) or binds(self.block[index], name)
                for name in move.names
            ):
                return index if not isinstance(self.block[index], (ast.Return, ast.Raise)) else None
        return None

    def _takes_over(self, statement: ast.stmt) -> bool:
        if isinstance(statement, (ast.Return, ast.Raise, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return isinstance(statement, (ast.Return, ast.Raise))
        used = [
            call_frame.stmt
            for call_frame in self.mismatch.point.call_stack
            if call_frame.activation is self.call_frame.activation
        ]
        inner = list(ast.walk(statement))
        if any(node is stmt for stmt in used for node in inner) or self._calls(inner):
            return True
        return any(self._keeps(node) for node in inner if isinstance(node, (ast.Assign, ast.AnnAssign)))

    def _calls(self, nodes: list[ast.AST]) -> bool:
        return any(isinstance(node, ast.Call) and ast.unparse(node.func) == self.name for node in nodes)

    def _keeps(self, statement: ast.Assign | ast.AnnAssign) -> bool:
        """Return whether an assignment creates a new object from the module or from its parameters."""
        if statement.value is None:
            return False
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if any(self._is_own(target) for target in targets):
            return False
        text = {ast.unparse(node) for node in ast.walk(statement.value) if isinstance(node, (ast.Name, ast.Attribute))}
        parameters = any(f"{self.name}.{way}" in text for way in ("parameters", "named_parameters", "state_dict"))
        return parameters or any(_bare(self.call_frame, node, self.name) for node in ast.walk(statement.value))

    def _is_own(self, target: ast.AST) -> bool:
        """``model.fc = …``, ``model[2] = …``, ``model = model.eval()``."""
        while isinstance(target, (ast.Attribute, ast.Subscript)) and ast.unparse(target) != self.name:
            target = target.value
        return ast.unparse(target) == self.name


def _bare(call_frame: CallFrame, node: ast.AST, name: str) -> bool:
    """Return whether a node is the module itself, not an attribute of it."""
    if not isinstance(node, (ast.Name, ast.Attribute)) or ast.unparse(node) != name:
        return False
    return not isinstance(call_frame.tree.parents.get(node), ast.Attribute)


def _loads(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == f"{name}.load_state_dict"


def _parts(memory: State, key: int, seen: set[int]) -> Iterator[Module]:
    module = module_at(memory, Pointer(key)) if memory.has(key) else None
    if key in seen or module is None:
        return
    seen.add(key)
    yield module
    for value in module.contents:
        for option in alternatives(value):
            if isinstance(option, Pointer):
                yield from _parts(memory, option.id, seen)
