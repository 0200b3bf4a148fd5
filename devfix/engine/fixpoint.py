"""The fixpoint: scan, repair, scan again, until no repairable finding is left.

A program is an entry file with its imports.  Each program is scanned; findings whose edits are in the given files are
repaired one by one: the edit must compile, the finding must be gone, and no new hazard may appear.  An edit that fails
one of these conditions is reverted, and the reason is reported.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from devfix import sources
from devfix.analysis.entrypoints import can_matter
from devfix.config import Settings
from devfix.engine import suppressions
from devfix.engine.cache import Cache
from devfix.engine.changed_findings import unconcerned
from devfix.engine.outcome import Resolutions
from devfix.engine.parallel_scan import scan_all
from devfix.engine.project_models import stub_problems
from devfix.engine.scan import Identity, Scan, identity, scan_again
from devfix.engine.workspace import Workspace
from devfix.model import (
    AddKeyword,
    AppendCode,
    Coverage,
    Edit,
    Finding,
    Fix,
    Outcome,
    Problem,
    ReplaceExpression,
    Status,
)
from devfix.sources import SourceError, SourceFile

if TYPE_CHECKING:
    from devfix.engine.changed_lines import Scope

__all__ = ["apply", "check", "fix_text", "settle"]

MOST_ROUNDS = 60
_MOST_APART = 4  # findings that are tried in pairs
_MOST_FOLLOWING = 3  # new findings that are repaired together with an edit
_NEW_FINDING = "it would bring a new finding"
_FAILS_INSTEAD = "would fail instead"
_NO_CACHE = "everything was read anew; --no-cache leaves it out, DEVFIX_CACHE_DIR names another folder"


# --- the two verbs --------------------------------------------------------------------------------------------------
def check(
    files: Sequence[SourceFile],
    settings: Settings,
    jobs: int = 1,
    cache: Cache | None = None,
    scope: Scope | None = None,
) -> Outcome:
    """Return the findings, with ``scope`` only those that the change affects."""
    return _run(files, settings, jobs, cache, repair=False, scope=scope)


def apply(
    files: Sequence[SourceFile],
    settings: Settings,
    jobs: int = 1,
    without: Iterable[Finding] = (),
    cache: Cache | None = None,
    scope: Scope | None = None,
) -> Outcome:
    """Return the findings and the patch that repairs them, except those of ``without``; nothing is written."""
    return _run(files, settings, jobs, cache, repair=True, without=without, scope=scope)


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


def _run(
    files: Sequence[SourceFile],
    settings: Settings,
    jobs: int,
    cache: Cache | None,
    repair: bool,
    without: Iterable[Finding] = (),
    scope: Scope | None = None,
) -> Outcome:
    with _rare_collection():
        known = frozenset(identity(finding) for finding in without)
        outcome = _resolve(files, settings, jobs, cache, repair, known, scope)
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
) -> Outcome:
    files = sorted(files, key=lambda file: file.path)
    comments = {file.path: suppressions.collect(file.text) for file in files if can_matter(file.raw)}
    kept = [file for file in files if not (file.path in comments and comments[file.path].skip_file)]
    space = Workspace(kept, settings, None if scope is None else scope.texts)
    entries = [file.path for file in kept if can_matter(file.raw)]
    scans = scan_all(space, entries, jobs, cache)
    outside: frozenset[Identity] = frozenset() if scope is None else unconcerned(scope, space, scans, jobs)
    collected = Resolutions(space, comments, without, repair, scope, outside)
    for file in kept:
        collected.problems.update(dict.fromkeys(file.problems))
    if entries:
        collected.problems.update(dict.fromkeys(stub_problems(space.models)))
    return replace(settle(collected, scans, len(files)), coverage=_coverage(scans))


def _coverage(scans: Iterable[Scan]) -> dict[Coverage, int]:
    """Return what became of the functions of the scanned files: of several scans of a file, the best counts."""
    ranks = {covered: rank for rank, covered in enumerate(Coverage)}
    best: dict[tuple[str, int], Coverage] = {}
    for scan in scans:
        for line, covered in scan.coverage.items():
            best[scan.path, line] = min(covered, best.get((scan.path, line), covered), key=ranks.__getitem__)
    counted = Counter(best.values())
    return {covered: counted[covered] for covered in Coverage if counted[covered]}


def settle(collected: Resolutions, scans: Iterable[Scan], checked: int = 0) -> Outcome:
    """Resolve the findings of some scans and return the outcome; with repair, the workspace is updated."""
    for scan in scans:
        collected.problems.update(dict.fromkeys(scan.problems))
        if scan.partly:
            collected.partly.append(scan.path)
        if collected.repairing and any(collected.open_to_repair(finding) for finding in scan.findings):
            _repair(collected.space, scan, collected)
        else:
            collected.leave(scan.findings)
    return collected.outcome(checked)


# --- repair -------------------------------------------------------------------------------------------------------
def _repair(space: Workspace, scan: Scan, collected: Resolutions) -> None:
    """Repair the findings of one program, each with the first fix that holds."""
    original = {identity(finding): finding for finding in scan.findings}
    current = scan_again(space, scan) if space.changed else scan
    dropped: dict[Identity, str] = {}
    tried_at: dict[Identity, int] = {}  # number of repairs when this finding's edit was reverted
    repaired = 0
    for _ in range(MOST_ROUNDS):
        waiting = [f for f in current.findings if identity(f) not in dropped and collected.open_to_repair(f)]
        if not waiting:  # a reverted edit may hold after the others
            waiting = [f for f in current.findings if tried_at.get(identity(f), repaired) < repaired]
        if not waiting:
            apart = [f for f in current.findings if _FAILS_INSTEAD in dropped.get(identity(f), "")]
            joined = _together(space, current, apart, collected)
            if joined is None:
                break
            fixes, current = joined
            repaired += len(fixes)
            for finding, fix in fixes:
                dropped.pop(identity(finding))
                collected.settle(original.get(identity(finding), finding), Status.FIXED, fix=fix)
            continue
        finding = waiting[-1]  # from the end: statements moved after one line keep their order
        shown = original.get(identity(finding), finding)
        attempt = _attempt(space, current, finding, collected)
        if isinstance(attempt, str):
            dropped[identity(finding)], tried_at[identity(finding)] = attempt, repaired
        else:
            repaired += 1
            dropped.pop(identity(finding), None)
            fix, after = attempt
            collected.settle(shown, Status.FIXED, fix=fix)
            for other in _repaired_along(current, after, fix):
                collected.settle(original.get(identity(other), other), Status.FIXED, fix=fix)
            current = after
            dropped = {key: reason for key, reason in dropped.items() if _NEW_FINDING not in reason}  # retry
    for finding in current.findings:
        if identity(finding) in dropped:
            shown = original.get(identity(finding), finding)
            collected.settle(shown, Status.NOT_FIXED, dropped[identity(finding)])
    collected.leave(f for f in current.findings if identity(f) not in dropped)


def _repaired_along(before: Scan, after: Scan, fix: Fix) -> list[Finding]:
    """Yield findings that are gone because the fix of another finding made their edits as well."""
    left = {identity(finding) for finding in after.findings}
    gone = [finding for finding in before.findings if identity(finding) not in left and finding.fixes]
    return [finding for finding in gone if set(finding.fixes[0].edits) <= set(fix.edits)]


def _attempt(space: Workspace, before: Scan, finding: Finding, collected: Resolutions) -> tuple[Fix, Scan] | str:
    """Try the fixes of a finding in order; return the first that holds and the scan after it, or the reasons."""
    reason = ""
    fixes = collected.usable(finding)
    for fix in fixes:
        after = _held(space, before, fix, (finding,), collected)
        if not isinstance(after, str):
            return fix, after
        reason = reason or after
    for fix in fixes[:1] if _NEW_FINDING in reason else ():
        joined = _with_what_follows(space, before, fix, collected)
        after = _held(space, before, joined, (finding,), collected) if joined is not None else reason
        if joined is not None and not isinstance(after, str):
            return joined, after
    return reason or finding.reason


def _with_what_follows(space: Workspace, before: Scan, fix: Fix, collected: Resolutions) -> Fix | None:
    """Combine a fix with those of the findings that it causes: a moved value meets others that are still on the CPU.

    Only edits that keep all other lines in place are combined, so that their positions refer to the same text.
    """
    kept = dict(space.changed)
    after = _applied(space, before, fix)
    space.changed = kept
    if isinstance(after, str) or after.problems:
        return None
    fresh = _fresh(before, after)
    following = [collected.usable(other)[:1] for other in fresh]
    if not all(following) or len(fresh) > _MOST_FOLLOWING or any(map(collected.left_out, fresh)):
        return None
    edits: tuple[Edit, ...] = fix.edits
    for (other,) in following:
        first, second = ([list(_place_of(edit)) for edit in each] for each in (edits, other.edits))
        if not all((*first, *second)) or any(places in first for places in second):
            return None
        edits = (*edits, *other.edits)
    titles = dict.fromkeys(other.title for (other,) in following)
    return replace(fix, title=" and ".join([fix.title, *titles]), edits=edits)


def _place_of(edit: Edit) -> Iterator[tuple[str, int]]:
    """Return file and line of an edit that keeps all other lines in place."""
    match edit:
        case AppendCode(expression=span, code=code) | ReplaceExpression(expression=span, code=code):
            text = code
        case AddKeyword(call=span, value=value):
            text = value
        case _:
            return
    if "\n" not in text and span.line == span.end_line:
        yield edit.path, span.line


def _together(
    space: Workspace, before: Scan, apart: list[Finding], collected: Resolutions
) -> tuple[list[tuple[Finding, Fix]], Scan] | None:
    """Try pairs of findings whose best edits only hold together, such as a criterion and its weights."""
    usable = [(finding, collected.usable(finding)) for finding in apart[:_MOST_APART]]
    for pair in combinations([(finding, fixes[0]) for finding, fixes in usable if fixes], 2):
        edits = tuple(dict.fromkeys(edit for _, fix in pair for edit in fix.edits))
        joined = replace(pair[0][1], edits=edits)
        after = _held(space, before, joined, [finding for finding, _ in pair], collected)
        if not isinstance(after, str):
            return list(pair), after
    return None


def _held(space: Workspace, before: Scan, fix: Fix, findings: Sequence[Finding], collected: Resolutions) -> Scan | str:
    """Apply a fix for some findings; return the scan after it, or the reason why it was reverted."""
    kept = dict(space.changed)
    after = _applied(space, before, fix)
    if isinstance(after, str):
        space.changed = kept
        return after
    problem = next(filter(None, (_objection(before, after, finding) for finding in findings)), None)
    if problem is None and any(collected.left_out(other) for other in _repaired_along(before, after, fix)):
        problem = "it would edit what is to be left alone"
    if problem is None:
        return after
    space.changed = kept
    return f"the edit was dropped, because {problem}"


def _applied(space: Workspace, before: Scan, fix: Fix) -> Scan | str:
    """Apply a fix; return the scan after it, or the reason why it cannot be applied.  Changes stay."""
    from devfix.rewrite import RewriteError, rewrite

    try:
        for path in fix.paths:
            text = space.text(path)
            assert text is not None
            edits = [edit for edit in fix.edits if edit.path == path]
            space.rewritten(path, rewrite(text, edits))
    except (RewriteError, SourceError) as error:
        told = error.problem.message if isinstance(error, SourceError) else error
        return f"the edit cannot be placed: {told}"
    return scan_again(space, before)


def _tells_of_failure(scan: Scan, finding: Finding) -> bool:
    """Return whether a finding's event path leads to a line with a hazard."""
    lines = {(event.path, event.source) for event in finding.events if event.kind == "used"}
    return not lines.isdisjoint(scan.failing)


