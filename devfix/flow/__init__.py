"""Following devices through a program: ``ast`` in, facts out.  Standard library only."""

from __future__ import annotations

from collections.abc import Callable

from devfix.flow.facts import Facts
from devfix.flow.interpreter import Interpreter, OutOfBudget
from devfix.flow.program import Program, Reader
from devfix.flow.statements import DeadPath
from devfix.flow.syntax import SourceTree
from devfix.flow.values import Const

__all__ = ["Facts", "analyse"]


def analyse(
    path: str,
    read: Reader,
    root: str,
    latent: bool = False,
    device: str | None = None,
    parse: Callable[[str, str], SourceTree] = SourceTree,
) -> Facts | None:
    """Run the program that starts at ``path`` on abstract values.

    ``read`` gives a file's text or ``None``; ``root`` bounds the project.  With ``latent``, functions that the run
    does not reach are run with unknown arguments afterwards.  ``None`` where the file cannot be parsed.
    """
    program = Program(read, root, parse)
    module = program.entry(path)
    if module is None:
        return None
    facts = Facts(path, preferred_device=device)
    run = Interpreter(program, facts)
    module.env = run.new_env()
    run.now.bind(module.env, "__name__", Const("__main__"))
    try:
        run.run_body(module)
        if latent:
            run.run_unreached(module)
    except (OutOfBudget, DeadPath):
        pass
    facts.folders.update(program.folders)
    return facts
