"""Pull requests for migrated repositories (:mod:`devfix.migrate.proposing` loads this module by name)."""

from __future__ import annotations

import os
from pathlib import Path

from devfix.bot.analysis import Analysis, evidence
from devfix.bot.artifact import manifest
from devfix.bot.branches import host_of, propose_for
from devfix.bot.skip_reasons import BotError, LeftAlone
from devfix.migrate.proposing import ProposalError
from devfix.migrate.record import VerdictSummary
from devfix.migrate.task import Task
from devfix.model import Outcome

__all__ = ["propose"]


def propose(task: Task, outcome: Outcome, verdict: VerdictSummary | None, commit: str, diff: bytes, tree: Path) -> str:
    """Implement :class:`devfix.migrate.proposing.Proposer`."""
    shown = None if verdict is None else evidence(verdict)
    analysis = Analysis(outcome, shown, "" if shown else "the plan names no script that proves it")
    wanted = task.publishing
    try:
        around = host_of(task.source, os.environ)
        made = manifest(analysis, around, commit, commit, diff)
        return propose_for(task.source, wanted.branch, task.ref, wanted.message, made.manifest, made.patch, tree)
    except (BotError, LeftAlone) as error:
        raise ProposalError(str(error)) from error
