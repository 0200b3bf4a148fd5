"""Findings to codemods to new text, until no finding is left.  The only place that loops.

A program is an entry file with what it imports.  Each program is analysed; findings whose edits lie in the given
files are repaired one by one: the edit must compile, the finding must be gone, and no new hazard may have come.
An edit that does not hold is dropped, and the reason is kept.
"""

from __future__ import annotations

import difflib
import gc
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from devfix import flow, sources, suppressions
from devfix.config import Settings
from devfix.flow.entries import can_matter, starts_program
from devfix.flow.syntax import SourceTree
from devfix.model import (
    Event,
    FileChange,
    Finding,
    Outcome,
    Patch,
    Problem,
    Remedy,
    Resolution,
    Safety,
    Severity,
    Span,
    Status,
)
from devfix.sources import SourceError, SourceFile

__all__ = ["apply", "check", "fix_text"]

MOST_ROUNDS = 60
DEEP_ENOUGH = 8_000  # Python frames: programs nest, and so does their interpreter

_Key = tuple[str, str, int, int, str]


@dataclass
class _Scan:
    """What one entry file has to say."""

    path: str
    findings: list[Finding] = field(default_factory=list)
    hazards: frozenset[tuple[str, str, str]] = frozenset()
    problems: list[Problem] = field(default_factory=list)
    partly: bool = False


class _Workspace:
    """The texts of one run: given files, files that they import, and what has been rewritten so far."""

    def __init__(self, files: Sequence[SourceFile], settings: Settings) -> None:
        self.settings = settings
        self.given = {os.path.abspath(file.path): file for file in files}
        self.names = {key: file.path for key, file in self.given.items()}
        self._read: dict[str, str | None] = {}
        self._trees: dict[tuple[str, str], SourceTree] = {}
        self.changed: dict[str, str] = {}

    def text(self, path: str) -> str | None:
        """The present text of a file, ``None`` where it cannot be read."""
        key = os.path.abspath(path)
        if key in self.changed:
            return self.changed[key]
        if key in self.given:
            return self.given[key].text
        if key not in self._read:
            try:
                self._read[key] = sources.read(path).text
            except SourceError:
                self._read[key] = None
        return self._read[key]

    def parse(self, path: str, text: str) -> SourceTree:
        """A parsed file under the name that the user gave it; parsed once for the same text."""
        shown = self.names.get(os.path.abspath(path), path)
        key = (shown, text)
        if key not in self._trees:
            self._trees[key] = SourceTree(shown, text)
        return self._trees[key]

    def original(self, finding: Finding) -> Finding:
        """The finding with its line counted in the text as it was given, so that it stays the same finding."""
        key = os.path.abspath(finding.path)
        if key not in self.changed:
            return finding
        before, after = self.given[key].text.splitlines(), self.changed[key].splitlines()
        line = finding.span.line - 1
        for _, i1, i2, j1, j2 in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            if j1 <= line < j2:
                shift = min(i1 + line - j1, max(i1, i2 - 1)) - line
                span = finding.span
                moved = Span(span.line + shift, span.column, span.end_line + shift, span.end_column)
                return replace(finding, span=moved)
        return finding

    def root(self, path: str) -> str:
        """The folder that bounds the program of an entry."""
        folder = os.path.dirname(os.path.abspath(path))
        common = os.path.commonpath([os.path.dirname(key) for key in self.given]) if self.given else folder
        root = sources.repository_root(path)
        return min((root, common), key=len) if folder.startswith(common) else root


# --- analysis -----------------------------------------------------------------------------------------------------
def _scan(space: _Workspace, path: str) -> _Scan:
    """Analyse the program that starts at ``path``; a crash of ours is a problem of this file only."""
    scan = _Scan(path)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, DEEP_ENOUGH))
    try:
        text = space.text(path)
        if text is None:
            return scan
        tree = space.parse(path, text)
        latent = space.settings.reports(Severity.LATENT)
        if not latent and not starts_program(tree.tree):
            return scan
        facts = flow.analyse(path, space.text, space.root(path), latent, space.settings.device, space.parse)
        if facts is not None:
            scan.findings = _findings(space, facts)
            scan.partly = not facts.complete
            scan.hazards = _hazards(facts)
    except SyntaxError as error:
        scan.problems.append(_syntax_problem(path, error))
    except RecursionError:
        scan.problems.append(Problem(path, "nested too deeply to follow", hint="nothing was changed"))
    except Exception as error:  # one bad file never stops the run: it is reported, and the rest goes on
        told = f"internal error ({type(error).__name__}: {error})"
        scan.problems.append(Problem(path, told, hint="please report it; the file was left alone"))
        if os.environ.get("DEVFIX_TRACEBACK"):
            raise
    finally:
        sys.setrecursionlimit(limit)
    return scan


