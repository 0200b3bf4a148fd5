"""Following devices through a program: ``ast`` in, facts out.  Standard library only."""

from __future__ import annotations

from collections.abc import Callable

from devfix.analysis import scenarios
from devfix.analysis.domain.state import DeadPath
from devfix.analysis.domain.values import Const
from devfix.analysis.interpreter import Interpreter, OutOfBudget, Watch
from devfix.analysis.observations import Facts
from devfix.analysis.program import Program, Reader
from devfix.syntax.tree import SourceTree

__all__ = ["Facts", "Interpreter", "Watch", "analyse"]


def analyse(
    path: str,
    read: Reader,
    root: str,
    latent: bool = False,
    device: str | None = None,
    parse: Callable[[str, str], SourceTree] = SourceTree,
    watch: Watch | None = None,
) -> Facts | None:
    """Run the program that starts at ``path`` on abstract values.

    ``read`` gives a file's text or ``None``; ``root`` bounds the project.  With ``latent``, functions that the run
    does not reach are run with unknown arguments afterwards.  ``None`` where the file cannot be parsed.
    ``watch`` sees every value of every run (``run.elsewhere`` and ``run.two`` tell the further machines); what it
    raises ends the analysis.
    """
    parsed: dict[str, SourceTree] = {}

    def parse_once(name: str, text: str) -> SourceTree:
        if name not in parsed:
            parsed[name] = parse(name, text)
        return parsed[name]

    program = Program(read, root, parse_once)
    facts = Facts(path, preferred_device=device)
    if not _follow(program, facts, latent, watch=watch):
        return None
    facts.current_device = scenarios.says_current(program.trees())
    if scenarios.may_contradict(facts, program.trees()):
        facts.elsewhere = Facts(path, preferred_device=device, foreign_index=facts.foreign_index)
        _follow(Program(read, root, parse_once), facts.elsewhere, latent=False, elsewhere=True, watch=watch)
    if scenarios.names_several(program.trees()):
        facts.two = Facts(path, preferred_device=device)
        _follow(Program(read, root, parse_once), facts.two, latent=False, two=True, watch=watch)
    return facts


def _follow(
    program: Program,
    facts: Facts,
    latent: bool,
    elsewhere: bool = False,
    two: bool = False,
    watch: Watch | None = None,
) -> bool:
    """Fill ``facts`` with one run of a program; false where its file cannot be parsed."""
    module = program.entry(facts.path)
    if module is None:
        return False
    run = Interpreter(program, facts, elsewhere=elsewhere, two=two, watch=watch)
    module.env = run.new_env()
    run.now.bind(module.env, "__name__", Const("__main__"))
    try:
        run.run_body(module)
        if latent:
            run.run_unreached(module)
    except (OutOfBudget, DeadPath):
        pass
    facts.folders.update(program.folders)
    return True
