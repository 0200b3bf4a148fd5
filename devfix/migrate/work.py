"""Migration of one repository: mirror, worktree, analysis, verification, publishing, record."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from devfix import config, sources
from devfix.config import ConfigError, Settings
from devfix.engine import fixpoint
from devfix.engine.cache import Cache, MemoryCache
from devfix.engine.scan import unparsable
from devfix.migrate.cost import Meter
from devfix.migrate.disk import DISK_FULL, is_full
from devfix.migrate.mirrors import Checkout, Mirror, default_scratch
from devfix.migrate.progress import Stages
from devfix.migrate.record import Part, Published, Record, RepositoryOutcome, VerdictSummary
from devfix.migrate.stability import UnstableError, stable_outcome
from devfix.migrate.task import Task
from devfix.model import Finding, Outcome, Problem, Severity, Status
from devfix.sources import SourceFile
from devfix.sources.freed_memory import return_freed
from devfix.vcs.commits import list_item
from devfix.vcs.git import GitError

__all__ = ["migrate"]

_MAX_LOG = 4000
_OUTSIDE = "is a symbolic link to a file outside the repository, so it was not changed"
_OPEN = (Status.FIXABLE, Status.NOT_FIXED)


class _Failure(Exception):
    """An error that ends the work on this repository; ``log`` is the output of the failed program."""

    def __init__(self, reason: str, log: str = "") -> None:
        super().__init__(reason)
        self.log = log


@dataclass
class _Result:
    """The intermediate results of a repository."""

    commit: str = ""
    outcome: Outcome = field(default_factory=Outcome)
    verdict: VerdictSummary | None = None
    diff: bytes = b""
    parts: tuple[Part, ...] = ()
    published: Published | None = None


def migrate(task: Task) -> Record:
    """Process one repository.

    Never raises: the record contains the error.
    """
    return_freed()
    meter = Meter()
    stages = Stages(task.scratch or default_scratch(), task.number, task.name)
    result = _Result()
    tree: list[Path] = []
    reason = log = ""
    failed = True
    cause: BaseException | None = None
    try:
        if _unchanged(task, stages, result):
            return replace(task.failed("fetch", ""), commit=result.commit, unchanged=True, seconds=stages.end())
        _fetch_and_process(task, stages, result, tree)
        stages.enter("done")
        failed = False
    except GitError as error:
        reason, log = _with_plan_location(task, stages.stage, str(error)), error.log
    except _Failure as error:
        reason, log = str(error), error.log
    except UnstableError as error:
        reason = str(error)
    except MemoryError:
        reason = f"the memory limit of {task.memory_mb} MB was exceeded"
    except OSError as error:
        reason, cause = f"{error.filename or 'the system'}: {error.strerror or error}", error
    except Exception as error:
        reason = f"internal error: {type(error).__name__}: {error}"
        log = traceback.format_exc()[-_MAX_LOG:]
    mirror = Mirror(task)
    if failed and is_full(cause, mirror.folder, task.scratch or default_scratch()):
        reason = f"{DISK_FULL} ({reason})"
    if not task.keep_mirror:
        mirror.delete()
    seconds = stages.end()
    stage = "done" if not failed else stages.stage
    record = task.failed(stage, reason, commit=result.commit, seconds=seconds, log=log)
    timings = {name: duration for name, duration in stages.timings.items() if name != "done"}
    record = replace(record, timings=timings, cpu_s=meter.cpu_s, memory_mb=meter.memory_mb)
    return _relative_paths(tree[0], _complete(record, result, failed)) if tree else record


def _unchanged(task: Task, stages: Stages, result: _Result) -> bool:
    if not task.done_commits:
        return False
    stages.enter("fetch")
    result.commit = Mirror(task).tip()
    return result.commit in task.done_commits


def _with_plan_location(task: Task, stage: str, reason: str) -> str:
    """Prepend the plan's line if the plan is wrong: the repository or folder does not exist."""
    return f"{task.plan_location}: {reason}" if task.plan_location and stage in ("fetch", "checkout") else reason


def _fetch_and_process(task: Task, stages: Stages, result: _Result, tree: list[Path]) -> None:
    mirror = Mirror(task)
    stages.enter("fetch")
    result.commit = mirror.fetch()
    stages.enter("checkout")
    with mirror.checkout(result.commit, all_files=task.verification is not None) as checkout:
        tree.append(checkout.folder)
        _process_worktree(task, stages, result, mirror, checkout)