def _syntax_problem(path: str, error: SyntaxError) -> Problem:
    message = f"cannot be parsed: {error.msg or error}"
    return Problem(path, message, error.lineno or 0, "correct the syntax, or exclude the file")


def _findings(space: _Workspace, facts: flow.Facts) -> list[Finding]:
    from codemods import all_rules

    found: dict[_Key, Finding] = {}
    told: set[tuple[str, int, int]] = set()
    for rule in sorted(all_rules(), key=lambda rule: rule.fallback):
        for finding in rule.detect(facts):
            if rule.fallback and any(_place(event) in told for event in finding.events if event.kind == "created"):
                continue  # another rule names the cause
            if not rule.fallback:
                told.update(_place(event) for event in finding.events)
            if space.settings.enabled(finding.code, finding.path) and space.settings.reports(finding.severity):
                same = space.original(finding)
                found.setdefault(_key(same), same)
    return sorted(found.values(), key=_position)


def _place(event: Event) -> tuple[str, int, int]:
    return event.path, event.line, event.column


def _hazards(facts: flow.Facts) -> frozenset[tuple[str, str, str]]:
    """Everything that goes wrong, whether a rule speaks of it or not: an edit must not add to it."""
    found = set()
    for meeting in facts.meetings:
        for operand in meeting.cpu:
            found.add((meeting.site.tree.path, meeting.consumer, operand.text))
    for site in facts.needs_cpu.values():
        found.add((site.tree.path, "needs the CPU", site.tree.line(site.span.line)))
    for hazard in facts.hazards:
        if hazard.kind != "harmless":
            found.add((hazard.built.tree.path, hazard.kind, hazard.optimizer))
    return frozenset(found)


def _position(finding: Finding) -> tuple[object, ...]:
    return (finding.path, finding.span, finding.code, finding.message)


def _key(finding: Finding) -> _Key:
    return finding.code, finding.path, finding.span.line, finding.span.column, finding.message


# --- the two verbs --------------------------------------------------------------------------------------------------
def check(files: Sequence[SourceFile], settings: Settings, jobs: int = 1) -> Outcome:
    """Findings only."""
    return _run(files, settings, jobs, repair=False)


def apply(files: Sequence[SourceFile], settings: Settings, jobs: int = 1, without: Iterable[Finding] = ()) -> Outcome:
    """Findings and the patch that repairs them, but for those of ``without``; nothing is written."""
    return _run(files, settings, jobs, repair=True, without=without)


def fix_text(path: str, text: str, codes: Iterable[str] = ()) -> str:
    """One file's text after repair with the rules of these codes; the same text where there is nothing to do."""
    file = SourceFile(path, text.encode("utf-8", "surrogatepass"), text)
    outcome = apply([file], Settings(select=tuple(codes), root=sources.repository_root(path)))
    for change in outcome.patch.files:
        return change.new.decode("utf-8", "surrogatepass")
    return text


