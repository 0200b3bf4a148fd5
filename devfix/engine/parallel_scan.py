"""The scans of many programs, in one process or several, reusing cached ones that are still valid.

A scan depends on the settings, the text of each file that it read, and on which of the names that it looked for are in
their folders.  A cached scan is reused if all of these are unchanged.
"""

from __future__ import annotations

import gc
import os
import signal
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from itertools import starmap

from devfix.analysis.program import WHOLE, listing
from devfix.config import Settings
from devfix.engine.cache import Cache, MemoryCache, tool_version
from devfix.engine.dependencies import Dependencies, shared
from devfix.engine.failures import Failure
from devfix.engine.import_path import can_start_workers, safe_import_path
from devfix.engine.model_json import from_json, to_json
from devfix.engine.scan import Hazard, Place, Scan, asks_for_more, identity, scan_library, scan_program
from devfix.engine.workspace import Workspace
from devfix.model import Severity
from devfix.sources import SourceFile
from devfix.sources.digest import digest
from devfix.sources.freed_memory import return_freed

__all__ = ["Progress", "Workers", "forget_listings", "keep_rewritten", "scan_all"]

_READ = (".py", ".yaml", ".yml")
_PUT_AT_ONCE = 200  # entries of the cache: those of large projects take much memory
FEW = 8  # entries that are not worth a worker process

#: Is told what is being done, how many files of how many are done, and a file that was just finished or is next.
Progress = Callable[[str, int, int, str], None]


def scan_all(space: Workspace, entries: list[str], workers: Workers, cache: Cache | None = None) -> list[Scan]:
    """Return the scans of files, in their order: each as a program, and for the functions that no program calls.

    Cached scans are reused.
    """
    programs = _scans(space, [(path, None) for path in entries], workers, cache, "programs")
    reached: dict[str, set[Place]] = {}
    for place in (place for scan in programs for place in scan.reached):
        reached.setdefault(place[0], set()).add(place)
    left = [scan.path for scan in programs if not scan.problems]
    tasks = [(path, frozenset(reached.get(os.path.abspath(path), ()))) for path in left]
    libraries = {scan.path: scan for scan in _scans(space, tasks, workers, cache, "functions")}
    scans = [(scan, libraries[scan.path]) if scan.path in libraries else (scan,) for scan in programs]
    return [each for both in scans for each in both if each.is_program or each.problems or each is not both[0]]


#: A file to scan: as a program, or as a library without the functions that programs call.
Task = tuple[str, "frozenset[Place] | None"]


def _scans(space: Workspace, tasks: Sequence[Task], workers: Workers, cache: Cache | None, doing: str) -> list[Scan]:
    keys = {} if cache is None else _cache_keys(space, tasks)
    known = {} if cache is None else _kept(space, keys, cache)
    if cache is not None:
        known |= _kept(space, {task: _rewritten_key(key) for task, key in keys.items() if task not in known}, cache)
    missing = [task for task in tasks if task not in known]
    made = workers.scan(missing, doing)
    if cache is not None:
        _keep(space, keys, missing, made, cache)
    known.update(zip(missing, made, strict=True))
    return [known[task] for task in tasks]


