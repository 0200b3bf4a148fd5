"""The interface for opening pull requests, which the bot implements.

The bot imports migrate, so its implementation is loaded by name.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Protocol

from devfix.migrate.record import VerdictSummary
from devfix.migrate.task import Task
from devfix.model import Outcome

__all__ = ["ProposalError", "Proposer", "proposer"]

_IMPLEMENTATION = "devfix.bot.migration"


class ProposalError(Exception):
    """The pull request could not be opened: the message says why."""


class Proposer(Protocol):
    """Open the pull request of a pushed branch, or update the open one, and return its URL.

    Raises:
        ProposalError: the forge is unknown, there is no token, or the pull request was refused.

    """

    def __call__(
        self, task: Task, outcome: Outcome, verdict: VerdictSummary | None, commit: str, diff: bytes, tree: Path
    ) -> str: ...


def proposer() -> Proposer:
    """Load the implementation.

    Raises:
        ImportError: a package of the ``bot`` extra is missing.

    """
    found: Proposer = importlib.import_module(_IMPLEMENTATION).propose
    return found
