"""One repository, from its mirror to its record."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from devfix import config, sources
from devfix.config import ConfigError, Settings
from devfix.engine import fixpoint, write
from devfix.engine.scan import unparsable
from devfix.migrate.mirrors import Checkout, Mirror, default_scratch
from devfix.migrate.progress import Stages
from devfix.migrate.proposing import ProposalError, proposer
from devfix.migrate.record import Published, Record, RepositoryOutcome, VerdictSummary
from devfix.migrate.task import Task
from devfix.model import Finding, Outcome, Problem, Severity, Status
from devfix.sources import SourceFile
from devfix.vcs.git import GitError

__all__ = ["migrate"]

_LOG_KEPT = 4000
_OPEN = (Status.FIXABLE, Status.NOT_FIXED)


class _Stopped(Exception):
    """This repository goes no further: why, and what was said."""

    def __init__(self, reason: str, log: str = "") -> None:
        super().__init__(reason)
        self.log = log


@dataclass
class _Result:
    """What is known of a repository so far."""

    commit: str = ""
    outcome: Outcome = field(default_factory=Outcome)
    verdict: VerdictSummary | None = None
    diff: bytes = b""
    published: Published | None = None


def migrate(task: Task) -> Record:
    """Work on one repository; whatever goes wrong is told in the record."""
    stages = Stages(task.scratch or default_scratch(), task.number, task.name)
    result = _Result()
    tree: list[Path] = []
    reason = log = ""
    failed = True
    try:
        if _unchanged(task, stages, result):
            return replace(task.failed("fetch", ""), commit=result.commit, unchanged=True, seconds=stages.end())
        _work(task, stages, result, tree)
        stages.enter("done")
        failed = False
    except GitError as error:
        reason, log = _placed(task, stages.stage, str(error)), error.log
    except _Stopped as error:
        reason, log = str(error), error.log
    except MemoryError:
        reason = f"it needs more than the {task.memory_mb} MB that a worker may use"
    except OSError as error:
        reason = f"{error.filename or 'the system'}: {error.strerror or error}"
    except Exception as error:
        reason = f"internal error: {type(error).__name__}: {error}"
        log = traceback.format_exc()[-_LOG_KEPT:]
    if not task.keep_mirror:
        Mirror(task).delete()
    seconds = stages.end()
    stage = "done" if not failed else stages.stage
    made = task.failed(stage, reason, commit=result.commit, seconds=seconds, log=log)
    made = replace(made, timings={name: took for name, took in stages.timings.items() if name != "done"})
    return _without(tree[0], _filled(made, result, failed)) if tree else made


def _unchanged(task: Task, stages: Stages, result: _Result) -> bool:
    if not task.done:
        return False
    stages.enter("fetch")
    result.commit = Mirror(task).tip()
    return result.commit in task.done


def _placed(task: Task, stage: str, reason: str) -> str:
    """What the plan got wrong is told with its line."""
    return f"{task.origin}: {reason}" if task.origin and stage in ("fetch", "checkout") else reason


def _work(task: Task, stages: Stages, result: _Result, tree: list[Path]) -> None:
    mirror = Mirror(task)
    stages.enter("fetch")
    result.commit = mirror.fetch()
    stages.enter("checkout")
    with mirror.checkout(result.commit, whole=task.verification is not None) as checkout:
        tree.append(checkout.folder)
        _in_tree(task, stages, result, mirror, checkout)


def _in_tree(task: Task, stages: Stages, result: _Result, mirror: Mirror, checkout: Checkout) -> None:
    folder = checkout.folder / task.folder
    if not folder.is_dir() or not folder.resolve().is_relative_to(checkout.folder):
        raise _Stopped(_placed(task, "checkout", f"there is no folder {task.folder!r} in it"))
    stages.enter("scan")
    with _limited(task.memory_mb):
        settings, files, problems = _read(task, checkout.folder, folder)
        result.outcome = _with(fixpoint.apply(files, settings), [*problems, *unparsable(files)])
    if result.outcome.patch.files and task.verification is not None:
        stages.enter("verify")
        _prove(task, result, checkout.folder, folder, settings, files)
    if not result.outcome.patch.files:
        return
    stages.enter("publish")
    result.diff = _diff(result.outcome)
    landed = write.land(result.outcome)
    refused = [problem for problem in landed.problems if problem not in result.outcome.problems]
    if refused:
        raise _Stopped(f"{refused[0].path} {refused[0].message}".replace(f"{checkout.folder}/", ""))
    _check_again(task, result.outcome, checkout.folder, folder)
    if task.publishing.kind != "patch":
        paths = [sources.display(change.path, str(checkout.folder)) for change in result.outcome.patch.files]
        result.published = _publish(mirror, checkout, paths, task, result.outcome)
    if task.publishing.kind == "pull-request" and result.published is not None:
        result.published = replace(result.published, url=_proposed(task, result, checkout.folder))


def _publish(mirror: Mirror, checkout: Checkout, paths: Sequence[str], task: Task, outcome: Outcome) -> Published:
    """Commit the repaired files and tell what they repair."""
    from devfix.migrate.publishing import publish

    made = publish(mirror, checkout, paths, task.publishing, "\n".join(_told(outcome, checkout.folder)))
    return made if task.keep_mirror else replace(made, mirror="")


def _proposed(task: Task, result: _Result, tree: Path) -> str:
    """Open the pull request of a branch that has been pushed, and return its URL."""
    try:
        propose = proposer()
    except ImportError as error:
        raise _Stopped(f"pull requests need more packages ({error}): pip install 'devfix[bot]'") from error
    try:
        return propose(task, result.outcome, result.verdict, result.commit, result.diff, tree)
    except ProposalError as error:
        raise _Stopped(f"the branch is pushed, and not proposed: {error}") from error


def _where(outcome: Outcome, finding: Finding, tree: Path) -> str:
    shown = sources.display(finding.path, str(tree))
    return outcome.where(finding.path, finding.span.line).replace(finding.path, shown, 1)


def _told(outcome: Outcome, tree: Path) -> Iterator[str]:
    for item in outcome.resolutions:
        if item.status is Status.FIXED:
            finding = item.finding
            where = _where(outcome, finding, tree)
            yield f"- {where} {finding.code} {finding.message}".replace(f"{tree}/", "")


# --- reading and repairing ------------------------------------------------------------------------------------------
def _read(task: Task, tree: Path, folder: Path) -> tuple[Settings, list[SourceFile], list[Problem]]:
    from devfix.rules.registry import all_rules

    known = {rule.code: rule.name for rule in all_rules()}
    try:
        settings = config.override(
            config.load((str(folder),), known),
            known,
            select=task.select,
            ignore=task.ignore,
            severity=Severity(task.severity) if task.severity else None,
            unsafe_fixes=task.unsafe_fixes,
        )
    except ConfigError as error:
        raise _Stopped(str(error).replace(f"{tree}/", "")) from error
    files, problems = sources.load((str(folder),), settings.exclude, settings.root)
    inside = [file for file in files if Path(file.path).resolve().is_relative_to(tree)]
    outside = sorted({file.path for file in files} - {file.path for file in inside})
    left = [Problem(path, "is a link that leads out of the repository: it was left alone") for path in outside]
    nothing = not files and len(problems) == 1 and problems[0].path == str(folder)
    return settings, inside, [*([] if nothing else problems), *left]


def _with(outcome: Outcome, problems: Sequence[Problem]) -> Outcome:
    together = sorted((*outcome.problems, *problems), key=lambda problem: (problem.path, problem.line))
    return replace(outcome, problems=tuple(together))


def _prove(
    task: Task, result: _Result, tree: Path, folder: Path, settings: Settings, files: Sequence[SourceFile]
) -> None:
    from devfix.migrate.proving import prove
    from devfix.verify.records import RunError

    assert task.verification is not None
    read = {file.path for file in files}
    others = [*(problem for problem in result.outcome.problems if problem.path not in read), *unparsable(files)]

    def again(without: Sequence[Finding]) -> Outcome:
        return _with(fixpoint.apply(files, settings, without=without), others)

    try:
        result.outcome, result.verdict = prove(tree, folder, task.verification, result.outcome, again)
    except RunError as error:
        raise _Stopped(f"nothing could be proved: {error}".replace(f"{tree}/", "")) from error


def _check_again(task: Task, outcome: Outcome, tree: Path, folder: Path) -> None:
    """What was written is read anew: what was repaired is gone, and nothing has come."""
    settings, files, _ = _read(task, tree, folder)
    expected = sum(item.status in _OPEN for item in outcome.resolutions)
    found = [item.finding for item in fixpoint.check(files, settings).resolutions if item.status in _OPEN]
    if len(found) > expected:
        told = f"{sources.display(found[0].path, str(tree))}:{found[0].span.line} {found[0].code} {found[0].message}"
        raise _Stopped(f"the patch was not kept: after it, reading finds {len(found)} and not {expected}: {told}")


def _diff(outcome: Outcome) -> bytes:
    from devfix.vcs import unified_diff

    return unified_diff.unified(outcome.patch)


@contextmanager
def _limited(memory_mb: int) -> Iterator[None]:
    """A limit on the memory of this process: one repository cannot take the others' away."""
    if not memory_mb:
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = memory_mb << 20
    allowed = [limit for limit in (soft, hard, wanted) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(allowed), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


# --- the record -----------------------------------------------------------------------------------------------------
def _filled(record: Record, result: _Result, failed: bool) -> Record:
    from devfix.engine.documents import finding_document, problem_document

    outcome = result.outcome
    left = [item for item in outcome.resolutions if item.status in _OPEN]
    kept = not failed
    word, reason = RepositoryOutcome.FAILED, record.reason
    if not failed:
        word, reason = _judged(outcome, result.verdict, len(left), left[0].reason if left else "")
    return replace(
        record,
        outcome=word,
        reason=reason,
        findings=tuple(finding_document(item, outcome) for item in outcome.resolutions),
        problems=tuple(problem_document(problem, outcome) for problem in outcome.problems),
        notes=tuple(problem_document(note, outcome) for note in outcome.notes),
        checked=outcome.checked,
        patch=result.diff.decode("utf-8", "surrogateescape") if kept else "",
        published=result.published if kept else None,
        verdict=result.verdict,
    )


def _judged(outcome: Outcome, verdict: VerdictSummary | None, left: int, why: str) -> tuple[RepositoryOutcome, str]:
    if verdict is not None and not verdict.good:
        return RepositoryOutcome.NOT_FIXED, f"the verdict is {verdict.status}: {verdict.reason}"
    if left:
        many = "1 finding is" if left == 1 else f"{left} findings are"
        return RepositoryOutcome.NOT_FIXED, f"{many} left: {why or 'no fix is known'}"
    if outcome.problems:
        first = outcome.problems[0]
        where = f"{first.path}:{first.line}" if first.line else first.path
        many = "a file" if len(outcome.problems) == 1 else f"{len(outcome.problems)} files"
        return RepositoryOutcome.NOT_FIXED, f"{many} could not be handled: {where}: {first.message}"
    if any(item.status is Status.FIXED for item in outcome.resolutions):
        return RepositoryOutcome.FIXED, ""
    return RepositoryOutcome.CLEAN, ""


def _without(tree: Path, record: Record) -> Record:
    """The record with paths within the repository, wherever the worktree was."""

    def shown(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace(f"{tree}/", "").replace(str(tree), ".")
        if isinstance(value, dict):
            return {key: shown(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [shown(item) for item in value]
        return value

    return Record.of(shown(record.document()))