class Workers:
    """This process, or several that are started when they are first worth it.

    Args:
        space: the texts.
        jobs: the most processes.
        repeated: has the repeated scans of an earlier run on the same given files, and gets those of this one.
        progress: is told of each file.

    """

    def __init__(
        self, space: Workspace, jobs: int, repeated: MemoryCache | None = None, progress: Progress | None = None
    ) -> None:
        self._space = space
        self._repeated = repeated
        self.progress: Progress = progress or (lambda doing, done, total, path: None)
        self._jobs = jobs if can_start_workers() else 1
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def scan(self, tasks: list[Task], doing: str = "") -> list[Scan]:
        """Return the scans of files with their present texts, in their order.

        Args:
            tasks: the files.
            doing: what the progress is called; empty if it is a part of something else.

        """
        if self._jobs <= 1 or len(tasks) < (FEW if self._pool is None else 2):
            try:
                return [self._told(doing, number, tasks) for number in range(len(tasks))]
            finally:
                gc.unfreeze()  # what return_freed has frozen may be garbage after this scan
        size = max(1, len(tasks) // (self._jobs * 8))
        chunks = [tasks[start : start + size] for start in range(0, len(tasks), size)]
        # not pool.map: an interrupt cancels its waiting futures, which breaks the pool
        with safe_import_path():  # creating the pool and submitting to it start processes
            if self._pool is None:
                shared = list(self._space.given.values()), self._space.settings, self._space.texts
                self._pool = ProcessPoolExecutor(self._jobs, initializer=_start_worker, initargs=shared)
            state = self._space.changed, self._space.errors
            futures = [self._pool.submit(_scan_in_worker, chunk, *state) for chunk in chunks]
        if doing:
            done = 0
            for future in as_completed(futures):
                chunk = chunks[futures.index(future)]
                done += len(chunk)
                self.progress(doing, done, len(tasks), chunk[-1][0])
        return [scan for future in futures for scan in future.result()]

    def _told(self, doing: str, number: int, tasks: list[Task]) -> Scan:
        if doing:
            self.progress(doing, number, len(tasks), tasks[number][0])
        return _scan(self._space, tasks[number])

    def scan_again(self, scans: list[Scan]) -> list[Scan]:
        """Repeat scans, because texts have changed."""
        tasks = [_task(scan) for scan in scans]
        if self._repeated is None:
            return self.scan(tasks)
        space, before = self._space, dict(zip(tasks, scans, strict=True))
        keys = {task: _repeated_key(space, before[task], key) for task, key in _cache_keys(space, tasks).items()}
        known = _kept(space, keys, self._repeated)
        missing = [task for task in tasks if task not in known]
        for task, made in zip(missing, self.scan(missing), strict=True):
            known[task] = made
            if made.files.isdisjoint(space.changed.keys() - before[task].files):
                _keep(space, keys, [task], [made], self._repeated)
        return [known[task] for task in tasks]


def _rewritten_key(key: str) -> str:
    return digest("rewritten", key)


def _repeated_key(space: Workspace, before: Scan, key: str) -> str:
    """Return the key of a repeated scan: its positions are those of the given texts of changed files."""
    changed = sorted(before.files & space.changed.keys())
    given = [text for path in changed for text in (path, space.given[path].raw, space.content(path))]
    return digest("again", key, *given)


def _task(scan: Scan) -> Task:
    return scan.path, None if scan.is_program else scan.reached


def _scan(space: Workspace, task: Task) -> Scan:
    path, left_out = task
    space.release_trees()
    return_freed()
    return scan_program(space, path) if left_out is None else scan_library(space, path, left_out)


_worker_space: Workspace | None = None


def _start_worker(files: list[SourceFile], settings: Settings, texts: Mapping[str, SourceFile | None]) -> None:
    global _worker_space
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command ends its workers itself
    gc.set_threshold(500_000, 20, 20)
    if settings.plugins:  # a spawned process has not imported them
        from devfix.rules import plugins

        plugins.load_local_rules(settings.plugins, settings.root)
    _worker_space = Workspace(files, settings, texts)


def _scan_in_worker(tasks: list[Task], changed: dict[str, str], errors: frozenset[tuple[object, ...]]) -> list[Scan]:
    assert _worker_space is not None
    _worker_space.changed, _worker_space.errors = changed, errors
    return [_scan(_worker_space, task) for task in tasks]


# --- cached scans ---------------------------------------------------------------------------------------------------
def keep_rewritten(space: Workspace, scans: Iterable[Scan], cache: Cache) -> None:
    """Cache the scans of rewritten texts, so that a run on the written files does not repeat them.

    Positions in a scan are those of the given texts, so scans with a position in a rewritten file are left out, as are
    those that read a rewritten notebook, whose text follows from its cells.  The scans of the given texts stay.
    """
    changed = space.changed.keys()
    notebooks = {path for path in changed if space.cells(path) is not None}
    kept = [
        scan
        for scan in scans
        if not scan.files.isdisjoint(changed)
        and scan.files.isdisjoint(notebooks)
        and changed.isdisjoint(map(os.path.abspath, scan.positioned()))
        and not any(
            finding.severity is not Severity.ERROR and (*scan.key, *identity(finding)) in space.errors
            for finding in scan.findings
        )
    ]
    tasks = [_task(scan) for scan in kept]
    keys = {task: _rewritten_key(key) for task, key in _cache_keys(space, tasks).items()}
    _keep(space, keys, tasks, kept, cache)


def _cache_keys(space: Workspace, tasks: Sequence[Task]) -> dict[Task, str]:
    """Return the key of each task: of all on which it depends besides files."""
    from devfix.rules import plugins

    flags = space.flags().text if asks_for_more(space.settings) else ""
    common = digest(tool_version(), plugins.version(), space.models.content, repr(space.settings), os.getcwd(), flags)
    keys = {}
    for task in tasks:
        path, left_out = task
        functions = repr(None if left_out is None else sorted(left_out))
        keys[task] = digest(common, functions, os.path.abspath(path), path, space.root(path))
    return keys


def _kept(space: Workspace, keys: Mapping[Task, str], cache: Cache) -> dict[Task, Scan]:
    """Return the cached scans that are still valid."""
    tasks = {key: task for task, key in keys.items()}
    rows: dict[Task, tuple[str, str, Scan]] = {}
    for key, text in cache.get(tasks).items():
        try:
            state, needed, *rest = from_json(text)
            findings, hazards, failures, partly, is_program, reached, coverage, hidden = rest
        except ValueError:
            continue  # written by another release, or damaged: scan again
        rows[tasks[key]] = (
            state,
            needed,
            Scan(
                tasks[key][0],
                list(findings),
                list(hidden),
                Counter({Hazard(*each): count for each, count in hazards}),
                frozenset(starmap(Failure, failures)),
                partly=partly,
                is_program=is_program,
                reached=frozenset(reached),
                coverage=dict(coverage),
            ),
        )
    present = _present_states(space, {needed for _, needed, _ in rows.values()}, cache)
    known: dict[Task, Scan] = {}
    for task, (state, needed, scan) in rows.items():
        now, seen = present.get(needed, ("", scan.dependencies))
        if state == now:
            scan.dependencies = seen
            known[task] = scan
    return known


def _present_states(space: Workspace, keys: Iterable[str], cache: Cache) -> dict[str, tuple[str, Dependencies]]:
    """Return the cached dependencies, and the state in which they are now."""
    rows = _rows(keys, cache)
    rows |= _rows({base for base, _, _ in rows.values() if base}, cache)
    known: dict[str, Dependencies] = {}
    states: dict[Dependencies, str] = {}
    found = {}
    for key in sorted(rows, key=lambda key: bool(rows[key][0])):  # bases first
        base, files, searched = rows[key]
        if base and base not in known:
            continue
        names = {folder: frozenset(each) for folder, each in searched}
        known[key] = shared(frozenset(files), names, known[base] if base else None)
        found[key] = _state(space, known[key], states), known[key]
    return found


def _rows(keys: Iterable[str], cache: Cache) -> dict[str, tuple[str, list[str], list[tuple[str, list[str]]]]]:
    """Return cached dependencies: the key of their base, their own files, and what was looked for."""
    rows = {}
    for key, text in cache.get(keys).items():
        with suppress(ValueError):
            base, files, searched = from_json(text)
            rows[key] = base, files, searched
    return rows


def _keep(
    space: Workspace, keys: Mapping[Task, str], tasks: Sequence[Task], made: Sequence[Scan], cache: Cache
) -> None:
    values, states = dict[str, str](), dict[Dependencies, str]()
    for task, scan in zip(tasks, made, strict=True):
        if not scan.problems:
            seen = scan.dependencies
            for each in (seen.base, seen):
                if each is not None and each not in states:
                    _state(space, each, states)
                    base = "" if each.base is None else each.base.key
                    values[each.key] = to_json((base, sorted(each.own_files), each.own_searched()))
            wrong = sorted(scan.hazards.items()), sorted(scan.failures)
            covered = tuple(scan.coverage.items())
            known = scan.partly, scan.is_program, sorted(scan.reached), covered, scan.hidden
            values[keys[task]] = to_json((states[seen], seen.key, scan.findings, *wrong, *known))
        if len(values) >= _PUT_AT_ONCE:
            cache.put(values)
            values = {}
    cache.put(values)


def _state(space: Workspace, seen: Dependencies, states: dict[Dependencies, str]) -> str:
    """Return a digest of what a scan depends on, as it is now; ``states`` are the digests that are known."""
    if seen not in states:
        there = [f"{folder} {_there(folder, names)}" for folder, names in sorted(seen.own_lookups.items())]
        base = "" if seen.base is None else _state(space, seen.base, states)
        states[seen] = digest(base, *(space.content(path) for path in sorted(seen.own_files)), *there)
    return states[seen]


def _there(folder: str, names: Collection[str]) -> list[str]:
    """Return the names that are in a folder, of those that were looked for."""
    return sorted(listing(folder).intersection(names)) if WHOLE not in names else _significant(folder)


def forget_listings() -> None:
    """Forget folder listings, because files may have changed."""
    listing.cache_clear()


def _significant(folder: str) -> list[str]:
    """Return the names in a folder that an analysis may read: code, configuration, folders."""
    return sorted(name for name in listing(folder) if name.endswith(_READ) or name.isidentifier())