@contextmanager
def _rare_collection() -> Iterator[None]:
    """Syntax trees and records are many and mostly live: Python's collector would walk them again and again."""
    thresholds = gc.get_threshold()
    gc.set_threshold(500_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def _run(
    files: Sequence[SourceFile], settings: Settings, jobs: int, repair: bool, without: Iterable[Finding] = ()
) -> Outcome:
    with _rare_collection():
        return _resolve(files, settings, jobs, repair, frozenset(_key(finding) for finding in without))


def _resolve(
    files: Sequence[SourceFile], settings: Settings, jobs: int, repair: bool, without: frozenset[_Key]
) -> Outcome:
    files = sorted(files, key=lambda file: file.path)
    comments = {file.path: suppressions.collect(file.text) for file in files if can_matter(file.raw)}
    kept = [file for file in files if not (file.path in comments and comments[file.path].skip_file)]
    space = _Workspace(kept, settings)
    entries = [file.path for file in kept if can_matter(file.raw)]
    scans = _scan_all(space, entries, jobs)
    collected = _Collected(space, comments, without)
    for scan in scans:
        collected.problems.update(dict.fromkeys(scan.problems))
        if scan.partly:
            collected.partly.append(scan.path)
        if repair and any(collected.open_to_repair(finding) for finding in scan.findings):
            _repair(space, scan, collected)
        else:
            collected.leave(scan.findings, repair)
    return collected.outcome(len(files))


def _scan_all(space: _Workspace, entries: list[str], jobs: int) -> list[_Scan]:
    if jobs <= 1 or len(entries) < 8:
        return [_scan(space, path) for path in entries]
    size = max(1, len(entries) // (jobs * 8))
    chunks = [entries[start : start + size] for start in range(0, len(entries), size)]
    files = list(space.given.values())
    with ProcessPoolExecutor(jobs, initializer=_start_worker, initargs=(files, space.settings)) as pool:
        # not pool.map: it cancels what waits when it is interrupted, and the pool trips over that
        futures = [pool.submit(_scan_in_worker, chunk) for chunk in chunks]
        return [scan for future in futures for scan in future.result()]


_worker_space: _Workspace | None = None


def _start_worker(files: list[SourceFile], settings: Settings) -> None:
    global _worker_space
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command ends its workers itself
    gc.set_threshold(500_000, 20, 20)
    _worker_space = _Workspace(files, settings)


def _scan_in_worker(paths: list[str]) -> list[_Scan]:
    assert _worker_space is not None
    return [_scan(_worker_space, path) for path in paths]


class _Collected:
    """Resolutions by finding, in the order in which programs were seen; one entry for each cause."""

    def __init__(
        self, space: _Workspace, comments: dict[str, suppressions.Suppressions], without: frozenset[_Key]
    ) -> None:
        self.space = space
        self.without = without
        self.comments = comments
        self.resolutions: dict[_Key, Resolution] = {}
        self.problems: dict[Problem, None] = {}
        self.partly: list[str] = []

    def suppressed(self, finding: Finding) -> bool:
        """Whether a comment in the given file covers the finding."""
        known = self.comments.get(finding.path)
        return known is not None and known.match(finding.code, finding.span, finding.name)

    def usable(self, finding: Finding) -> list[Remedy]:
        """Remedies that this run may apply, best first."""
        unsafe = self.space.settings.unsafe_fixes
        allowed = [remedy for remedy in finding.remedies if unsafe or remedy.safety is Safety.SAFE]
        inside = [r for r in allowed if all(os.path.abspath(path) in self.space.given for path in r.paths)]
        return sorted(inside, key=lambda remedy: remedy.safety is Safety.SAFE) if unsafe else inside

    def open_to_repair(self, finding: Finding) -> bool:
        """Whether this run can try to repair the finding."""
        known = self.resolutions.get(_key(finding))
        if _key(finding) in self.without:
            return False
        return known is None and bool(self.usable(finding)) and not self.suppressed(finding)

    def settle(self, finding: Finding, status: Status, reason: str = "", remedy: Remedy | None = None) -> None:
        """Record what became of a finding; a repair wins over anything said before."""
        known = self.resolutions.get(_key(finding))
        if known is None or (status is Status.FIXED and known.status is not Status.FIXED):
            self.resolutions[_key(finding)] = Resolution(finding, status, reason, remedy)

    def leave(self, findings: Iterable[Finding], repair: bool) -> None:
        """Record findings that are not repaired."""
        for finding in findings:
            usable = self.usable(finding)
            if self.suppressed(finding):
                self.settle(finding, Status.SUPPRESSED)
            elif _key(finding) in self.without:
                self.settle(finding, Status.NOT_FIXED, "left out")
            elif usable and not repair:
                self.settle(finding, Status.FIXABLE, remedy=usable[0])
            elif finding.remedies:
                self.settle(finding, *_why_left(finding, finding.remedies[0], self.space))
            else:
                self.settle(finding, Status.NOT_FIXED, finding.reason or "no remedy is known")

    def outcome(self, checked: int) -> Outcome:
        """Everything, sorted; the patch holds the files whose text changed."""
        changes = []
        for key, text in sorted(self.space.changed.items()):
            file = self.space.given[key]
            new = sources.encode(file, text)
            if new != file.raw:
                changes.append(FileChange(file.path, file.raw, new))
        resolutions = sorted(self.resolutions.values(), key=lambda item: _position(item.finding))
        problems = sorted(self.problems, key=lambda problem: (problem.path, problem.line, problem.message))
        patch = Patch(tuple(sorted(changes, key=lambda change: change.path)))
        return Outcome(tuple(resolutions), patch, tuple(problems), checked, tuple(self._notes()))

    def _notes(self) -> list[Problem]:
        from codemods import rule_for

        def enabled(code: str) -> bool:
            rule = rule_for(code)
            return rule is not None and self.space.settings.enabled(rule.code, "")

        hint = "what lies behind that point was not looked at"
        notes = [Problem(path, "followed only in part, for its size", hint=hint) for path in self.partly]
        for path, known in sorted(self.comments.items()):
            for line, codes in known.unused(enabled):
                listed = f" ({', '.join(codes)})" if codes else ""
                notes.append(Problem(path, f"unused suppression{listed}", line, "remove the comment"))
        return notes


def _why_left(finding: Finding, remedy: Remedy, space: _Workspace) -> tuple[Status, str, Remedy]:
    outside = [path for path in remedy.paths if os.path.abspath(path) not in space.given]
    if outside:
        given = " ".join(sorted({*outside, finding.path}))
        return Status.NOT_FIXED, f"the edit belongs in {', '.join(outside)}: run devfix apply {given}", remedy
    return Status.FIXABLE, "the fix is unsafe: --unsafe-fixes applies it", remedy


# --- repair -------------------------------------------------------------------------------------------------------
def _repair(space: _Workspace, scan: _Scan, collected: _Collected) -> None:
    """Repair the findings of one program, each with the first remedy that holds."""
    original = {_key(finding): finding for finding in scan.findings}
    current = _scan(space, scan.path) if space.changed else scan
    dropped: dict[_Key, str] = {}
    for _ in range(MOST_ROUNDS):
        waiting = [f for f in current.findings if _key(f) not in dropped and collected.open_to_repair(f)]
        finding = waiting[-1] if waiting else None  # from the end: what is moved behind one line keeps its order
        if finding is None:
            break
        shown = original.get(_key(finding), finding)
        attempt = _attempt(space, current, finding, collected)
        if isinstance(attempt, str):
            dropped[_key(finding)] = attempt
        else:
            remedy, current = attempt
            collected.settle(shown, Status.FIXED, remedy=remedy)
    for finding in current.findings:
        if _key(finding) in dropped:
            shown = original.get(_key(finding), finding)
            collected.settle(shown, Status.NOT_FIXED, dropped[_key(finding)])
    collected.leave((f for f in current.findings if _key(f) not in dropped), repair=True)


def _attempt(space: _Workspace, before: _Scan, finding: Finding, collected: _Collected) -> tuple[Remedy, _Scan] | str:
    """Try the remedies of a finding in order: the first that holds, with the scan after it, or why none does."""
    from codemods._rewrite import RewriteError, rewrite

    reason = ""
    for remedy in collected.usable(finding):
        kept = dict(space.changed)
        try:
            for path in remedy.paths:
                text = space.text(path)
                assert text is not None
                edits = [edit for edit in remedy.edits if edit.path == path]
                space.changed[os.path.abspath(path)] = rewrite(text, edits)
        except RewriteError as error:
            space.changed = kept
            reason = reason or f"the edit cannot be placed: {error}"
            continue
        after = _scan(space, before.path)
        problem = _objection(before, after, finding)
        if problem is None:
            return remedy, after
        space.changed = kept
        reason = reason or f"the edit was dropped, because {problem}"
    return reason or finding.reason


def _is_fallback(finding: Finding) -> bool:
    from codemods import rule_for

    rule = rule_for(finding.code)
    return rule is not None and rule.fallback


def _objection(before: _Scan, after: _Scan, finding: Finding) -> str | None:
    """Why an edit does not hold; ``None`` where it does."""
    if after.problems:
        return after.problems[0].message
    if _key(finding) in {_key(other) for other in after.findings}:
        return "the finding is still there after it"
    known = Counter((other.code, other.path, other.message) for other in before.findings)
    known.subtract((other.code, other.path, other.message) for other in after.findings)
    fresh = [other for other in after.findings if known[(other.code, other.path, other.message)] < 0]
    fresh = [other for other in fresh if not _is_fallback(other)]  # those are weighed as hazards, below
    if fresh:
        return f"it would bring a new finding ({fresh[0].code}: {fresh[0].message})"
    worse = after.hazards - before.hazards
    if worse:
        path, consumer, text = sorted(worse)[0]
        return f"`{text}` ({consumer}) in {path} would fail instead"
    return None
