"""The fixpoint: scan, repair, scan again, until no repairable finding is left.

A program is an entry file with its imports.  Each program is scanned; findings whose edits are in the given files are
repaired: the edit must compile, the finding must be gone, and no new hazard may appear.  An edit that fails one of
these conditions is reverted, and the reason is reported.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix import sources
from devfix.analysis.entrypoints import can_matter
from devfix.config import Settings
from devfix.engine import suppressions
from devfix.engine.cache import Cache, MemoryCache
from devfix.engine.changed_findings import unconcerned
from devfix.engine.entry_files import starts_any_program
from devfix.engine.joint_repair import repair_together
from devfix.engine.outcome import Resolutions
from devfix.engine.parallel_scan import Progress, Workers, keep_rewritten, scan_all
from devfix.engine.programs import Programs
from devfix.engine.project_models import stub_problems
from devfix.engine.repair import repair
from devfix.engine.scan import Identity, Scan, identity
from devfix.engine.workspace import Workspace
from devfix.model import Coverage, Finding, Outcome, Problem, Severity
from devfix.sources import SourceFile
from devfix.syntax.node_caches import empty_node_caches

if TYPE_CHECKING:
    from devfix.engine.changed_lines import Scope

__all__ = ["apply", "check", "fix_text", "settle"]

_NO_CACHE = "everything was read anew; --no-cache leaves it out, DEVFIX_CACHE_DIR names another folder"


# --- the two verbs --------------------------------------------------------------------------------------------------
def check(
    files: Sequence[SourceFile],
    settings: Settings,
    jobs: int = 1,
    cache: Cache | None = None,
    scope: Scope | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Return the findings, with ``scope`` only those that the change affects."""
    return _run(files, settings, jobs, cache, repair=False, scope=scope, progress=progress)


def apply(
    files: Sequence[SourceFile],
    settings: Settings,
    jobs: int = 1,
    without: Iterable[Finding] = (),
    cache: Cache | None = None,
    scope: Scope | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Return the findings and the patch that repairs them, except those of ``without``; nothing is written."""
    return _run(files, settings, jobs, cache, repair=True, without=without, scope=scope, progress=progress)


def fix_text(path: str, text: str, codes: Iterable[str] = ()) -> str:
    """Return the text of one file after repair with some rules; the same text if there is nothing to do.

    Selecting a rule whose fixes are all unsafe enables them.
    """
    from devfix.rules.registry import rule_for

    file = SourceFile(path, text.encode("utf-8", "surrogatepass"), text)
    codes = tuple(codes)
    unsafe = any(rule is not None and rule.unsafe for rule in map(rule_for, codes))
    outcome = apply([file], Settings(select=codes, unsafe_fixes=unsafe, root=sources.repository_root(path)))
    for change in outcome.patch.files:
        return change.new.decode("utf-8", "surrogatepass")
    return text


@contextmanager
def _rare_collection() -> Iterator[None]:
    """Run the garbage collector rarely: syntax trees are many and mostly live."""
    thresholds = gc.get_threshold()
    gc.set_threshold(500_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


@contextmanager
def _freed_nodes() -> Iterator[None]:
    """Leave no trees behind in the caches of their nodes."""
    try:
        yield
    finally:
        empty_node_caches()


def _run(
    files: Sequence[SourceFile],
    settings: Settings,
    jobs: int,
    cache: Cache | None,
    repair: bool,
    without: Iterable[Finding] = (),
    scope: Scope | None = None,
    progress: Progress | None = None,
) -> Outcome:
    with _rare_collection(), _freed_nodes():
        known = frozenset(identity(finding) for finding in without)
        outcome = _resolve(files, settings, jobs, cache, repair, known, scope, progress)
    if cache is None or not cache.problem:
        return outcome
    return replace(outcome, notes=(*outcome.notes, Problem(cache.folder, f"the cache {cache.problem}", hint=_NO_CACHE)))


def _resolve(
    files: Sequence[SourceFile],
    settings: Settings,
    jobs: int,
    cache: Cache | None,
    repair: bool,
    without: frozenset[Identity],
    scope: Scope | None,
    progress: Progress | None,
) -> Outcome:
    files = sorted(files, key=lambda file: file.path)
    comments = {file.path: suppressions.collect(file.text) for file in files if can_matter(file.raw)}
    kept = [file for file in files if not (file.path in comments and comments[file.path].skip_file)]
    space = Workspace(kept, settings, None if scope is None else scope.texts)
    entries = [file.path for file in kept if can_matter(file.raw)]
    if not starts_any_program(space, entries):
        settings = space.settings = replace(settings, starts_no_program=True)
    repeated = cache if isinstance(cache, MemoryCache) else None
    with Workers(space, jobs, repeated, progress) as workers:
        scans = scan_all(space, entries, workers, cache)
        found = ((scan, finding) for scan in scans for finding in scan.findings)
        space.errors = frozenset(
            (*scan.key, *identity(each)) for scan, each in found if each.severity is Severity.ERROR
        )
        outside: frozenset[Identity] = frozenset() if scope is None else unconcerned(scope, space, scans, jobs)
        collected = Resolutions(space, comments, without, repair, scope, outside)
        for file in kept:
            collected.problems.update(dict.fromkeys(file.problems))
        if entries:
            collected.problems.update(dict.fromkeys(stub_problems(space.models)))
        hidden = {identity(each) for scan in scans for each in scan.hidden if collected.concerns(each)}
        outcome = settle(collected, scans, len(files), workers, cache)
        return replace(outcome, coverage=_coverage(scans), hidden=len(hidden - collected.resolutions.keys()))


def _coverage(scans: Iterable[Scan]) -> dict[Coverage, int]:
    """Return what became of the functions of the scanned files: of several scans of a file, the best counts."""
    ranks = {covered: rank for rank, covered in enumerate(Coverage)}
    best: dict[tuple[str, int], Coverage] = {}
    for scan in scans:
        for line, covered in scan.coverage.items():
            best[scan.path, line] = min(covered, best.get((scan.path, line), covered), key=ranks.__getitem__)
    counted = Counter(best.values())
    return {covered: counted[covered] for covered in Coverage if counted[covered]}


def settle(
    collected: Resolutions,
    scans: Iterable[Scan],
    checked: int = 0,
    workers: Workers | None = None,
    cache: Cache | None = None,
) -> Outcome:
    """Resolve the findings of some scans and return the outcome; with repair, the workspace is updated."""
    programs = Programs(collected.space, scans, workers)
    if collected.repairing:
        repair_together(programs, collected)
    for number in range(len(programs)):
        scan = programs.scan(number)
        if collected.repairing and workers is not None:
            workers.progress("fixes", number, len(programs), scan.path)
        collected.problems.update(dict.fromkeys(scan.problems))
        if scan.partly:
            collected.partly.append(scan.path)
        if collected.repairing and any(collected.open_to_repair(finding) for finding in scan.findings):
            repair(programs, number, collected)
        else:
            collected.leave(scan.findings)
    if cache is not None and collected.repairing:
        keep_rewritten(collected.space, programs.of_present_texts(), cache)
    return collected.outcome(checked)
