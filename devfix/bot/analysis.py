"""Analysis of a checkout: findings, a patch, and the verdict of runs."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from devfix import config, sources
from devfix.bot import patch
from devfix.bot.hunk_groups import HunkGroup, group_hunks
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

_INTERPRETER_PATH = re.compile(r", (?:/|[A-Z]:\\)[^,]*$")  # local to this machine


@dataclass(frozen=True)
class Analysis:
    """The findings and the patch of a checkout, with paths relative to the repository.

    Attributes:
        outcome: findings, their resolutions, and the patch.  No file is written.
        evidence: the verdict as in schema/artifact-2.json; ``None`` if nothing was run.
        not_verified: why there is no verdict, in a sentence; empty if there is one.
        hunk_groups: hunks of the patch that must be applied together; empty if all of them must.

    """

    outcome: Outcome
    evidence: Mapping[str, Any] | None = None
    not_verified: str = ""
    hunk_groups: tuple[HunkGroup, ...] = ()

    @property
    def diff(self) -> bytes:
        """The patch, for ``git apply``."""
        return patch.diff(self.outcome.patch.files)

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
    with_hunk_groups: bool = False,
    refuse: Callable[[Resolution], str] | None = None,
    is_pull_request: bool = False,
) -> Analysis:
    """Analyse the repository in the current folder.  No file is written.

    Args:
        paths: files and folders within the repository.
        verification: the script that verifies the patch; edits that fail are dropped.  ``None`` to skip verification.
        scope: the lines on which findings count; ``None`` for all lines.
        select: codes of the rules to run, instead of the configured ones.
        ignore: codes of rules to skip, in addition to the configured ones.
        jobs: number of worker processes.
        with_hunk_groups: whether to compute which hunks can be applied separately.
        refuse: returns why the fix of a finding is left out; empty if it is not.
        is_pull_request: whether a stranger may have written the configuration: a device that is more than a name is
            then left out, because suggestions would contain it.

    Returns:
        Findings and patch.

    Raises:
        BotError: the patch has more hunks than a review can show.
        devfix.config.ConfigError: the configuration is invalid.

    """
    from devfix.rules.registry import all_rules
    from devfix.rules.trust import leave_out

    known = {rule.code: rule.name for rule in all_rules()}
    settings = config.load(paths, known, local=leave_out)
    if is_pull_request and settings.device is not None and not _is_plain(settings.device):
        settings = replace(settings, device=None)
    if select:
        settings = replace(settings, select=tuple(select))
    settings = replace(settings, ignore=(*settings.ignore, *ignore))
    loaded, problems = sources.load(paths, settings.exclude, settings.root)
    files = [file for file in loaded if _is_inside(file.path)]

    refused: dict[Identity, tuple[Finding, str]] = {}  # finding and reason

    def rerun(without: Sequence[Finding]) -> Outcome:
        excluded = [*without, *(finding for finding, _ in refused.values())]
        found = fixpoint.apply(files, settings, jobs, without=excluded, scope=scope)
        in_scope = [problem for problem in problems if scope is None or scope.concerns(problem)]
        inside = (item for item in found.resolutions if _is_inside(item.finding.path))
        resolutions = tuple(_with_reason(item, refused) for item in inside)
        return replace(found, resolutions=resolutions, problems=(*found.problems, *in_scope))

    outcome = rerun(())
    while more := {key: each for key, each in _refused_findings(outcome, refuse).items() if key not in refused}:
        refused.update(more)
        outcome = rerun(())
    if not outcome.patch.files:
        return Analysis(outcome, not_verified="the patch is empty")
    found = _unverified(outcome) if verification is None else _verify(outcome, rerun, verification)
    return replace(found, hunk_groups=group_hunks(found.outcome, rerun)) if with_hunk_groups else found


def _is_plain(device: str) -> bool:
    """Whether an expression calls nothing: a text, a name, an attribute of a name, or ``torch.device`` of these."""
    node = ast.parse(device, mode="eval").body
    if isinstance(node, ast.Call) and ast.dump(node.func) == ast.dump(ast.parse("torch.device", mode="eval").body):
        parts = [*node.args, *(keyword.value for keyword in node.keywords)]
    else:
        parts = [node]
    return all(_is_name(part) or isinstance(part, ast.Constant) for part in parts)


def _is_name(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _is_inside(path: str) -> bool:
    """Whether a file is in the current folder: what a symbolic link to another one says is not posted."""
    return Path(path).resolve().is_relative_to(Path.cwd())


def _unverified(outcome: Outcome) -> Analysis:
    return Analysis(outcome, not_verified="no script is configured in [tool.devfix.bot.verify]")


def _refused_findings(
    outcome: Outcome, refuse: Callable[[Resolution], str] | None
) -> dict[Identity, tuple[Finding, str]]:
    """Return the findings whose fix is left out or changes a file that the bot must not change, and the reason."""
    reasons = {change.path: _refusal_reason(change) for change in outcome.patch.files}
    found = {}
    for item in outcome.resolutions:
        is_fixed = item.status is Status.FIXED
        paths = item.fix.paths if is_fixed and item.fix is not None else ()
        reason = next((reasons[path] for path in paths if reasons.get(path)), "")
        if not reason and is_fixed and refuse is not None:
            reason = refuse(item)
        if reason:
            found[identity(item.finding)] = item.finding, reason
    return found


def _refusal_reason(change: FileChange) -> str:
    """Return why a file must not be changed; empty if it may be."""
    path = change.path.replace(os.sep, "/")
    if refused := refusal(path):
        return refused
    if len(change.old) > patch.MAX_FILE_BYTES:
        return f"{path!r} is larger than {patch.MAX_FILE_BYTES >> 20} MiB, so it is not changed"
    try:
        committed = os.fsencode(Git(os.getcwd(), user_checkout=True)("cat-file", "blob", f"HEAD:{path}"))
    except GitError:
        return f"{path!r} is not in the commit, so it is not changed"
    if committed != change.old:
        return f"{path!r} differs from the commit (edited, or other line endings), so it is not changed"
    return ""


def _with_reason(item: Resolution, refused: Mapping[Identity, tuple[Finding, str]]) -> Resolution:
    entry = refused.get(identity(item.finding))
    return item if entry is None else replace(item, reason=entry[1])


def _verify(outcome: Outcome, rerun: Any, verification: Verification) -> Analysis:
    from devfix.migrate.proving import prove_in_place
    from devfix.model import Patch
    from devfix.verify.records import RunError

    root = Path(os.getcwd())
    try:
        found, verdict = prove_in_place(root, root, verification, outcome, rerun)
    except RunError as error:
        return Analysis(replace(outcome, patch=Patch()), not_verified=f"the script could not be run: {error}")
    if verdict is None:
        return Analysis(found, not_verified=f"{verification.script} imports none of the edited files")
    return Analysis(found, evidence(verdict))


def evidence(verdict: VerdictSummary) -> dict[str, Any]:
    """Return a verdict as in schema/artifact-2.json.

    Long texts are truncated; the path of the interpreter is removed.
    """
    return {
        "status": verdict.status,
        "reason": verdict.reason[:2000],
        "good": verdict.good,
        "where": _INTERPRETER_PATH.sub("", verdict.where)[:500],
        "command": " ".join([verdict.script, *verdict.arguments])[:1000],
        "runs": [_run(name, run) for name, run in (verdict.runs or {}).items()],
    }


def _run(name: str, run: RunSummary) -> dict[str, Any]:
    return {
        "name": name[:100],
        "outcome": run.outcome[:1000],
        "steps": run.steps,
        "first_loss": _format_number(run.losses[0]) if run.losses else None,
        "last_loss": _format_number(run.losses[-1]) if run.losses else None,
        "largest_difference": None if run.largest_difference is None else _format_number(run.largest_difference),
    }


def _format_number(number: float) -> str:
    return f"{number:.9g}"
