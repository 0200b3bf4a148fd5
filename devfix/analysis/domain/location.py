"""Where something happened: the node, and the calls that led there."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devfix.model import Event, Span
from devfix.syntax.tree import SourceTree, position

if TYPE_CHECKING:
    from devfix.analysis.domain.state import State
    from devfix.analysis.domain.values import Function, Value
    from devfix.analysis.program import PythonModule

__all__ = ["Activation", "CallFrame", "ProgramPoint"]


@dataclass(eq=False)
class Activation:
    """One activation of a function (or of a module body): its environment and the statement that it executes.

    ``left`` holds its names when it returned; ``None`` while it runs.
    """

    env: int
    module: PythonModule
    function: Function | None = None
    stmt: ast.stmt | None = None
    parent: Activation | None = None
    returns: list[tuple[object, Value]] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)
    generator: bool = False
    final_locals: dict[str, Value] | None = None

    @property
    def node(self) -> ast.AST:
        """The function's node, or the module's."""
        return self.function.node if self.function is not None else self.module.tree.tree


@dataclass(frozen=True, eq=False)
class CallFrame:
    """One level of the stack at a moment: the frame and its statement."""

    activation: Activation
    stmt: ast.stmt

    @property
    def tree(self) -> SourceTree:
        """The file in which the statement stands."""
        return self.activation.module.tree


@dataclass(frozen=True, eq=False)
class ProgramPoint:
    """A moment of the run: ``time`` counts moments, ``node`` is what was executed, ``call_stack`` the stack, outermost
    first.  ``state`` holds the names and objects of that moment where a fix may ask for them.
    """

    time: int
    tree: SourceTree
    node: ast.AST
    call_stack: tuple[CallFrame, ...]
    state: State | None = None

    @property
    def call_frame(self) -> CallFrame:
        """The innermost level."""
        return self.call_stack[-1]

    @property
    def call_path(self) -> tuple[ast.stmt, ...]:
        """The statements that led here: the same for calls from the same places."""
        return tuple(call_frame.stmt for call_frame in self.call_stack)

    @property
    def stmt(self) -> ast.stmt:
        """The innermost statement."""
        return self.call_stack[-1].stmt

    @property
    def key(self) -> tuple[str, int, int]:
        """File, line and column: the same for every visit of the same place."""
        return self.tree.path, *position(self.node)

    @property
    def span(self) -> Span:
        """The node's span."""
        return self.tree.span(self.node)

    def event(self, kind: str, note: str) -> Event:
        """The moment as a step of a finding's path."""
        span = self.span
        return Event(kind, self.tree.path, span.line, span.column, self.tree.line(span.line), note)
