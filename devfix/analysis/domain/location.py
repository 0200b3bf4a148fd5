"""Program points: a node, and the calls that lead to it."""

from __future__ import annotations

import ast
from dataclasses import field
from typing import TYPE_CHECKING

from devfix.analysis.domain.records import dataclass
from devfix.model import Event, Span
from devfix.syntax.tree import SourceTree, position

if TYPE_CHECKING:
    from devfix.analysis.domain.state import State
    from devfix.analysis.domain.values import Function, Value
    from devfix.analysis.program import PythonModule

__all__ = ["Activation", "CallFrame", "ConfiguredCall", "ProgramPoint"]


class ConfiguredCall(ast.Call):
    """A call that a configuration file describes, at the place of the code that loads the file.

    ``entry`` is the path of keys in the file.
    """

    entry: str = ""


@dataclass(eq=False)
class Activation:
    """One activation of a function or of a module body: its environment and its current statement.

    ``final_locals`` holds its names when it returned; ``None`` while it runs.
    """

    env: int
    module: PythonModule
    function: Function | None = None
    stmt: ast.stmt | None = None
    parent: Activation | None = None
    returns: list[tuple[State, Value]] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)
    generator: bool = False
    final_locals: dict[str, Value] | None = None
    _callers: tuple[CallFrame, ...] = ()

    def callers(self) -> tuple[CallFrame, ...]:
        """Return the call stack outside this activation, outermost frame first; points share its frames."""
        parent = self.parent
        if parent is None:
            return ()
        outer = parent.callers()
        if parent.stmt is None:
            return outer
        known = self._callers
        if len(known) != len(outer) + 1 or known[-1].stmt is not parent.stmt or (outer and known[-2] is not outer[-1]):
            self._callers = (*outer, CallFrame(parent, parent.stmt))
        return self._callers

    @property
    def node(self) -> ast.AST:
        """Return the function's node, or the module's."""
        return self.function.node if self.function is not None else self.module.tree.tree


@dataclass(frozen=True, eq=False, slots=True)
class CallFrame:
    """One frame of a call stack: the activation and the statement that it executed."""

    activation: Activation
    stmt: ast.stmt

    @property
    def tree(self) -> SourceTree:
        """Return the file of the statement."""
        return self.activation.module.tree


@dataclass(frozen=True, eq=False, slots=True)
class ProgramPoint:
    """One step of the run.

    Attributes:
        time: number of the step; later steps have higher numbers.
        tree: the file of ``node``.
        node: the executed node.
        call_stack: the call stack, outermost frame first.
        state: names and objects at this step, if a fix may need them.

    """

    time: int
    tree: SourceTree
    node: ast.AST
    call_stack: tuple[CallFrame, ...]
    state: State | None = None

    @property
    def call_frame(self) -> CallFrame:
        """Return the innermost frame."""
        return self.call_stack[-1]

    @property
    def call_path(self) -> tuple[ast.stmt, ...]:
        """Return the statements of the call stack; calls from the same statements have the same path."""
        return tuple(call_frame.stmt for call_frame in self.call_stack)

    @property
    def stmt(self) -> ast.stmt:
        """Return the innermost statement."""
        return self.call_stack[-1].stmt

    @property
    def key(self) -> tuple[str, int, int]:
        """Return file, line and column, which are the same for every visit of the node."""
        return self.tree.path, *position(self.node)

    @property
    def span(self) -> Span:
        """Return the node's span."""
        return self.tree.span(self.node)

    def event(self, kind: str, note: str) -> Event:
        """Return this point as a step of a finding's path."""
        return self.tree.event(kind, self.node, note)