def _process_worktree(task: Task, stages: Stages, result: _Result, mirror: Mirror, checkout: Checkout) -> None:
    folder = checkout.folder / task.folder
    if not folder.is_dir() or not folder.resolve().is_relative_to(checkout.folder):
        raise _Failure(_with_plan_location(task, "checkout", f"the repository has no folder {task.folder!r}"))
    stages.enter("scan")
    scans = MemoryCache()
    with _memory_limit(task.memory_mb):
        settings, files, problems = _read(task, checkout.folder, folder)
        result.outcome = _add_problems(fixpoint.apply(files, settings, cache=scans), [*problems, *unparsable(files)])
    if result.outcome.patch.files and task.verification is not None:
        stages.enter("verify")
        _prove(task, result, checkout.folder, folder, settings, files)
    if not result.outcome.patch.files:
        return
    stages.enter("publish")
    result.outcome = stable_outcome(result.outcome, files, settings, scans, may_drop=task.verification is None)
    if not result.outcome.patch.files:
        return
    result.diff = _diff(result.outcome)
    if task.publishing.split or task.publishing.owner_reviews:
        with _memory_limit(task.memory_mb):
            _find_parts(task, result, checkout, settings, files, scans)
    if task.publishing.kind in ("branch", "push"):  # the main machine opens pull requests
        _publish(mirror, checkout, task, result)


def _publish(mirror: Mirror, checkout: Checkout, task: Task, result: _Result) -> None:
    """Commit the patch, or its parts; the messages list the fixes."""
    from devfix.migrate.publishing import publish, publish_parts

    fixes = list(_describe_fixes(result.outcome, checkout.folder))
    if task.publishing.split and result.parts:
        result.parts = publish_parts(mirror, task, result.commit, result.diff, result.parts, fixes)
    else:
        result.published = publish(mirror, task, result.commit, result.diff, fixes)


def _find_parts(
    task: Task,
    result: _Result,
    checkout: Checkout,
    settings: Settings,
    files: Sequence[SourceFile],
    scans: Cache,
) -> None:
    from devfix.migrate.parts.splitting import parts_of

    def rerun(without: Sequence[Finding]) -> Outcome:
        return fixpoint.apply(files, settings, without=without, cache=scans)

    result.parts, remarks = parts_of(checkout, task.publishing, result.outcome, rerun)
    result.outcome = replace(result.outcome, notes=(*result.outcome.notes, *remarks))


def _location(outcome: Outcome, finding: Finding, tree: Path) -> str:
    relative = sources.display(finding.path, str(tree))
    return outcome.where(finding.path, finding.span.line).replace(finding.path, relative, 1)


def _describe_fixes(outcome: Outcome, tree: Path) -> Iterator[tuple[frozenset[str], str]]:
    """Yield for each fix the files that it edits, relative to the repository, and a line about it."""
    for item in outcome.resolutions:
        if item.status is Status.FIXED:
            finding = item.finding
            where = _location(outcome, finding, tree)
            edited = item.fix.paths if item.fix is not None else (finding.path,)
            text = list_item(f"{where} {finding.code} {finding.message}".replace(f"{tree}/", ""))
            yield frozenset(sources.display(path, str(tree)) for path in edited), text


# --- reading and repairing ------------------------------------------------------------------------------------------
def _read(task: Task, tree: Path, folder: Path) -> tuple[Settings, list[SourceFile], list[Problem]]:
    from devfix.rules.registry import all_rules
    from devfix.rules.trust import leave_out

    known = {rule.code: rule.name for rule in all_rules()}
    try:
        settings = config.override(
            config.load((str(folder),), known, local=leave_out),
            known,
            select=task.select,
            ignore=task.ignore,
            severity=Severity(task.severity) if task.severity else None,
            unsafe_fixes=task.unsafe_fixes,
        )
    except ConfigError as error:
        raise _Failure(str(error).replace(f"{tree}/", "")) from error
    files, problems = sources.load((str(folder),), settings.exclude, settings.root)
    inside = [file for file in files if Path(file.path).resolve().is_relative_to(tree)]
    outside = sorted({file.path for file in files} - {file.path for file in inside})
    links = [Problem(path, _OUTSIDE) for path in outside]
    is_empty = not files and len(problems) == 1 and problems[0].path == str(folder)
    return settings, inside, [*([] if is_empty else problems), *links]


