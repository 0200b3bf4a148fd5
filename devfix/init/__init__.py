"""Setup of devfix in a repository (``devfix init``): configuration, pre-commit hook, CI workflow, instructions for
coding agents.

Input: the root of a repository.  Output: :class:`Step` objects: files to create, or lines to add to existing files,
whose present content keeps its meaning.

May import :mod:`devfix.model` and :mod:`devfix.sources`.
"""

from devfix.init._steps import Addition, Present, Refused, Step
from devfix.init.agent import agent
from devfix.init.configuration import configuration
from devfix.init.detect import Selection, detect_steps
from devfix.init.hook import hook
from devfix.init.workflow import WORKFLOWS, workflow

__all__ = [
    "WORKFLOWS",
    "Addition",
    "Present",
    "Refused",
    "Selection",
    "Step",
    "agent",
    "configuration",
    "detect_steps",
    "hook",
    "workflow",
]
