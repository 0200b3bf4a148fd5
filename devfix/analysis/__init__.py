"""Static device analysis: an abstract interpreter that follows devices through a program.

Input: the path of an entry script and a function that reads files.  Output: :class:`Observations`, on which rules and
fixes work.

May import :mod:`devfix.models`, :mod:`devfix.syntax` and the standard library.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Any

from devfix.analysis import scenarios
from devfix.analysis.callers.any_caller import call_definitions
from devfix.analysis.callers.coverage import coverage_of_library, coverage_of_program
from devfix.analysis.callers.facts.device_facts import DeviceFacts
from devfix.analysis.callers.offloading import call_offloading_methods, offloads_modules
from devfix.analysis.domain.protocol import Interpreter, Watch
from devfix.analysis.domain.scenario import MULTI_ACCELERATOR, NO_ACCELERATOR, ONE_ACCELERATOR, Scenario
from devfix.analysis.domain.state import Unreachable
from devfix.analysis.domain.values import ClassValue, Const
from devfix.analysis.guarded_modules import guards_modules, unguarded_uses
from devfix.analysis.interpreter import STEP_BUDGET, AbstractInterpreter, OutOfBudget
from devfix.analysis.observations import Observations, Subscription
from devfix.analysis.program import Program, PythonModule, Reader, merge_lookups
from devfix.analysis.torch.releases import named_release
from devfix.analysis.torch.saved_states import saves_on_cpu
from devfix.analysis.working_devices import ignored_devices, mixed_placements
from devfix.syntax.tree import SourceTree, implicit_call

__all__ = [
    "DeviceFacts",
    "Interpreter",
    "Observations",
    "OutOfBudget",
    "Program",
    "Subscription",
    "Unreachable",
    "Watch",
    "analyse",
    "analyse_library",
]

STEPS_OF_REPETITIONS = 120_000  # of a program, for other scenarios, or for functions of a script that others call


def analyse(
    path: str,
    read: Reader,
    root: str,
    device: str | None = None,
    parse: Callable[[str, str], SourceTree] = SourceTree,
    watch: Watch | None = None,
    subscriptions: Sequence[Subscription[Any]] = (),
) -> Observations | None:
    """Interpret the program that starts at ``path`` on abstract values, in each scenario that applies.

    Args:
        path: the entry script.
        read: returns the text of a file, ``None`` if it cannot be read.
        root: the project's folder; files outside it are not followed.
        device: the device that fixes prefer, if the user configured one.
        parse: returns the tree of a path and its text; raises ``SyntaxError``.
        watch: called with the value of each expression in each scenario (``interp.scenario``); an exception that it
            raises ends the analysis.
        subscriptions: called with observations as they are made, in each scenario; rules bring them.

    Returns:
        The observations, or ``None`` if the entry script cannot be read or parsed.

    """
    parsed: dict[str, SourceTree] = {}

    def parse_once(name: str, text: str) -> SourceTree:
        if name not in parsed:
            parsed[name] = parse(name, text)
        return parsed[name]

    program = Program(read, root, parse_once)
    observations = Observations(path, preferred_device=device)
    if not _follow(program, observations, watch=watch, subscriptions=subscriptions):
        return None
    for configuration in range(1, program.configurations):
        another = Observations(path, preferred_device=device)
        other = Program(read, root, parse_once, configuration)
        _follow(other, another, watch=watch, subscriptions=subscriptions)
        observations.configured.append(another)
        observations.reached |= another.reached
        observations.may_use_second |= another.may_use_second
        merge_lookups(observations.lookups, another.lookups)
    observations.sets_current_device = scenarios.sets_current_device(program.trees())
    if scenarios.may_conflict(observations, program.trees()):
        observations.no_accelerator = Observations(
            path, preferred_device=device, foreign_index=observations.foreign_index
        )
        program = Program(read, root, parse_once)
        _follow(program, observations.no_accelerator, NO_ACCELERATOR, watch=watch, subscriptions=subscriptions)
    may_differ = observations.may_use_second or not observations.is_complete
    if may_differ and scenarios.names_several_accelerators(program.trees()):
        observations.multi_accelerator = Observations(path, preferred_device=device)
        program = Program(read, root, parse_once)
        _follow(program, observations.multi_accelerator, MULTI_ACCELERATOR, watch=watch, subscriptions=subscriptions)
    return observations


def analyse_library(
    path: str,
    read: Reader,
    root: str,
    reached: Collection[tuple[str, int]] = (),
    device: str | None = None,
    parse: Callable[[str, str], SourceTree] = SourceTree,
    watch: Watch | None = None,
    subscriptions: Sequence[Subscription[Any]] = (),
    facts: DeviceFacts | None = None,
) -> Observations | None:
    """Interpret the functions of a file as any caller with an accelerator would call them.

    Args:
        path: the file.
        read: returns the text of a file, ``None`` if it cannot be read.
        root: the project's folder; files outside it are not followed.
        reached: path and line of functions that programs call; they are left out.
        device: the device that fixes prefer, if the user configured one.
        parse: returns the tree of a path and its text; raises ``SyntaxError``.
        watch: called with the value of each expression.
        subscriptions: called with observations as they are made; rules bring them.
        facts: the functions that can make a difference between devices; found if they are not given.

    Returns:
        The observations, or ``None`` if the file cannot be read or parsed.

    """
    observations = Observations(path, preferred_device=device, is_library=True)
    left_out = frozenset(reached)
    if facts is None or watch is not None or not facts.is_transparent(path):
        program = Program(read, root, parse)
        if not _follow(program, observations, ONE_ACCELERATOR, left_out, watch, subscriptions, facts):
            return None
    elif (module := facts.module(path)) is not None:
        observations.coverage = coverage_of_library(module, facts, (), ())
    program = Program(read, root, parse)
    module = program.entry(path)
    if module is not None:
        observations.trees = (module.tree,)
        called = {line for file, line in left_out if file == os.path.abspath(path)}
        for placement in (*mixed_placements(module.tree), *ignored_devices(module.tree, called)):
            observations.record(placement)
        observations.offloading = _offloading(program, module, observations, left_out, subscriptions)
    return observations


def _call_registered(interp: AbstractInterpreter) -> None:
    """Call the functions that a library calls after the program's last line: those that handle requests, commands."""
    for function in interp.registered:
        end = interp.state
        if end is not None and function.node not in interp.called:
            interp.state = end.fork()
            with suppress(OutOfBudget, Unreachable):
                interp.call(function, [], {}, implicit_call(function.node))
            interp.state = end


