"""The state of one project between keystrokes: texts, scans, and which of them are out of date.

A scan stays valid until a file that it read changes, or a name appears in a folder that it searched for imports.  All
of this belongs to the analysis thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from devfix import sources
from devfix.analysis import Watch
from devfix.analysis.entrypoints import can_matter
from devfix.analysis.program import WHOLE
from devfix.config import Settings
from devfix.engine import fixpoint, suppressions
from devfix.engine.entry_files import starts_any_program
from devfix.engine.outcome import Resolutions
from devfix.engine.parallel_scan import forget_listings
from devfix.engine.scan import Identity, Scan, identity, scan_file, syntax_problem
from devfix.engine.workspace import Workspace
from devfix.lsp.documents import moved_span
from devfix.lsp.values import Sightings
from devfix.model import Event, Finding, Problem, Resolution, Span
from devfix.sources import SourceError, SourceFile

__all__ = ["MOST_CHARACTERS", "Project", "Repair", "Report"]

MOST_CHARACTERS = 2_000_000  # larger files are data
MOST_PROGRAMS = 20  # programs per file that are analysed for hover
_EVERY = 64  # values between two checks for cancellation

StillWanted = Callable[[], None]


@dataclass(frozen=True)
class Report:
    """The diagnostics of one file; ``complete`` if every program that reads it was scanned."""

    resolutions: tuple[Resolution, ...]
    notes: tuple[Problem, ...]
    problems: tuple[Problem, ...]
    complete: bool


@dataclass(frozen=True)
class Repair:
    """A fix that holds: the resolutions, and the new text of each file by its absolute path."""

    resolutions: tuple[Resolution, ...]
    texts: Mapping[str, str]


class Project:
    """The files of one folder with their settings; ``whole``: including files that are not open."""

    def __init__(self, folder: str, settings: Settings, whole: bool = True) -> None:
        self.folder = folder
        self.settings = settings
        self.whole = whole
        self.space = Workspace((), settings)
        self.scans: dict[str, Scan] = {}
        self.stale: set[str] = set()
        self.present: dict[str, str] = {}  # open files, including unparsable ones
        self._seen: dict[str, dict[str, str]] = {}  # entry → open files at the time of the scan
        self._broken: dict[str, Problem] = {}
        self._on_disk: dict[str, tuple[int, int]] = {}
        self._sightings: dict[str, Sightings] = {}
        self._loaded = False

    # --- texts ------------------------------------------------------------------------------------------------
    def sync(self, buffers: Mapping[str, str]) -> None:
        """Update the texts of the open files, by absolute path."""
        if not self._loaded:
            self.refresh()
        for path in [path for path in self.present if path not in buffers]:
            del self.present[path]
            self._broken.pop(path, None)
            self._from_disk(path)
        for path, text in buffers.items():
            if self.present.get(path) != text:
                self._take(path, text)

    def _take(self, path: str, text: str) -> None:
        self.present[path] = text
        problem = self._problem(path, text)
        if problem is not None:
            self._broken[path] = problem  # the last parsable text stays in the analysis
            return
        self._broken.pop(path, None)
        self._put(SourceFile(path, text.encode("utf-8", "surrogatepass"), text))

    def _problem(self, path: str, text: str) -> Problem | None:
        """Return why a text cannot be analysed."""
        if len(text) > MOST_CHARACTERS:
            told = f"too long to follow while you type ({len(text):,} characters)"
            return Problem(path, told, 1, "devfix check reads it")
        try:
            self.space.parse(path, text)
        except SyntaxError as error:
            return syntax_problem(path, error)
        return None

    def refresh(self) -> None:
        """Update from disk: files were created, deleted or changed."""
        self._loaded = True
        forget_listings()
        if self.space.renew_models():
            self._sightings.clear()
            self.stale.update(self.scans)
        for path, file in self.space.imported.items():
            if path not in self.present and (file is None or file.raw != _raw(path)):
                self.space.take(path)
                self._touch(path)
        if not self.whole:
            self._assume_callers()
            return
        found = [
            path
            for path in sources.discover([self.folder], self.settings.exclude, self.settings.root).files
            if not path.endswith(sources.NOTEBOOK)  # editors count its lines differently: by cell or in JSON
        ]
        for path in self._on_disk.keys() - set(found):
            del self._on_disk[path]
            if path not in self.present:
                self._drop(path)
        for path in found:
            signature = _signature(path)
            if signature is not None and self._on_disk.get(path) != signature:
                self._on_disk[path] = signature
                if path not in self.present:
                    self._from_disk(path)
        self._assume_callers()

    def _assume_callers(self) -> None:
        """Report, as ``devfix check`` does, what any caller meets if no file of the project starts a program."""
        paths = [path for path, file in self.space.given.items() if can_matter(file.raw)]
        starts_none = not starts_any_program(self.space, paths)
        if starts_none != self.space.settings.starts_no_program:
            self.space.settings = replace(self.settings, starts_no_program=starts_none)
            self.stale.update(self.scans)

    def _from_disk(self, path: str) -> None:
        try:
            file = sources.read(path) if self.whole and path in self._on_disk else None
        except SourceError:
            file = None
        if file is None or sources.is_generated(file.raw):
            self._drop(path)
        else:
            self._put(file)

    def _put(self, file: SourceFile) -> None:
        fresh = file.path not in self.space.given
        skipped = b"devfix:" in file.raw and suppressions.collect(file.text).skip_file
        self.space.put(file, given=not skipped)
        self._sightings.clear()
        if fresh:
            self._appeared(file.path)
        self._touch(file.path)
        if can_matter(file.raw) and not skipped:
            self.stale.add(file.path)
        else:
            self._forget_scan(file.path)

    def _drop(self, path: str) -> None:
        self.space.take(path)
        self._sightings.clear()
        self._touch(path)
        self._appeared(path)
        self._forget_scan(path)

    def _touch(self, path: str) -> None:
        self.stale.update(entry for entry, scan in self.scans.items() if path in scan.files)

    def _appeared(self, path: str) -> None:
        """Handle a created or deleted name: scans that looked for it, or for its folder, may differ."""
        places = [os.path.split(path), os.path.split(os.path.dirname(path))]
        self.stale.update(
            entry
            for entry, scan in self.scans.items()
            if any({name, WHOLE} & scan.lookups.get(folder, set()) for folder, name in places)
        )

    def _forget_scan(self, path: str) -> None:
        self.scans.pop(path, None)
        self._seen.pop(path, None)
        self.stale.discard(path)

    # --- scans ------------------------------------------------------------------------------------------------
    def about(self, path: str) -> list[str]:
        """Return the entry files whose programs read a file: itself first."""
        others = sorted(entry for entry, scan in self.scans.items() if path in scan.files and entry != path)
        return [path, *others] if path in self.scans or path in self.stale else others

    def scan(self, entries: Iterable[str], still_wanted: StillWanted) -> list[Problem]:
        """Update the scans of some entry files; return internal errors."""
        crashes = []
        for entry in entries:
            still_wanted()
            if entry in self.stale:
                scan = scan_file(self.space, entry, _asking(still_wanted))
                self.scans[entry] = scan
                self._sightings.clear()
                self._seen[entry] = {path: file.text for path in scan.files if (file := self._open(path))}
                self.stale.discard(entry)
                crashes += [problem for problem in scan.problems if problem.message.startswith("internal error")]
        return crashes

    def _open(self, path: str) -> SourceFile | None:
        return self.space.given.get(path) if path in self.present else None

    # --- what to show -----------------------------------------------------------------------------------------
    def report(self, path: str) -> Report:
        """Return the diagnostics of an open file; of outdated scans, the findings whose lines are unchanged."""
        text = self.present[path]
        problems = tuple(filter(None, [self._broken.get(path)]))
        comments = suppressions.collect(text)
        if comments.skip_file:
            return Report((), (), (), True)
        entries = self.about(path)
        complete = not problems and not self.stale
        collected = Resolutions(self.space, {path: comments}, frozenset(), repair=False)
        for entry in entries:
            if entry in self.scans:
                collected.leave(self._still_there(path, entry))
                if self.scans[entry].partly and entry == path:
                    collected.partly.append(entry)
        outcome = collected.outcome(0)
        notes = outcome.notes if complete else ()
        return Report(outcome.resolutions, notes, problems, complete)

    def _still_there(self, path: str, entry: str) -> list[Finding]:
        """Yield the findings of a scan in a file that its present text still contains."""
        found = [each for each in self.scans[entry].findings if os.path.abspath(each.path) == path]
        seen, present = self._seen[entry].get(path), self.present[path]
        if seen is None:  # the file was not open: it is as on the disk, or the scan is out of date
            file = self.space.given.get(path)
            seen = file.text if file is not None and entry not in self.stale else present
        if seen == present:
            return found
        return [moved for each in found if (moved := _moved(each, seen, present)) is not None]

    def sightings(self, path: str, still_wanted: StillWanted) -> Sightings | None:
        """Return the values in a file in all programs that read it; ``None`` if it does not parse, or for too many."""
        others = [entry for entry in self.about(path) if entry != path]
        if path in self._broken or path not in self.present or len(others) > MOST_PROGRAMS:
            return None
        if path not in self._sightings:
            found = Sightings(path)
            for entry in (path, *others):
                found.look(self.space, entry, still_wanted)
            self._sightings[path] = found
        return self._sightings[path]

    # --- repairs ----------------------------------------------------------------------------------------------
    def repair(self, path: str, wanted: Callable[[Finding], bool], unsafe: bool = False) -> Repair | None:
        """Fix some findings of a file; return ``None`` if no edit holds, or the scans are out of date."""
        entries = self.about(path)
        if path in self._broken or path not in self.present or not self.stale.isdisjoint(entries):
            return None
        space = self.space.copy()
        space.settings = replace(self.space.settings, unsafe_fixes=unsafe)
        comments = {path: suppressions.collect(self.present[path])}
        scans = [self.scans[entry] for entry in entries]
        here = [each for scan in scans for each in scan.findings if os.path.abspath(each.path) == path]
        collected = Resolutions(
            space, comments, _AllBut({identity(each) for each in here if wanted(each)}), repair=True
        )
        outcome = fixpoint.settle(collected, scans)
        texts = {key: text for key, text in space.changed.items() if text != space.given[key].text}
        if any(space.given[key].cells is not None for key in texts):
            return None  # clients do not edit the lines of the program
        return Repair(outcome.resolutions, texts) if texts else None


class _AllBut:
    """Every finding except a few, including those that an edit causes."""

    def __init__(self, wanted: set[Identity]) -> None:
        self._wanted = wanted

    def __contains__(self, other: object) -> bool:
        return other not in self._wanted


def _asking(still_wanted: StillWanted) -> Watch:
    count = 0

    def watch(*_: object) -> None:
        nonlocal count
        count += 1
        if count % _EVERY == 0:
            still_wanted()

    return watch


def _moved(finding: Finding, old: str, new: str) -> Finding | None:
    """Return a finding with the lines of a newer text; ``None`` if its own lines were changed."""
    span = moved_span(finding.span, old, new)
    if span is None:
        return None
    events: list[Event] = []
    for event in finding.events:
        at = Span(event.line, event.column, event.line, event.column)
        moved = moved_span(at, old, new) if event.path == finding.path else at
        if moved is not None:
            events.append(replace(event, line=moved.line))
    return replace(finding, span=span, events=tuple(events))


def _signature(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _raw(path: str) -> bytes | None:
    try:
        return sources.read(path).raw
    except SourceError:
        return None
