"""Following devices through a program: ``ast`` in, facts out.  Standard library only."""

from __future__ import annotations

from collections.abc import Callable

from devfix.analysis import scenarios
from devfix.analysis.domain.protocol import Interpreter, Watch
from devfix.analysis.domain.scenario import MULTI_ACCELERATOR, NO_ACCELERATOR, ONE_ACCELERATOR, Scenario
from devfix.analysis.domain.state import Unreachable
from devfix.analysis.domain.values import Const
from devfix.analysis.interpreter import AbstractInterpreter, OutOfBudget
from devfix.analysis.observations import Observations
from devfix.analysis.program import Program, Reader
from devfix.syntax.tree import SourceTree

__all__ = ["Interpreter", "Observations", "Watch", "analyse"]


def analyse(
    path: str,
    read: Reader,
    root: str,
    latent: bool = False,
    device: str | None = None,
    parse: Callable[[str, str], SourceTree] = SourceTree,
    watch: Watch | None = None,
) -> Observations | None:
    """Run the program that starts at ``path`` on abstract values.

    ``read`` gives a file's text or ``None``; ``root`` bounds the project.  With ``latent``, functions that the run
    does not reach are run with unknown arguments afterwards.  ``None`` where the file cannot be parsed.
    ``watch`` sees every value of every run (``interp.scenario`` tells on which machine); what it raises
    ends the analysis.
    """
    parsed: dict[str, SourceTree] = {}

    def parse_once(name: str, text: str) -> SourceTree:
        if name not in parsed:
            parsed[name] = parse(name, text)
        return parsed[name]

    program = Program(read, root, parse_once)
    observations = Observations(path, preferred_device=device)
    if not _follow(program, observations, latent, watch=watch):
        return None
    observations.current_device = scenarios.says_current(program.trees())
    if scenarios.may_contradict(observations, program.trees()):
        observations.no_accelerator = Observations(
            path, preferred_device=device, foreign_index=observations.foreign_index
        )
        _follow(Program(read, root, parse_once), observations.no_accelerator, False, NO_ACCELERATOR, watch)
    if scenarios.names_several(program.trees()):
        observations.multi_accelerator = Observations(path, preferred_device=device)
        _follow(Program(read, root, parse_once), observations.multi_accelerator, False, MULTI_ACCELERATOR, watch)
    return observations


def _follow(
    program: Program,
    observations: Observations,
    latent: bool,
    scenario: Scenario = ONE_ACCELERATOR,
    watch: Watch | None = None,
) -> bool:
    """Fill ``observations`` with one run of a program; false where its file cannot be parsed."""
    module = program.entry(observations.path)
    if module is None:
        return False
    interp = AbstractInterpreter(program, observations, scenario=scenario, watch=watch)
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
