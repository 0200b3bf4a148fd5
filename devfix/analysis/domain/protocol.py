"""The protocol between transfer functions and the interpreter that runs them.

Transfer functions know this protocol and nothing of its implementation (:mod:`devfix.analysis.interpreter`): they
evaluate, call, bind and report.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from devfix.analysis.domain.location import Activation, ProgramPoint
    from devfix.analysis.domain.scenario import Scenario
    from devfix.analysis.domain.state import Base, State
    from devfix.analysis.domain.values import Device, HeapObject, Keywords, Pointer, Value
    from devfix.analysis.observations import Observations
    from devfix.analysis.program import Program, PythonModule

__all__ = ["Interpreter", "Loop", "TransferFunction", "Watch"]


@dataclass
class Loop:
    """States that leave the body of a loop early."""

    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)


class Interpreter(Protocol):
    """One abstract run of a program.

    Attributes:
        program: the files of the program.
        observations: grows during the run.
        scenario: the machine on which the program is followed.
        watch: called with each expression and its value, and with each bound target.
        state: the current path's state; ``None`` if no path leads on.
        activation: the innermost activation; ``None`` outside of any.
        loops: the loops around the current statement, outermost first.
        loop_depth: how many loops are being followed, over all activations.
        latent: whether the current code is reached by no call of the program.

    """

    program: Program
    observations: Observations
    scenario: Scenario
    watch: Watch | None
    base: Base
    state: State | None
    activation: Activation | None
    loops: list[Loop]
    loop_depth: int
    depth: int
    steps: int
    clock: int
    path_splits: int
    latent: bool
    called: set[ast.AST]
    imported_modules: int
    default_device: Device
    backend: str | None
    current_is_zero: bool
    grad_enabled: bool

    @property
    def now(self) -> State:
        """The current state; raises ``Unreachable`` if no path leads on."""

    @property
    def alive(self) -> bool:
        """Whether some path leads on."""

    def new(self, obj: HeapObject) -> Pointer:
        """Allocate an object on the heap."""

    def heap_object(self, ref: Pointer) -> HeapObject:
        """Return the object that a pointer leads to now."""

    def new_id(self) -> int:
        """Return a new identity."""

    def new_env(self) -> int:
        """Return a new, empty environment."""

    def point(self, node: ast.AST, with_state: bool = False) -> ProgramPoint:
        """Return the current program point at ``node``; with ``with_state``, it holds a fork of the state."""

    def spend_step(self) -> None:
        """Count one step; raises ``OutOfBudget`` if the budget is spent."""

    def lookup(self, name: str) -> Value | None:
        """Return the value of a name, from the innermost scope outwards; ``None`` if nothing binds it."""

    def global_name(self, module: PythonModule, name: str) -> Value | None:
        """Return a name of a module."""

    def bind(self, name: str, value: Value) -> None:
        """Bind a name where the current scope binds it."""

    def evaluate(self, node: ast.expr) -> Value:
        """Return the value of an expression."""

    def truth(self, node: ast.expr) -> bool | None:
        """Return whether a condition holds; ``None`` if the code does not tell."""

    def execute(self, body: list[ast.stmt]) -> None:
        """Execute statements."""

    def call(self, function: Value, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        """Call a value."""

    def attribute(self, value: Value, name: str, node: ast.AST) -> Value:
        """Return ``value.name``."""

    def set_attribute(
        self, base: Value, name: str, value: Value, node: ast.AST, weak: bool = False, source: ast.expr | None = None
    ) -> None:
        """Execute ``base.name = value``; with ``weak``, the attribute may also keep its old value."""

    def set_item(self, base: Value, key: Value, value: Value, node: ast.AST) -> None:
        """Execute ``base[key] = value``."""

    def element(self, value: Value, node: ast.AST, moved: frozenset[str] = frozenset()) -> Value:
        """Return one value that stands for every element of an iterable."""

    def elements(self, value: Value, node: ast.AST) -> list[Value] | None:
        """Return the elements of an iterable one by one; ``None`` if they are unknown or too many."""

    def call_forward(self, ref: Pointer, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
        """Call the ``forward`` that a module's class defines."""

    def escape(self, values: Iterable[Value]) -> None:
        """Pass values to code that cannot be read: modules and tensors in them may be moved there."""

    def within(self, activation: Activation) -> AbstractContextManager[None]:
        """Make ``activation`` the current one."""

    def gradients(self, enabled: bool) -> AbstractContextManager[None]:
        """Follow the body with gradients enabled or disabled."""

    def imported(self, name: str, level: int = 0) -> Value:
        """Return what ``import name`` gives."""

    def run_body(self, module: PythonModule) -> None:
        """Run the body of a module."""


#: Models a call of an external function: interpreter, full name, positional and keyword arguments, call expression.
TransferFunction = Callable[[Interpreter, str, "list[Value]", "Keywords", ast.Call], "Value"]

#: Called with the interpreter, an expression and its value.
Watch = Callable[[Interpreter, ast.expr, "Value"], None]
