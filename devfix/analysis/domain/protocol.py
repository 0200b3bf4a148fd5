"""The protocol between transfer functions and the interpreter that runs them.

Transfer functions depend on this protocol, not on its implementation (:mod:`devfix.analysis.interpreter`): they
evaluate, call, bind and report.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import field
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

from devfix.analysis.domain.records import dataclass

if TYPE_CHECKING:
    from devfix.analysis.domain.location import Activation, ProgramPoint
    from devfix.analysis.domain.objects import HeapObject
    from devfix.analysis.domain.scenario import Scenario
    from devfix.analysis.domain.state import Base, State
    from devfix.analysis.domain.values import Device, Function, Keywords, Pointer, Value
    from devfix.analysis.observations import Observation, Observations
    from devfix.analysis.program import Program, PythonModule

__all__ = ["Interpreter", "Loop", "TransferFunction", "Watch"]

Seen = TypeVar("Seen", bound="Observation")


@dataclass
class Loop:
    """States that leave the body of a loop early; ``start`` is the latest identifier before the outermost loop."""

    start: int
    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)


class Interpreter(Protocol):
    """One abstract run of a program.

    Attributes:
        program: the files of the program.
        observations: what has been recorded so far.
        scenario: the machine that the run assumes.
        watch: called with each expression and its value, and with each bound target.
        base: definitions of imported modules, shared by all paths.
        state: the current path's state; ``None`` if the current point is unreachable.
        activation: the innermost activation; ``None`` outside of any.
        loops: the loops around the current statement in this activation, outermost first.
        loop_depth: number of loops being executed, over all activations.
        round_start: the round of the innermost of these loops has made the objects with identifiers above it.
        depth: number of nested activations.
        steps: number of steps spent of the budget.
        direct_call: the call that the code itself makes, with the arguments written there; ``None`` in a library.
        step_budget: number of steps after which the run is given up.
        spare_steps: number of steps left for rounds of loops beyond the second.
        clock: time of the latest program point.
        path_splits: number of branches executed to the end of their block on separate paths.
        latent: whether a finding here is latent: no program calls the code, and what its callers pass is a guess.
        summaries: what the calls of functions have done so far.
        cached: results of functions that keep them, by function and arguments.
        registered: functions that a decorator of an object of a library has got, which calls them later.
        unfollowed: objects whose constructor was not followed again: their attributes are not known.
        visited: the functions called so far.
        called: the functions called so far with tensors or modules on known devices, with the paths of their files.
        imported_modules: number of project modules imported so far.

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
    round_start: int
    depth: int
    steps: int
    direct_call: ast.Call | None
    step_budget: int
    spare_steps: int
    clock: int
    path_splits: int
    latent: bool
    summaries: dict[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, Any]  # a Summary of the layer above
    cached: dict[object, Value]
    registered: list[Function]
    unfollowed: set[int]
    visited: set[ast.AST]
    called: dict[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, str]
    imported_modules: int

    @property
    def default_device(self) -> Device:
        """Return the device of new tensors without ``device=`` on the current path."""

    @property
    def now(self) -> State:
        """Return the current state; raises ``Unreachable`` if there is none."""

    @property
    def alive(self) -> bool:
        """Return whether the current point is reachable."""

    def new(self, obj: HeapObject) -> Pointer:
        """Allocate an object on the heap."""

    def heap_object(self, pointer: Pointer) -> HeapObject:
        """Return the object at a pointer in the current state."""

    def new_id(self) -> int:
        """Return a new identifier for a heap object or environment."""

    def new_env(self) -> int:
        """Create an empty environment and return its identifier."""

    def point(self, node: ast.AST, with_state: bool = False) -> ProgramPoint:
        """Return the current program point at ``node``; with ``with_state``, it holds a fork of the state."""

    def observe(self, observation: Seen) -> Seen:
        """Hand an observation to the rules that subscribe to its type; return it with the value that they leave."""

    def count_handled(self) -> None:
        """Count the work of joins, copies and searches since the last time as steps."""

    def spared(self) -> AbstractContextManager[None]:
        """Take the steps of the body from the spare ones."""

    def give_up(self) -> NoReturn:
        """Raise ``OutOfBudget``, because the budget is spent."""

    def lookup(self, name: str) -> Value | None:
        """Return the value of a name, from the innermost scope outwards; ``None`` if nothing binds it."""

    def global_name(self, module: PythonModule, name: str) -> Value | None:
        """Return the value of a module's name; ``None`` if nothing binds it."""

    def bind(self, name: str, value: Value) -> None:
        """Bind a name where the current scope binds it."""

    def evaluate(self, node: ast.expr) -> Value:
        """Return the value of an expression."""

    def truth(self, node: ast.expr) -> bool | None:
        """Return whether a condition holds; ``None`` if unknown."""

    def execute(self, body: list[ast.stmt]) -> None:
        """Execute statements."""

    def call(self, function: Value, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        """Call a value."""

    def attribute(self, value: Value, name: str, node: ast.AST) -> Value:
        """Return ``value.name``."""

    def set_attribute(
        self, base: Value, name: str, value: Value, node: ast.AST, weak: bool = False, source: ast.expr | None = None
    ) -> None:
        """Execute ``base.name = value``; with ``weak``, the old value remains an alternative."""

    def set_item(self, base: Value, key: Value, value: Value, node: ast.AST) -> None:
        """Execute ``base[key] = value``."""

    def element(self, value: Value, node: ast.AST, moved: frozenset[str] = frozenset()) -> Value:
        """Return one value that represents every element of an iterable."""

    def elements(self, value: Value, node: ast.AST) -> list[Value] | None:
        """Return the elements of an iterable one by one; ``None`` if they are unknown or too many."""

    def call_forward(self, pointer: Pointer, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
        """Call the ``forward`` that a module's class defines."""

    def escape(self, values: Iterable[Value], depth: int = 0) -> None:
        """Pass values to code that cannot be read: modules and tensors in them may be moved there."""

    def new_opaque(self, name: str, node: ast.AST | None = None, **facts: Any) -> Pointer:
        """Create an object of an unknown class on an unknown device, with facts of its kind."""

    def within(self, activation: Activation) -> AbstractContextManager[None]:
        """Make ``activation`` the current one."""

    def restored(self, **settings: Any) -> AbstractContextManager[None]:
        """Give settings of PyTorch these values on every path that leaves the body."""

    def imported(self, name: str, level: int = 0) -> Value:
        """Return the value of ``import name``: a project module, or an external name."""

    def run_body(self, module: PythonModule) -> None:
        """Run the body of a module."""


#: Models a call of an external function: interpreter, full name, positional and keyword arguments, call expression.
TransferFunction = Callable[[Interpreter, str, "list[Value]", "Keywords", ast.Call], "Value"]

#: Called with the interpreter, an expression and its value.
Watch = Callable[[Interpreter, ast.expr, "Value"], None]
