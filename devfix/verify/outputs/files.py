"""The files of a run's folders: which ones a script made, and reading them whatever they are.

A script may leave anything behind: links to files outside, pipes that block, files of many gigabytes without content.
Only regular files are opened, links are never followed, and everything is limited.
"""

from __future__ import annotations

import os
import stat
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

__all__ = ["Budget", "Content", "Entry", "Snapshot", "Unreadable", "changed_entries", "open_content", "snapshot"]

#: Files and folders of one walk, and depth of folders.
MOST_ENTRIES = 200_000
DEEPEST_FOLDER = 40

#: Limits on what is read after one run: files, bytes, and seconds.
MOST_FILES = 2_000
MOST_BYTES = 2 << 30
MOST_SECONDS = 10.0

_SKIPPED_FOLDERS = frozenset({".git", ".ipynb_checkpoints"})


class Unreadable(Exception):
    """A file cannot be compared.  The message is the reason."""


class Identity(NamedTuple):
    """What changes when a file is written or replaced."""

    size: int
    modified: int
    changed: int
    inode: int


class Entry(NamedTuple):
    """A file that is new, changed or deleted.

    Attributes:
        name: its path for display.
        path: None if it was deleted.
        modified: time of its last change in nanoseconds.
        links: number of its names in the run's folders.
        target: of a symbolic link; else None.

    """

    name: str
    path: str | None
    modified: int = 0
    links: int = 1
    target: str | None = None


@dataclass(frozen=True)
class Snapshot:
    """The files of a run's folders before the script starts.

    Attributes:
        folders: the folders, by the prefix of names of their files.
        files: identity of each file, by its name.

    """

    folders: Mapping[str, Path]
    files: Mapping[str, Identity]

    @cached_property
    def names_by_size(self) -> Mapping[int, list[str]]:
        """Names of the files of each size."""
        found: dict[int, list[str]] = {}
        for name, identity in self.files.items():
            found.setdefault(identity.size, []).append(name)
        return found

    def path_of(self, name: str) -> Path:
        """Return the path of a file."""
        prefix = max((each for each in self.folders if name.startswith(each)), key=len)
        return self.folders[prefix] / name[len(prefix) :]


@dataclass
class Budget:
    """What may still be read after one run."""

    bytes: int = MOST_BYTES
    files: int = MOST_FILES
    deadline: float = 0.0

    def __post_init__(self) -> None:
        self.deadline = time.monotonic() + MOST_SECONDS

    def spend(self, size: int) -> None:
        """Take bytes from the budget.

        Raises:
            Unreadable: none are left.

        """
        self.bytes -= size
        if self.bytes < 0 or time.monotonic() > self.deadline:
            raise Unreadable("the limit for reading outputs is reached")


class Content:
    """The bytes of an open regular file."""

    def __init__(self, descriptor: int, size: int, budget: Budget) -> None:
        self._descriptor = descriptor
        self._budget = budget
        self.size = size

    def read(self, offset: int = 0, size: int | None = None) -> bytes:
        """Return the bytes from ``offset`` on, all of them or at most ``size``.

        Raises:
            Unreadable: the limit is reached, or the disk fails.

        """
        wanted = max(0, min(self.size - offset, self.size if size is None else size))
        self._budget.spend(wanted)
        parts = []
        try:
            while wanted > 0 and (part := os.pread(self._descriptor, min(wanted, 1 << 24), offset)):
                parts.append(part)
                offset += len(part)
                wanted -= len(part)
        except (OSError, OverflowError, ValueError) as error:
            raise Unreadable("it cannot be read") from error
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def open_content(path: str | Path, budget: Budget, links: int = 1) -> Content:
    """Open a regular file that has no more than ``links`` names; never wait, never follow a link.

    Raises:
        Unreadable: it is something else, or may not be read.

    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise Unreadable("it cannot be opened") from error
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode) and found.st_nlink <= links:
        return Content(descriptor, found.st_size, budget)
    os.close(descriptor)
    kind = "it has hard links elsewhere" if stat.S_ISREG(found.st_mode) else "it is no regular file"
    raise Unreadable(kind)


def snapshot(folders: Mapping[str, Path]) -> Snapshot:
    """Return the state of a run's folders, by the prefix that names of their files get (empty for the project)."""
    return Snapshot(dict(folders), {name: identity for name, _, identity in _walk(folders)})


def changed_entries(before: Snapshot) -> list[Entry]:
    """Return the new, changed and deleted files since a snapshot, in the order of their names."""
    present: dict[str, tuple[str, Identity]] = {}
    links: Counter[int] = Counter()
    for name, path, identity in _walk(before.folders):
        present[name] = path, identity
        links[identity.inode] += 1
    found = [
        Entry(name, path, identity.modified, links[identity.inode], _link_target(path, before.folders))
        for name, (path, identity) in present.items()
        if before.files.get(name) != identity
    ]
    # A walk has a limit, so a file that it did not reach is not deleted.
    gone = (name for name in before.files if name not in present)
    found += [Entry(name, None) for name in gone if not os.path.lexists(before.path_of(name))]
    return sorted(found, key=lambda entry: entry.name)


def _link_target(path: str, folders: Mapping[str, Path]) -> str | None:
    """Return the target of a symbolic link, with names of the run's folders as for display; None for other files."""
    try:
        target = os.readlink(path)
    except OSError:
        return None
    for prefix, folder in folders.items():
        target = target.replace(f"{folder}{os.sep}", prefix)
    return target


def _walk(folders: Mapping[str, Path]) -> Iterator[tuple[str, str, Identity]]:
    """Yield name, path and identity of everything but folders."""
    count = 0
    for prefix, folder in folders.items():
        waiting = [(str(folder), prefix, 0)]
        while waiting:
            path, name, depth = waiting.pop()
            for entry in _listed(path):
                if prefix and depth == 0 and entry.name.startswith("."):
                    continue  # caches and settings of libraries
                count += 1
                if count > MOST_ENTRIES:
                    return
                with suppress(OSError):
                    inner = f"{name}{entry.name}"
                    if not entry.is_dir(follow_symlinks=False):
                        if entry.name.endswith(".pyc"):
                            continue
                        state = entry.stat(follow_symlinks=False)
                        identity = Identity(state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino)
                        yield inner, entry.path, identity
                    elif depth < DEEPEST_FOLDER and entry.name not in _SKIPPED_FOLDERS:
                        waiting.append((entry.path, f"{inner}/", depth + 1))


def _listed(path: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []
