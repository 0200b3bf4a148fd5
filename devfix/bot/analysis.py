"""What there is to say about a checkout: findings, a patch, and what runs prove of it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from devfix import config, sources
from devfix.bot.hunk_groups import Part, parts_of
from devfix.bot.paths import refusal
from devfix.engine import fixpoint
from devfix.engine.scan import Identity, identity
from devfix.model import FileChange, Finding, Outcome, Resolution, Status
from devfix.vcs.git import Git, GitError

if TYPE_CHECKING:
    from devfix.engine.changed_lines import Scope
    from devfix.migrate.record import RunSummary, VerdictSummary
    from devfix.migrate.task import Verification

__all__ = ["Analysis", "analyse", "evidence"]

_PATH = re.compile(r", (?:/|[A-Z]:\\)[^,]*$")  # of the interpreter, which is of this machine alone


@dataclass(frozen=True)
class Analysis:
    """What was found, with paths relative to the repository.

    Attributes:
        outcome: findings, what becomes of them, and the patch, of which nothing is written.
        evidence: what runs prove, as in schema/artifact-2.json; ``None`` where nothing was run.
        not_verified: why nothing was proved, in a sentence; empty where it was.
        parts: which hunks of the patch belong together; empty where nobody has asked, and all do.

    """

    outcome: Outcome
    evidence: Mapping[str, Any] | None = None
    not_verified: str = ""
    parts: tuple[Part, ...] = ()

    @property
    def diff(self) -> bytes:
        """The patch, for ``git apply``."""
        from devfix.vcs import unified_diff

        return unified_diff.unified(self.outcome.patch)

    @property
    def files(self) -> tuple[FileChange, ...]:
        """The changed files."""
        return self.outcome.patch.files


def analyse(
    paths: Sequence[str],
    verification: Verification | None = None,
    *,
    scope: Scope | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    jobs: int = 1,
    apart: bool = False,
) -> Analysis:
    """Analyse the repository that is the current folder; nothing is written.

    Args:
        paths: what is looked at, within the repository.
        verification: how the patch is proved: what is not proved is not in it. ``None`` for not at all.
        scope: what of it counts; ``None`` for everything.
        select: codes of the only rules, instead of the configured ones.
        ignore: codes of rules that are left out, too.
        jobs: worker processes.
        apart: whether to find out which hunks can be taken without the others.

    Raises:
        devfix.config.ConfigError: wrong configuration.

    """
    from devfix.rules.registry import all_rules

    known = {rule.code: rule.name for rule in all_rules()}
    settings = config.load(paths, known)
    if select:
        settings = replace(settings, select=tuple(select))
    settings = replace(settings, ignore=(*settings.ignore, *ignore))
    files, problems = sources.load(paths, settings.exclude, settings.root)

    refused: dict[Identity, tuple[Finding, str]] = {}  # with why their files are left alone

    def again(without: Sequence[Finding]) -> Outcome:
        left = [*without, *(finding for finding, _ in refused.values())]
        found = fixpoint.apply(files, settings, jobs, without=left, scope=scope)
        mine = [problem for problem in problems if scope is None or scope.concerns(problem)]
        told = tuple(_because(item, refused) for item in found.resolutions)
        return replace(found, resolutions=told, problems=(*found.problems, *mine))

    outcome = again(())
    while more := {key: told for key, told in _refused(outcome).items() if key not in refused}:
        refused.update(more)
        outcome = again(())
    if not outcome.patch.files:
        return Analysis(outcome, not_verified="there is nothing to prove: no edit is made")
    found = _not_run(outcome) if verification is None else _proved(outcome, again, verification)
    return replace(found, parts=parts_of(found.outcome, again)) if apart else found


def _not_run(outcome: Outcome) -> Analysis:
    return Analysis(outcome, not_verified="no script is configured that proves it ([tool.devfix.bot.verify])")


def _refused(outcome: Outcome) -> dict[Identity, tuple[Finding, str]]:
    """Findings whose repair changes a file that the bot leaves alone, and why it does."""
    reasons = {change.path: _why_left(change) for change in outcome.patch.files}
    found = {}
    for item in outcome.resolutions:
        paths = item.fix.paths if item.status is Status.FIXED and item.fix is not None else ()
        reason = next((reasons[path] for path in paths if reasons.get(path)), "")
        if reason:
            found[identity(item.finding)] = item.finding, reason
    return found


def _why_left(change: FileChange) -> str:
    """Why a file is left alone; empty where it may be changed."""
    path = change.path.replace(os.sep, "/")
    if refused := refusal(path):
        return refused
    try:
        committed = os.fsencode(Git(os.getcwd(), own=True)("cat-file", "blob", f"HEAD:{path}"))
    except GitError:
        return f"{path!r} is not in the commit: it is not changed"
    if committed != change.old:
        return f"{path!r} is not as it is in the commit (changed since, or with other newlines): it is not changed"
    return ""


def _because(item: Resolution, refused: Mapping[Identity, tuple[Finding, str]]) -> Resolution:
    known = refused.get(identity(item.finding))
    return item if known is None else replace(item, reason=known[1])


def _proved(outcome: Outcome, again: Any, verification: Verification) -> Analysis:
    from devfix.migrate.proving import proved
    from devfix.model import Patch
    from devfix.verify.records import RunError

    here = Path(os.getcwd())
    try:
        found, verdict = proved(here, here, verification, outcome, again)
    except RunError as error:
        return Analysis(replace(outcome, patch=Patch()), not_verified=f"nothing could be run: {error}")
    if verdict is None:
        return Analysis(found, not_verified=f"no edit lies in what {verification.script} imports")
    return Analysis(found, evidence(verdict))


def evidence(verdict: VerdictSummary) -> dict[str, Any]:
    """What is kept of a verdict, as in schema/artifact-2.json."""
    return {
        "status": verdict.status,
        "reason": verdict.reason[:2000],
        "good": verdict.good,
        "where": _PATH.sub("", verdict.where)[:500],
        "command": " ".join([verdict.script, *verdict.arguments])[:1000],
        "runs": [_run(name, run) for name, run in (verdict.runs or {}).items()],
    }


def _run(name: str, run: RunSummary) -> dict[str, Any]:
    return {
        "name": name[:100],
        "outcome": run.outcome[:1000],
        "steps": run.steps,
        "first_loss": _text(run.losses[0]) if run.losses else None,
        "last_loss": _text(run.losses[-1]) if run.losses else None,
        "largest_difference": None if run.largest_difference is None else _text(run.largest_difference),
    }


def _text(number: float) -> str:
    return f"{number:.9g}"