def _offloading(
    program: Program,
    module: PythonModule,
    observations: Observations,
    reached: frozenset[tuple[str, int]],
    subscriptions: Sequence[Subscription[Any]],
) -> Observations | None:
    """Return the observations of objects that offload their modules; ``None`` if the file has no class of them."""
    if not offloads_modules(module.tree) and not guards_modules(module.tree):
        return None
    found = Observations(observations.path, preferred_device=observations.preferred_device, is_library=True)
    interp = AbstractInterpreter(program, found, subscriptions=subscriptions)
    module.env = interp.new_env()
    interp.now.bind(module.env, "__name__", Const("library"))
    with suppress(OutOfBudget, Unreachable):
        interp.run_body(module)
        for value in interp.now.names(module.env).values():
            for use in unguarded_uses(value) if isinstance(value, ClassValue) and value.module is module else ():
                found.record(use)
        call_offloading_methods(interp, module, reached)
    merge_lookups(observations.lookups, program.lookups)
    return found


def _follow(
    program: Program,
    observations: Observations,
    scenario: Scenario = ONE_ACCELERATOR,
    left_out: frozenset[tuple[str, int]] | None = None,
    watch: Watch | None = None,
    subscriptions: Sequence[Subscription[Any]] = (),
    facts: DeviceFacts | None = None,
) -> bool:
    """Interpret a file in one scenario and fill ``observations``; return false if it cannot be parsed.

    The file is a program, or, with ``left_out``, a library: its functions are called, except those.
    """
    module = program.entry(observations.path)
    if module is None:
        return False
    is_first = scenario == ONE_ACCELERATOR and left_out is None
    budget = STEP_BUDGET if is_first else STEPS_OF_REPETITIONS
    interp = AbstractInterpreter(program, observations, budget, scenario, watch, subscriptions)
    module.env = interp.new_env()
    interp.now.bind(module.env, "__name__", Const("__main__" if left_out is None else "library"))
    with suppress(OutOfBudget, Unreachable):
        interp.run_body(module)
    if left_out is None:
        _call_registered(interp)
    observations.reached.update((os.path.abspath(path), node.lineno) for node, path in interp.called.items())
    if left_out is None:
        observations.trees = tuple(program.trees())
        observations.coverage = coverage_of_program(module, interp.visited)
    else:
        observations.coverage = call_definitions(interp, module, left_out, whole=watch is not None, facts=facts)
    observations.release = named_release(program)
    if any(not (loading.is_mapped or loading.round_trip) for loading in observations.loadings.values()):
        observations.saves_on_cpu = saves_on_cpu(program)
    merge_lookups(observations.lookups, program.lookups)
    return True
