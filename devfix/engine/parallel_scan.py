"""The scans of many programs, in one process or several, reusing cached ones that are still valid.

A scan depends on the settings, the text of each file that it read, and the names in the folders that it searched for
imports.  A cached scan is reused if all of these are unchanged.
"""

from __future__ import annotations

import gc
import os
import signal
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache

from devfix.analysis.program import listing
from devfix.config import Settings
from devfix.engine.cache import Cache, tool_version
from devfix.engine.model_json import from_json, to_json
from devfix.engine.scan import Hazard, Scan, scan_program
from devfix.engine.workspace import Workspace
from devfix.sources import SourceFile
from devfix.sources.digest import digest

__all__ = ["forget_listings", "scan_all"]

FEW = 8  # entries that are not worth a worker process


def scan_all(space: Workspace, entries: list[str], jobs: int, cache: Cache | None = None) -> list[Scan]:
    """Return the scans of entry files, in their order; cached ones are reused."""
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
        # not pool.map: an interrupt cancels its waiting futures, which breaks the pool
        futures = [pool.submit(_scan_in_worker, chunk) for chunk in chunks]
        return [scan for future in futures for scan in future.result()]


_worker_space: Workspace | None = None


def _start_worker(files: list[SourceFile], settings: Settings, texts: Mapping[str, SourceFile | None]) -> None:
    global _worker_space
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command ends its workers itself
    gc.set_threshold(500_000, 20, 20)
    if settings.plugins:  # a spawned process has not imported them
        from devfix.rules import plugins

        plugins.load_local_rules(settings.plugins, settings.root)
    _worker_space = Workspace(files, settings, texts)


def _scan_in_worker(paths: list[str]) -> list[Scan]:
    assert _worker_space is not None
    return [scan_program(_worker_space, path) for path in paths]


# --- cached scans ---------------------------------------------------------------------------------------------------
def _cache_key(space: Workspace, path: str) -> str:
    from devfix.rules import plugins

    rules = tool_version(), plugins.version()
    given = space.models.content, repr(space.settings)
    return digest(*rules, *given, os.getcwd(), os.path.abspath(path), path, space.root(path))


def _kept(space: Workspace, entries: list[str], cache: Cache) -> dict[str, Scan]:
    """Return the cached scans that are still valid."""
    keys = {_cache_key(space, path): path for path in entries}
    known: dict[str, Scan] = {}
    for key, text in cache.get(keys).items():
        try:
            state, files, folders, findings, hazards, failing, partly = from_json(text)
        except ValueError:
            continue  # written by another release, or damaged: scan again
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
    """Forget folder listings, because files may have changed."""
    listing.cache_clear()
    _importable.cache_clear()


@lru_cache(maxsize=4096)
def _importable(folder: str) -> str:
    """Return a digest of the importable names in a folder."""
    return digest(*sorted(name for name in listing(folder) if name.endswith(".py") or name.isidentifier()))