def _add_problems(outcome: Outcome, problems: Sequence[Problem]) -> Outcome:
    combined = sorted((*outcome.problems, *problems), key=lambda problem: (problem.path, problem.line))
    return replace(outcome, problems=tuple(combined))


def _prove(
    task: Task, result: _Result, tree: Path, folder: Path, settings: Settings, files: Sequence[SourceFile]
) -> None:
    from devfix.migrate.proving import prove
    from devfix.verify.records import RunError

    assert task.verification is not None
    read = {file.path for file in files}
    others = [*(problem for problem in result.outcome.problems if problem.path not in read), *unparsable(files)]

    def rerun(without: Sequence[Finding]) -> Outcome:
        return _add_problems(fixpoint.apply(files, settings, without=without), others)

    try:
        result.outcome, result.verdict = prove(tree, folder, task.verification, result.outcome, rerun)
    except RunError as error:
        raise _Failure(f"the patch could not be verified: {error}".replace(f"{tree}/", "")) from error


def _diff(outcome: Outcome) -> bytes:
    from devfix.vcs import unified_diff

    return unified_diff.unified(outcome.patch)


@contextmanager
def _memory_limit(memory_mb: int) -> Iterator[None]:
    """Limit what this process maps beyond what it has mapped now, so that one repository cannot exhaust the memory."""
    if not memory_mb:
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    requested = (memory_mb << 20) + _mapped_bytes()
    allowed = [limit for limit in (soft, hard, requested) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(allowed), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _mapped_bytes() -> int:
    """Return the size of this process's address space; 0 where the system does not say."""
    try:
        with open("/proc/self/statm") as source:
            return int(source.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


# --- the record -----------------------------------------------------------------------------------------------------
def _complete(record: Record, result: _Result, failed: bool) -> Record:
    from devfix.engine.documents import finding_document, problem_document

    outcome = result.outcome
    remaining = [item for item in outcome.resolutions if item.status in _OPEN]
    is_complete = not failed
    outcome_value, reason = RepositoryOutcome.FAILED, record.reason
    if not failed:
        outcome_value, reason = _result_outcome(
            outcome, result.verdict, len(remaining), remaining[0].reason if remaining else ""
        )
    return replace(
        record,
        outcome=outcome_value,
        reason=reason,
        findings=tuple(finding_document(item, outcome) for item in outcome.resolutions),
        problems=tuple(problem_document(problem, outcome) for problem in outcome.problems),
        notes=tuple(problem_document(note, outcome) for note in outcome.notes),
        checked=outcome.checked,
        patch=result.diff.decode("utf-8", "surrogateescape") if is_complete else "",
        published=result.published if is_complete else None,
        parts=result.parts if is_complete else (),
        verdict=result.verdict,
    )


def _result_outcome(
    outcome: Outcome, verdict: VerdictSummary | None, remaining: int, first_reason: str
) -> tuple[RepositoryOutcome, str]:
    if verdict is not None and not verdict.good:
        return RepositoryOutcome.NOT_FIXED, f"the verdict is {verdict.status}: {verdict.reason}"
    if remaining:
        subject = "1 finding remains" if remaining == 1 else f"{remaining} findings remain"
        return RepositoryOutcome.NOT_FIXED, f"{subject}: {first_reason or 'no fix is known'}"
    if outcome.problems:
        first = outcome.problems[0]
        where = f"{first.path}:{first.line}" if first.line else first.path
        subject = "a file" if len(outcome.problems) == 1 else f"{len(outcome.problems)} files"
        return RepositoryOutcome.NOT_FIXED, f"{subject} could not be processed: {where}: {first.message}"
    if any(item.status is Status.FIXED for item in outcome.resolutions):
        return RepositoryOutcome.FIXED, ""
    return RepositoryOutcome.CLEAN, ""


def _relative_paths(tree: Path, record: Record) -> Record:
    """Return the record with paths relative to the repository instead of the worktree."""

    def relative(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace(f"{tree}/", "").replace(str(tree), ".")
        if isinstance(value, dict):
            return {key: relative(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [relative(item) for item in value]
        return value

    return Record.from_document(relative(record.to_document()))