def _is_fallback(finding: Finding) -> bool:
    from devfix.rules.registry import rule_for

    rule = rule_for(finding.code)
    return rule is not None and rule.fallback


def _fresh(before: Scan, after: Scan) -> list[Finding]:
    """Return new findings; those that only report a failing line are counted as hazards."""
    known = Counter((other.code, other.path, other.message) for other in before.findings)
    known.subtract((other.code, other.path, other.message) for other in after.findings)
    fresh = [other for other in after.findings if known[(other.code, other.path, other.message)] < 0]
    return [other for other in fresh if not _is_fallback(other)]


def _objection(before: Scan, after: Scan, finding: Finding) -> str | None:
    """Return why an edit does not hold; ``None`` if it does."""
    if after.problems:
        return after.problems[0].message
    if identity(finding) in {identity(other) for other in after.findings}:
        return "the finding is still there after it"
    fresh = _fresh(before, after)
    if fresh:
        return f"{_NEW_FINDING} ({fresh[0].code}: {fresh[0].message})"
    worse = after.hazards.keys() - before.hazards.keys()
    if worse:
        hazard = min(worse)
        return f"`{hazard.text}` ({hazard.consumer}) in {hazard.path} {_FAILS_INSTEAD}"
    if _tells_of_failure(before, finding) and before.hazards == after.hazards:
        return "what fails would fail all the same"
    return None
