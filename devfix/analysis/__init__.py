"""Static device analysis: an abstract interpreter that follows devices through a program.

Input: the path of an entry script and a function that reads files.  Output: :class:`Observations`, on which rules and
fixes work.

May import :mod:`devfix.models`, :mod:`devfix.syntax` and the standard library.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from devfix.analysis import scenarios
from devfix.analysis.domain.protocol import Interpreter, Watch
from devfix.analysis.domain.scenario import MULTI_ACCELERATOR, NO_ACCELERATOR, ONE_ACCELERATOR, Scenario
from devfix.analysis.domain.state import Unreachable
from devfix.analysis.domain.values import Const
from devfix.analysis.interpreter import AbstractInterpreter, OutOfBudget
from devfix.analysis.observations import Observations, Subscription
from devfix.analysis.program import Program, Reader
from devfix.syntax.tree import SourceTree

__all__ = ["Interpreter", "Observations", "OutOfBudget", "Subscription", "Unreachable", "Watch", "analyse"]


def analyse(
    path: str,
    read: Reader,
    root: str,
    latent: bool = False,
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
        latent: also interpret functions that the program does not call, with unknown arguments.
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
    if not _follow(program, observations, latent, watch=watch, subscriptions=subscriptions):
        return None
    observations.sets_current_device = scenarios.sets_current_device(program.trees())
    if scenarios.may_conflict(observations, program.trees()):
        observations.no_accelerator = Observations(
            path, preferred_device=device, foreign_index=observations.foreign_index
        )
        _follow(
            Program(read, root, parse_once), observations.no_accelerator, False, NO_ACCELERATOR, watch, subscriptions
        )
    if scenarios.names_several_accelerators(program.trees()):
        observations.multi_accelerator = Observations(path, preferred_device=device)
        _follow(
            Program(read, root, parse_once),
            observations.multi_accelerator,
            False,
            MULTI_ACCELERATOR,
            watch,
            subscriptions,
        )
    return observations


def _follow(
    program: Program,
    observations: Observations,
    latent: bool,
    scenario: Scenario = ONE_ACCELERATOR,
    watch: Watch | None = None,
    subscriptions: Sequence[Subscription[Any]] = (),
) -> bool:
    """Interpret the program in one scenario and fill ``observations``; return false if its file cannot be parsed."""
    module = program.entry(observations.path)
    if module is None:
        return False
    interp = AbstractInterpreter(program, observations, scenario=scenario, watch=watch, subscriptions=subscriptions)
    module.env = interp.new_env()
    interp.now.bind(module.env, "__name__", Const("__main__"))
    try:
        interp.run_body(module)
        if latent:
            interp.run_unreached(module)
    except (OutOfBudget, Unreachable):
        pass
    observations.folders.update(program.folders)
    return True
