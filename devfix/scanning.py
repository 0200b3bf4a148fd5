"""One program, from its entry file to its findings: reading, flow, rules; in one process or several.

A scan depends on the settings, on the text of each file that was read, and on what the folders hold in which imports
were looked for; a scan with the same of all these can be taken from the cache.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from devfix import flow, sources
from devfix._encoding import from_json, to_json
from devfix.alignment import Alignment
from devfix.cache import Cache, digest, tool_version
from devfix.cells import held_to_cells
from devfix.config import Settings
from devfix.flow.alike import LARGE
from devfix.flow.entries import can_matter, starts_program
from devfix.flow.program import listing
from devfix.flow.sites import Site
from devfix.flow.syntax import SourceTree, text_of
from devfix.model import CellMap, Event, Finding, Problem, Severity
from devfix.sources import SourceError, SourceFile

if TYPE_CHECKING:
    from codemods import Rule

__all__ = [
    "Hazard",
    "Identity",
    "Scan",
    "Workspace",
    "forget_listings",
    "identity",
    "position",
    "scan_all",
    "scan_program",
    "syntax_problem",
    "unparsable",
]

DEEP_ENOUGH = 8_000  # Python frames: programs nest, and so does their interpreter
FEW = 8  # entries that are not worth starting processes for

#: What makes a finding the same one in two scans.
Identity = tuple[str, str, int, int, str]


class Hazard(NamedTuple):
    """Something that goes wrong: in which operation, with which value."""

    path: str
    consumer: str
    text: str


@dataclass
class Scan:
    """What one entry file has to say."""

    path: str
    findings: list[Finding] = field(default_factory=list)
    hazards: Counter[Hazard] = field(default_factory=Counter)
    failing: frozenset[tuple[str, str]] = frozenset()  # files, and lines of them by their source, where it goes wrong
    problems: list[Problem] = field(default_factory=list)
    partly: bool = False
    files: set[str] = field(default_factory=set)  # what was read, or could not be
    folders: set[str] = field(default_factory=set)  # where imports were looked for


class Workspace:
    """The texts of one run: given files, files that they import, and what has been rewritten so far."""

    def __init__(
        self, files: Sequence[SourceFile], settings: Settings, texts: Mapping[str, SourceFile | None] | None = None
    ) -> None:
        self.settings = settings
        self.given = {os.path.abspath(file.path): file for file in files}
        self.names = {key: file.path for key, file in self.given.items()}
        self.texts = texts or {}  # what is to be read otherwise than from the disk
        self._read: dict[str, SourceFile | None] = {}
        self._trees: dict[tuple[str, str, bool], SourceTree] = {}
        self.whole = False  # every line of long data is followed
        self._contents: dict[str, str] = {}
        self._common: str | None = None
        self._alignments: dict[str, tuple[str, Alignment]] = {}
        self.changed: dict[str, str] = {}

    def put(self, file: SourceFile, given: bool = True) -> None:
        """Give a file, or give it anew: what was known of its old text is forgotten.

        A file that is not ``given`` is read where it is imported, and not edited.
        """
        key = os.path.abspath(file.path)
        self.take(key)
        if given:
            self.given[key], self.names[key] = file, file.path
        else:
            self._read[key] = file

    def take(self, key: str) -> None:
        """No longer give the file at an absolute path; and it will be read again."""
        read = self._read.pop(key, None)
        file = self.given.pop(key, None) or read
        if file is not None:
            shown = self.names.pop(key, file.path)
            for whole in (False, True):
                self._trees.pop((shown, file.text, whole), None)
        self._contents.pop(key, None)
        self._common = None

    @property
    def imported(self) -> dict[str, SourceFile | None]:
        """Files that were read beside the given ones, by absolute path; ``None`` for those that cannot be read."""
        return dict(self._read)

    def copy(self) -> Workspace:
        """A workspace of the same files, with what is known of them, in which files can be changed."""
        other = Workspace((), self.settings)
        other.given, other.names = dict(self.given), dict(self.names)
        other._read, other._trees, other._contents = self._read, dict(self._trees), self._contents
        return other

    def text(self, path: str) -> str | None:
        """The present text of a file, ``None`` where it cannot be read."""
        key = os.path.abspath(path)
        if key in self.changed:
            return self.changed[key]
        file = self._file(key)
        return None if file is None else file.text

    def rewritten(self, path: str, text: str) -> None:
        """Take a new text of a given file; raises :class:`SourceError` where the file cannot hold it."""
        key = os.path.abspath(path)
        sources.encode(self.given[key], text)
        self.changed[key] = text

    def _file(self, key: str) -> SourceFile | None:
        if key in self.given:
            return self.given[key]
        if key not in self._read:
            self._read[key] = self._outside(key)
        return self._read[key]

    def _outside(self, key: str) -> SourceFile | None:
        real = os.path.realpath(key)
        if real in self.texts:
            return self.texts[real]
        try:
            return sources.read(key)
        except SourceError:
            return None

    def content(self, key: str) -> str:
        """A digest of the file at an absolute path, and of the name that findings give it."""
        if key not in self._contents:
            file = self._file(key)
            self._contents[key] = digest(
                self.names.get(key, ""), file.raw if file is not None else b"", str(file is None)
            )
        return self._contents[key]

    def cells(self, path: str) -> CellMap | None:
        """Where the lines of a notebook stand; ``None`` for another file."""
        key = os.path.abspath(path)
        file = self._file(key)
        if file is None or file.cells is None:
            return None
        if key not in self.changed:
            return file.cells
        from devfix.sources.notebooks import cells_in

        return cells_in(self.changed[key], file.cells)

    def parse(self, path: str, text: str) -> SourceTree:
        """A parsed file under the name that the user gave it; parsed once for the same text."""
        shown = self.names.get(os.path.abspath(path), path)
        key = (shown, text, self.whole and len(text) >= LARGE)
        if key not in self._trees:
            self._trees[key] = SourceTree(shown, text, thin=not self.whole)
        return self._trees[key]

    def left_out(self, read: Collection[str]) -> bool:
        """Whether lines of data were left out of one of these files."""
        return any(tree.thin and os.path.abspath(tree.path) in read for tree in self._trees.values())

    def original(self, finding: Finding) -> Finding:
        """The finding with its places counted in the texts as they were given, so that it stays the same finding."""
        if not self.changed:
            return finding
        aligned = self._aligned(finding.path)
        span = finding.span if aligned is None else aligned.span(finding.span)
        return replace(finding, span=span, events=tuple(map(self._original_event, finding.events)))

    def _original_event(self, event: Event) -> Event:
        aligned = self._aligned(event.path)
        if aligned is None:
            return event
        line, column = aligned.place(event.line, event.column)
        return replace(event, line=line, column=column)

    def given_event(self, event: Event) -> Event:
        """An event whose line is counted in the text as it was given, with the source that stands there."""
        aligned = self._aligned(event.path)
        return event if aligned is None else replace(event, source=aligned.there(event.line).strip())

    def _aligned(self, path: str) -> Alignment | None:
        """The present text of a changed file, and the one that was given."""
        key = os.path.abspath(path)
        if key not in self.changed:
            return None
        present = self.changed[key]
        known = self._alignments.get(key)
        if known is None or known[0] != present:
            known = self._alignments[key] = present, Alignment(present, self.given[key].text)
        return known[1]

    def root(self, path: str) -> str:
        """The folder that bounds the program of an entry."""
        folder = os.path.dirname(os.path.abspath(path))
        if self._common is None:
            self._common = os.path.commonpath([os.path.dirname(key) for key in self.given]) if self.given else folder
        common = self._common
        root = sources.repository_root(path)
        return min((root, common), key=len) if folder.startswith(common) else root


# --- analysis -----------------------------------------------------------------------------------------------------
def scan_program(space: Workspace, path: str, watch: flow.Watch | None = None) -> Scan:
    """Analyse the program that starts at ``path``; a crash of ours is a problem of this file only.

    Of long data a few lines are followed first; where something is wrong, all of them.
    ``watch`` sees the values, and may end the scan by an exception that is no ``Exception``.
    """
    scan = _scan_once(space, path, watch)
    if not (scan.findings or scan.hazards or scan.partly) or not space.left_out(scan.files):
        return scan
    space.whole = True
    try:
        return _scan_once(space, path, watch)
    finally:
        space.whole = False


def _scan_once(space: Workspace, path: str, watch: flow.Watch | None) -> Scan:
    scan = Scan(path, files={os.path.abspath(path)})

    def read(name: str) -> str | None:
        scan.files.add(os.path.abspath(name))
        return space.text(name)

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
        facts = flow.analyse(path, read, space.root(path), latent, space.settings.device, space.parse, watch)
        if facts is not None:
            scan.findings = _findings(space, facts)
            scan.partly = not facts.complete
            hazards = list(_hazards(facts))
            scan.hazards = Counter(hazard for _, hazard in hazards)
            scan.failing = frozenset((site.tree.path, site.tree.line(site.span.line)) for site, _ in hazards)
            scan.folders = facts.folders
    except SyntaxError as error:
        scan.problems.append(syntax_problem(path, error))
    except RecursionError:
        scan.problems.append(Problem(path, "nested too deeply to follow", hint="nothing was changed"))
    except _Theirs as error:
        scan.problems.append(Problem(path, str(error), hint="please report it to its authors"))
        if os.environ.get("DEVFIX_TRACEBACK"):
            raise
    except Exception as error:  # one bad file never stops the run: it is reported, and the rest goes on
        told = f"internal error ({type(error).__name__}: {error})"
        scan.problems.append(Problem(path, told, hint="please report it; the file was left alone"))
        if os.environ.get("DEVFIX_TRACEBACK"):
            raise
    finally:
        sys.setrecursionlimit(limit)
    return scan


def unparsable(files: Sequence[SourceFile]) -> list[Problem]:
    """What is wrong with those of these files that no scan reads, since nothing in them can matter."""
    found = []
    for file in files:
        if not can_matter(file.raw):
            try:
                SourceTree(file.path, file.text, thin=True)
            except SyntaxError as error:
                found.append(syntax_problem(file.path, error))
    return found


def syntax_problem(path: str, error: SyntaxError) -> Problem:
    """Why a file cannot be parsed, as one line."""
    message = f"cannot be parsed: {error.msg or error}"
    hint = "correct the syntax, or exclude the file"
    if "async=" in (error.text or "").replace(" ", ""):
        hint = "`async` is a keyword since Python 3.7: write non_blocking="
    return Problem(path, message, error.lineno or 0, hint)


def _findings(space: Workspace, facts: flow.Facts) -> list[Finding]:
    from codemods import all_rules

    found: dict[Identity, Finding] = {}
    told: set[tuple[str, int]] = set()
    settings = space.settings
    rules = [rule for rule in all_rules() if rule.default or settings.asks_for(rule.code)]
    for rule in sorted(rules, key=lambda rule: rule.fallback):
        for finding in _detected(rule, facts):
            if rule.fallback and any(_place(event) in told for event in finding.events if event.kind == "created"):
                continue  # another rule names the cause
            if not rule.fallback:
                told.update(_place(event) for event in finding.events)
            wanted = settings.reports(finding.severity) or not rule.default
            if wanted and settings.enabled(finding.code, finding.path):
                same = space.original(held_to_cells(finding, space.cells, space.text))
                found.setdefault(identity(same), same)
    return sorted(found.values(), key=position)


def _detected(rule: Rule, facts: flow.Facts) -> Iterable[Finding]:
    """What a rule finds; a crash in a rule of somebody else is told as theirs."""
    if not rule.origin:
        return rule.detect(facts)
    try:
        return list(rule.detect(facts))
    except Exception as error:
        raise _Theirs(f"{rule.code} of {rule.origin} failed ({type(error).__name__}: {error})") from error


class _Theirs(Exception):
    """A rule of a plugin has crashed: what is to be told."""


def _place(event: Event) -> tuple[str, int]:
    """Where an event is told: a story has one event for a line, also where several tensors are made there."""
    return event.path, event.line


def _hazards(facts: flow.Facts) -> Iterator[tuple[Site, Hazard]]:
    """Everything that goes wrong, whether a rule speaks of it or not: an edit must not add to it."""
    found = [(meeting.site, meeting.consumer, operand.text) for meeting in facts.meetings for operand in meeting.cpu]
    found += [(use.site, use.consumer, text_of(use.expression)) for use in facts.needs_cpu.values()]
    found += [(each.built, each.kind, each.optimizer) for each in facts.hazards if each.kind != "harmless"]
    for site, consumer, text in found:
        yield site, Hazard(site.tree.path, consumer, text)


def position(finding: Finding) -> tuple[object, ...]:
    """The order of findings."""
    return (finding.path, finding.span, finding.code, finding.message)


def identity(finding: Finding) -> Identity:
    """Code, path, line, column, message."""
    return finding.code, finding.path, finding.span.line, finding.span.column, finding.message


# --- many programs --------------------------------------------------------------------------------------------------
def scan_all(space: Workspace, entries: list[str], jobs: int, cache: Cache | None = None) -> list[Scan]:
    """The scans of these entry files, in their order; those that the cache holds are not made again."""
    known = {} if cache is None else _kept(space, entries, cache)
    missing = [path for path in entries if path not in known]
    if jobs <= 1 or len(missing) < FEW:
        made = [scan_program(space, path) for path in missing]
    else:
        made = _scan_in_parallel(space, missing, jobs)
    if cache is not None:
        _keep(space, made, cache)
    known.update((scan.path, scan) for scan in made)
    return [known[path] for path in entries]


def _scan_in_parallel(space: Workspace, entries: list[str], jobs: int) -> list[Scan]:
    size = max(1, len(entries) // (jobs * 8))
    chunks = [entries[start : start + size] for start in range(0, len(entries), size)]
    shared = list(space.given.values()), space.settings, space.texts
    with ProcessPoolExecutor(jobs, initializer=_start_worker, initargs=shared) as pool:
        # not pool.map: it cancels what waits when it is interrupted, and the pool trips over that
        futures = [pool.submit(_scan_in_worker, chunk) for chunk in chunks]
        return [scan for future in futures for scan in future.result()]


_worker_space: Workspace | None = None


def _start_worker(files: list[SourceFile], settings: Settings, texts: Mapping[str, SourceFile | None]) -> None:
    global _worker_space
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command ends its workers itself
    gc.set_threshold(500_000, 20, 20)
    if settings.plugins:  # a process that was not forked has not imported them
        from devfix import plugins

        plugins.local(settings.plugins, settings.root)
    _worker_space = Workspace(files, settings, texts)


def _scan_in_worker(paths: list[str]) -> list[Scan]:
    assert _worker_space is not None
    return [scan_program(_worker_space, path) for path in paths]


# --- what earlier runs know -----------------------------------------------------------------------------------------
def _cache_key(space: Workspace, path: str) -> str:
    from devfix import plugins

    rules = tool_version(), plugins.version()
    return digest(*rules, repr(space.settings), os.getcwd(), os.path.abspath(path), path, space.root(path))


def _kept(space: Workspace, entries: list[str], cache: Cache) -> dict[str, Scan]:
    """Scans of an earlier run that still hold: the same files, the same names where imports were looked for."""
    keys = {_cache_key(space, path): path for path in entries}
    known: dict[str, Scan] = {}
    for key, text in cache.get(keys).items():
        try:
            state, files, folders, findings, hazards, failing, partly = from_json(text)
        except ValueError:
            continue  # written by another release, or damaged: the scan is made again
        if state == _state(space, files, folders):
            path = keys[key]
            counted = Counter({Hazard(*each): count for each, count in hazards})
            seen = set(files), set(folders)
            known[path] = Scan(path, list(findings), counted, frozenset(failing), [], partly, *seen)
    return known


def _keep(space: Workspace, made: list[Scan], cache: Cache) -> None:
    values = {}
    for scan in made:
        if not scan.problems:
            files, folders = sorted(scan.files), sorted(scan.folders)
            state = _state(space, files, folders)
            wrong = sorted(scan.hazards.items()), sorted(scan.failing)
            content = state, files, folders, scan.findings, *wrong, scan.partly
            values[_cache_key(space, scan.path)] = to_json(content)
    cache.put(values)


def _state(space: Workspace, files: Sequence[str], folders: Sequence[str]) -> str:
    return digest(*(space.content(path) for path in files), *(_importable(folder) for folder in folders))


def forget_listings() -> None:
    """Files may have come or gone: look into folders again."""
    listing.cache_clear()
    _importable.cache_clear()


@lru_cache(maxsize=4096)
def _importable(folder: str) -> str:
    """A digest of the names in a folder that an import can mean."""
    return digest(*sorted(name for name in listing(folder) if name.endswith(".py") or name.isidentifier()))
