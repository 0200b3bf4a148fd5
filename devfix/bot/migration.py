"""PullRequest requests for migrated repositories (:mod:`devfix.migrate.proposing` loads this module by name)."""

from __future__ import annotations

import os
from pathlib import Path

from devfix.bot.analysis import Analysis, evidence
from devfix.bot.artifact import build_artifact
from devfix.bot.branches import parse_forge_url, propose_branch
from devfix.bot.skip_reasons import BotError, Skipped
from devfix.migrate.proposing import ProposalError
from devfix.migrate.record import VerdictSummary
from devfix.migrate.task import Task
from devfix.model import Outcome

__all__ = ["propose"]


def propose(task: Task, outcome: Outcome, verdict: VerdictSummary | None, commit: str, diff: bytes, tree: Path) -> str:
    """Implement :class:`devfix.migrate.proposing.Proposer`."""
    document = None if verdict is None else evidence(verdict)
    analysis = Analysis(outcome, document, "" if document else "the plan has no script that verifies it")
    publishing = task.publishing
    try:
        environment = parse_forge_url(task.source, os.environ)
        artifact = build_artifact(analysis, environment, commit, commit, diff)
        return propose_branch(
            task.source, publishing.branch, task.ref, publishing.message, artifact.manifest, artifact.patch, tree
        )
    except (BotError, Skipped) as error:
        raise ProposalError(str(error)) from error
