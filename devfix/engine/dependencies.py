"""What scans depend on: the files that they read, and the names that they looked for in folders.

The files of a package import each other, so a thousand scans depend on the same thousand files, and on a few of their
own.  What they share is one object in memory, their *base*, and one entry in the cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from threading import Lock
from weakref import WeakValueDictionary

from devfix.sources.digest import digest

__all__ = ["Dependencies", "dependencies", "shared"]

_LARGE = 100  # files of dependencies that may have a base
_SHARED = 0.8  # the part of them that the base must have
_MOST_BASES = 8

Names = Mapping[str, frozenset[str]]


class Dependencies:
    """What a scan depends on besides its task and the settings.

    Attributes:
        own_files: absolute paths of files that were read or could not be read.
        own_lookups: by folder, names that were looked for, whether they were there or not.
        base: dependencies that are added to these; ``None`` if there are none.

    """

    def __init__(self, own_files: frozenset[str], own_lookups: Names, base: Dependencies | None = None) -> None:
        self.own_files = own_files
        self.own_lookups = own_lookups
        self.base = base

    @property
    def files(self) -> frozenset[str]:
        """Return the absolute paths of all files that were read or could not be read."""
        return self.own_files if self.base is None else self.own_files | self.base.files

    @property
    def lookups(self) -> Names:
        """Return by folder all names that were looked for."""
        if self.base is None:
            return self.own_lookups
        known = self.base.lookups
        return {**known, **{folder: names | known.get(folder, names) for folder, names in self.own_lookups.items()}}

    @cached_property
    def key(self) -> str:
        """Return a digest of the paths and names."""
        searched = [text for folder, names in self.own_searched() for text in (folder, *names, "")]
        return digest(
            "dependencies", "" if self.base is None else self.base.key, *sorted(self.own_files), "", *searched
        )

    def own_searched(self) -> list[tuple[str, list[str]]]:
        """Return the names that are not the base's, by folder, in order."""
        return [(folder, sorted(self.own_lookups[folder])) for folder in sorted(self.own_lookups)]

    def __reduce__(self) -> tuple[object, ...]:
        return shared, (self.own_files, dict(self.own_lookups), self.base)


_known: WeakValueDictionary[object, Dependencies] = WeakValueDictionary()
_name_sets: WeakValueDictionary[frozenset[str], frozenset[str]] = WeakValueDictionary()
_bases: list[Dependencies] = []  # the last used one is the last
_last: list[tuple[frozenset[str], Names]] = []  # the last large ones without a base: at most one
_lock = Lock()  # of both: an editor's server scans in threads


def dependencies(files: Iterable[str] = (), lookups: Mapping[str, Iterable[str]] | None = None) -> Dependencies:
    """Return the dependencies on some files and lookups."""
    read = frozenset(files)
    searched = {folder: frozenset(names) for folder, names in (lookups or {}).items()}
    with _lock:
        base = _base_of(read, searched) if len(read) >= _LARGE else None
    if base is None:
        return shared(read, searched)
    known = base.lookups
    rest = {folder: names - known.get(folder, frozenset()) for folder, names in searched.items()}
    return shared(read - base.files, {folder: names for folder, names in rest.items() if names}, base)


def shared(own_files: frozenset[str], own_lookups: Names, base: Dependencies | None = None) -> Dependencies:
    """Return dependencies with a base: the object that there is already, if one is equal."""
    lookups = {folder: _name_sets.setdefault(names, names) for folder, names in own_lookups.items()}
    key = own_files, frozenset(lookups.items()), base
    found = _known.get(key)
    if found is None:
        found = _known[key] = Dependencies(own_files, lookups, base)
    return found


def _base_of(files: frozenset[str], lookups: Names) -> Dependencies | None:
    """Return what large dependencies share with earlier ones; ``None`` if that is not most of them."""
    for base in reversed(_bases):
        if len(base.own_files) >= _SHARED * len(files) and base.own_files <= files and _has(lookups, base.own_lookups):
            _bases.remove(base)
            _bases.append(base)
            return base
    before, _last[:] = [*_last], [(files, lookups)]
    for other_files, other_lookups in before:
        common = files & other_files
        if len(common) >= _SHARED * len(files):
            names = {each: lookups[each] & other_lookups[each] for each in lookups.keys() & other_lookups.keys()}
            _bases.append(shared(common, {folder: found for folder, found in names.items() if found}))
            del _bases[:-_MOST_BASES]
            return _bases[-1]
    return None


def _has(lookups: Names, others: Names) -> bool:
    return all(names <= lookups.get(folder, frozenset()) for folder, names in others.items())
