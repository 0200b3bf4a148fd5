"""The abstract interpreter: executes a program on abstract values with devices.

In the main scenario, one accelerator is available and the program uses it (``torch.cuda.is_available()`` is true).  The
interpreter follows both branches of an unknown condition, and executes loop bodies until a round brings nothing new.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

from devfix.analysis.domain.location import Activation, CallFrame, ProgramPoint
from devfix.analysis.domain.objects import HeapObject
from devfix.analysis.domain.protocol import Loop, Watch
from devfix.analysis.domain.scenario import ONE_ACCELERATOR, Scenario
from devfix.analysis.domain.state import Base, State, Unreachable
from devfix.analysis.domain.values import (
    Device,
    External,
    Function,
    Namespace,
    Pointer,
    Unknown,
    Value,
    alternatives,
)
from devfix.analysis.observations import Observation, Observations, Subscription
from devfix.analysis.observations.execution import Escaped
from devfix.analysis.observations.subscriptions import Handlers
from devfix.analysis.program import Program, PythonModule
from devfix.analysis.transfer import (
    assignment,
    attributes,
    calls,
    conditions,
    expressions,
    imports,
    iteration,
    opaque_objects,
    statements,
)
from devfix.analysis.transfer.summaries import Summary

__all__ = ["STEP_BUDGET", "AbstractInterpreter", "OutOfBudget"]

STEP_BUDGET = 500_000  # a bound for what is not foreseen: training scripts of 1,500 lines take 320,000
SPARE_STEPS = 4_000  # for rounds of loops beyond the second

DefinedFunction = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

Seen = TypeVar("Seen", bound=Observation)


class OutOfBudget(Exception):
    """The step budget is spent before the program ends."""


class AbstractInterpreter:
    """One execution in one scenario; implements :class:`devfix.analysis.domain.protocol.Interpreter`."""

    def __init__(
        self,
        program: Program,
        observations: Observations,
        step_budget: int = STEP_BUDGET,
        scenario: Scenario = ONE_ACCELERATOR,
        watch: Watch | None = None,
        subscriptions: Iterable[Subscription[Any]] = (),
    ) -> None:
        self.program = program
        self.watch = watch
        self._handlers = Handlers(subscriptions)
        self.scenario = scenario
        self.observations = observations
        self.base = Base()
        self.state: State | None = State(self.base)
        self.activation: Activation | None = None
        self.steps = 0
        self.direct_call: ast.Call | None = None
        self.step_budget = step_budget
        self.spare_steps = SPARE_STEPS
        self.clock = 0
        self.depth = 0
        self.loop_depth = 0
        self.round_start = 0
        self.path_splits = 0
        self.loops: list[Loop] = []
        self.latent = False
        self.summaries: dict[DefinedFunction, Summary] = {}
        self.cached: dict[object, Value] = {}
        self.registered: list[Function] = []
        self.unfollowed: set[int] = set()
        self.visited: set[ast.AST] = set()
        self.called: dict[DefinedFunction, str] = {}
        self.imported_modules = 0
        self._next = 0

    # --- state ------------------------------------------------------------------------------------------------
    @property
    def now(self) -> State:
        """Return the current state; raise ``Unreachable`` if there is none."""
        if self.state is None:
            raise Unreachable
        return self.state

    @property
    def alive(self) -> bool:
        """Return whether the current point is reachable."""
        return self.state is not None

    @property
    def default_device(self) -> Device:
        """Return the device of new tensors without ``device=`` on the current path."""
        return self.now.runtime.default_device

    def new_id(self) -> int:
        """Return a new identifier for a heap object or environment."""
        self._next += 1
        return self._next

    def new(self, obj: HeapObject) -> Pointer:
        """Allocate an object on the heap."""
        pointer = Pointer(self.new_id())
        self.now.write(pointer.id, obj)
        return pointer

    def heap_object(self, pointer: Pointer) -> HeapObject:
        """Return the object at a pointer in the current state."""
        if self.state is None:
            raise Unreachable
        return self.state.at(pointer.id)

    def new_env(self) -> int:
        """Create an empty environment and return its identifier."""
        key = self.new_id()
        self.now.add_env(key)
        return key

    # --- position ---------------------------------------------------------------------------------------------
    def point(self, node: ast.AST, with_state: bool = False) -> ProgramPoint:
        """Return the current program point at ``node``; with ``with_state``, it holds a fork of the state."""
        self.clock += 1
        activation = self.activation
        assert activation is not None
        call_stack = activation.callers()
        if activation.stmt is not None:
            call_stack = (*call_stack, CallFrame(activation, activation.stmt))
        state = self.now.fork() if with_state else None
        return ProgramPoint(self.clock, activation.module.tree, node, call_stack, state)

    def observe(self, observation: Seen) -> Seen:
        """Hand an observation to the rules that subscribe to its type; return it with the value that they leave."""
        return self._handlers.notify(self, observation)

    @contextmanager
    def spared(self) -> Iterator[None]:
        """Take the steps of the body from the spare ones."""
        before = self.steps
        self.step_budget += SPARE_STEPS
        try:
            yield
        finally:
            self.spare_steps -= self.steps - before
            self.steps = before
            self.step_budget -= SPARE_STEPS

    def count_handled(self) -> None:
        """Count the work of joins, copies and searches since the last time as steps."""
        self.steps += self.base.handled
        self.base.handled = 0

    def give_up(self) -> NoReturn:
        """Raise :class:`OutOfBudget`, because the budget is spent."""
        self.observations.is_complete = False
        raise OutOfBudget

    # --- names ------------------------------------------------------------------------------------------------
    def lookup(self, name: str) -> Value | None:
        """Return the value of a name, from the innermost scope outwards; ``None`` if nothing binds it."""
        activation = self.activation
        assert activation is not None
        state = self.now
        found = state.lookup(activation.env, name)
        if found is None and activation.function is not None:
            for key in reversed(activation.function.scope):
                found = state.lookup(key, name)
                if found is not None:
                    break
        found = imports.used(self, found)
        return found if found is not None else self.global_name(activation.module, name)

    def global_name(self, module: PythonModule, name: str) -> Value | None:
        """Return the value of a module's name, evaluated on first use; ``None`` if nothing binds it."""
        known = imports.used(self, self.now.lookup(module.env, name))
        if known is not None:
            return known
        seen: set[str] = set()  # modules may import everything from each other
        pending, libraries = [module], list[str]()
        while pending:
            current = pending.pop(0)
            if current.path in seen:
                continue
            seen.add(current.path)
            found = imports.used(self, self.now.lookup(current.env, name))
            if found is None and current.waiting is not None:
                imports.evaluate_name(self, current, name)
                found = imports.used(self, self.now.lookup(current.env, name))
            if found is not None:
                return found
            pending = [*(current.stars if not name.startswith("_") else ()), *pending]
            libraries += current.star_libraries
        return imports.name_of_library(libraries, name)

    def bind(self, name: str, value: Value) -> None:
        """Bind a name in the scope that declares it, with respect to ``global`` and ``nonlocal``."""
        activation = self.activation
        assert activation is not None
        key = activation.env
        declared = statements.declared_names(activation.node)
        if name in declared:
            key = activation.module.env
            if declared[name] == "nonlocal" and activation.function is not None:
                for scope in reversed(activation.function.scope):
                    if self.now.lookup(scope, name) is not None:
                        key = scope
                        break
        self.now.bind(key, name, value)

    # --- execution --------------------------------------------------------------------------------------------
    # Methods that are the transfer functions themselves: half of all calls go through them.
    evaluate = expressions.evaluate
    truth = conditions.truth
    execute = statements.execute
    call = calls.call
    call_forward = calls.call_forward
    attribute = attributes.attribute
    set_attribute = assignment.set_attribute
    set_item = assignment.set_item
    element = iteration.element
    elements = iteration.elements

    def escape(self, values: Iterable[Value], depth: int = 0) -> None:
        """Pass values to code that cannot be read."""
        for value in values:
            for option in alternatives(value):
                if isinstance(option, Pointer):
                    self.observe(Escaped(option))
                    self.heap_object(option).escape(self, option, depth)

    def new_opaque(self, name: str, node: ast.AST | None = None, **facts: Any) -> Pointer:
        """Create an object of an unknown class on an unknown device."""
        return opaque_objects.new(self, name, node, **facts)

    @contextmanager
    def within(self, activation: Activation) -> Iterator[None]:
        """Make ``activation`` the current one."""
        outer, loops, self.activation, self.loops = self.activation, self.loops, activation, []
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
            self.activation, self.loops = outer, loops

    @contextmanager
    def restored(self, **settings: Any) -> Iterator[None]:
        """Give settings of PyTorch these values on every path that leaves the body: ``with torch.no_grad():``."""
        assert self.activation is not None
        returns, loop = self.activation.returns, self.loops[-1] if self.loops else Loop(0)
        exits = [len(states) for states in (returns, loop.breaks, loop.continues)]
        yield
        left = [state for state, _ in returns[exits[0] :]]
        for state in (self.state, *left, *loop.breaks[exits[1] :], *loop.continues[exits[2] :]):
            if state is not None:
                state.set_runtime(**settings)

    def import_module(self, module: PythonModule) -> Value:
        """Import a project file, once, and return its namespace."""
        if not module.env:
            imports.start(self, module)
        return Namespace(module)

    def run_body(self, module: PythonModule) -> None:
        """Execute the body of a module."""
        activation = Activation(module.env, module, parent=self.activation)
        with self.within(activation):
            before = self.state
            self.execute(module.tree.tree.body)
            if self.state is None:
                self.state = before

    def imported(self, name: str, level: int = 0) -> Value:
        """Return the value of ``import name``: a project file's namespace, or an external module."""
        assert self.activation is not None
        module = self.program.find(name, self.activation.module, level)
        if module is not None:
            return self.import_module(module)
        return External(name) if not level else Unknown(f"import.{name}")
