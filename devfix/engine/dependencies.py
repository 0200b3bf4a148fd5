"""What scans depend on: the files that they read, and the names that they looked for in folders.

The files of a package import each other, so the scans of a thousand files depend on the same thousand.  Equal
dependencies are one object in memory, and one entry in the cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from weakref import WeakValueDictionary

from devfix.sources.digest import digest

__all__ = ["Dependencies", "dependencies"]


class Dependencies:
    """What a scan depends on besides its task and the settings.

    Attributes:
        files: absolute paths of the files that were read or could not be read.
        lookups: by folder, the names that were looked for, whether they were there or not.

    """

    def __init__(self, files: frozenset[str], lookups: Mapping[str, frozenset[str]]) -> None:
        self.files = files
        self.lookups = lookups

    @cached_property
    def key(self) -> str:
        """Return a digest of the paths and names."""
        searched = [text for folder, names in self.searched() for text in (folder, *names, "")]
        return digest("dependencies", *sorted(self.files), "", *searched)

    def searched(self) -> list[tuple[str, list[str]]]:
        """Return the names by folder, in order."""
        return [(folder, sorted(self.lookups[folder])) for folder in sorted(self.lookups)]

    def __reduce__(self) -> tuple[object, ...]:
        return dependencies, (self.files, self.lookups)


_known: WeakValueDictionary[object, Dependencies] = WeakValueDictionary()
_name_sets: WeakValueDictionary[frozenset[str], frozenset[str]] = WeakValueDictionary()


def dependencies(files: Iterable[str] = (), lookups: Mapping[str, Iterable[str]] | None = None) -> Dependencies:
    """Return the dependencies on some files and lookups: the object that there is already, if one is equal."""
    read = frozenset(files)
    searched = {folder: _shared(frozenset(names)) for folder, names in (lookups or {}).items()}
    key = read, frozenset(searched.items())
    found = _known.get(key)
    if found is None:
        found = _known[key] = Dependencies(read, searched)
    return found


def _shared(names: frozenset[str]) -> frozenset[str]:
    return _name_sets.setdefault(names, names)
