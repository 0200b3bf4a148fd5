"""The files that a confined run sees: which folders are covered, and which paths within them stay visible.

Everything outside the covered folders is visible and read-only.  Covered are the home folders, ``/run``, the folders
for temporary files, the project (by its own copy), the terminals, and the sockets of other programs.

Imports the standard library only.  Sources: mount_namespaces(7), unix(7), Documentation/filesystems/devpts.rst.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

__all__ = [
    "BIND",
    "EMPTY",
    "LINK",
    "MEMORY",
    "OVERLAY",
    "TERMINALS",
    "FileView",
    "Mount",
    "needed_paths",
    "plan",
    "prepare",
]

#: Kinds of mounts: a folder or file from elsewhere, an empty folder or file, a layer for changes over a folder, shared
#: memory, pseudo-terminals, and a symbolic link, which is no mount.
BIND, EMPTY, OVERLAY, MEMORY, TERMINALS, LINK = "bind", "empty", "overlay", "memory", "terminals", "link"

#: Folders for temporary files, and the folder of the scratch copy that takes their place.
_TEMPORARY = {"/tmp": "tmp", "/var/tmp": "var-tmp"}
#: Folders with the sockets of services, agents and containers.
_SERVICES = ("/run", "/var/run")
#: Paths below them that programs and drivers need: NixOS, NVIDIA's container toolkit, removable disks.
_NEEDED_OF_SERVICES = ("/run/opengl-driver", "/run/current-system", "/run/nvidia/driver", "/run/media", "/run/cvmfs")
#: Names at the top of a folder of modules (a repository in development mode) that may hold credentials.
_PRIVATE_NAMES = (".git", ".env", ".envrc", ".netrc", ".npmrc", ".pypirc")
_MAX_LINKS = 40

#: Folders of a scratch folder: temporary files, and changes to folders outside it, which are discarded.
_OWN_FOLDERS = (*_TEMPORARY.values(), "layers")


class FileView(NamedTuple):
    """A run's view of the file system.

    Attributes:
        folder: the scratch folder; writable.
        project: the project's folder and its copy in the scratch folder; the copy is visible under both paths.
        homes: home folders; they appear empty.
        private: other files and folders that appear empty.
        readable: visible paths in covered folders.
        caches: folders, and the paths at which they are visible; changes are discarded.
        working: a working directory outside the project; changes are discarded.

    """

    folder: str
    project: tuple[str, str] | None = None
    homes: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    caches: tuple[tuple[str, str], ...] = ()
    working: str | None = None

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> FileView:
        """Return the view that ``_asdict`` and JSON have made lists of."""
        return cls(**given)


class Mount(NamedTuple):
    """A step of the plan.

    Attributes:
        target: where it is mounted, without symbolic links.
        kind: one of the kinds above.
        source: the folder or file that appears there; for a link, its text.
        is_writable: whether the run may write there.
        is_missing: whether the mount point must be created, in a covered folder.

    """

    target: str
    kind: str
    source: str = ""
    is_writable: bool = False
    is_missing: bool = False


def prepare(folder: str) -> None:
    """Create the folders that a scratch folder needs."""
    for name in _OWN_FOLDERS:
        os.makedirs(os.path.join(folder, name))


def needed_paths(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the paths that this interpreter and the programs of ``environment`` need."""
    yield from (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.executable)
    yield from _own_packages()
    yield from (entry for entry in sys.path if os.path.isabs(entry))
    yield from _editable_packages()
    for name in ("PYTHONPATH", "LD_LIBRARY_PATH", "PATH"):
        for entry in environment.get(name, "").split(os.pathsep):
            if os.path.isabs(entry):
                yield entry
                yield from _installation(entry)
    yield from _NEEDED_OF_SERVICES


def _own_packages() -> Iterator[str]:
    """Yield the folders of the probe and the simulator, which import some of their modules on first use."""
    names = {__name__.partition(".")[0], "devfix_simulator"}
    for name in names & sys.modules.keys():
        yield from map(os.path.abspath, getattr(sys.modules[name], "__path__", ()))


def _editable_packages() -> Iterator[str]:
    """Yield the folders of packages in development mode that are found by an import hook."""
    for name, module in list(sys.modules.items()):
        mapping: Any = getattr(module, "MAPPING", None)
        if name.startswith("__editable__") and isinstance(mapping, dict):
            yield from map(str, mapping.values())


def _installation(entry: str) -> Iterator[str]:
    """Yield the installation to which a folder of programs belongs, if it cannot work without it."""
    prefix, name = os.path.split(entry)
    marks = ("pyvenv.cfg", "conda-meta") if name == "bin" else ("libexec", "conda-meta")  # pyenv's shims; condabin
    if any(os.path.exists(os.path.join(prefix, mark)) for mark in marks):
        yield prefix


def plan(view: FileView, needed: Iterable[str]) -> list[Mount]:
    """Return the mounts of a view, parents first.

    Args:
        view: the view.
        needed: paths that stay visible, except those that contain a home folder.

    """
    layers = _Layers(view)
    needed = list(needed)
    covers = {**_private_names(needed), **_covers(view), **_sockets()}
    for path in view.readable:
        _uncover(os.path.realpath(path), covers, {os.path.realpath(home) for home in view.homes})
    shown = dict(_shown(view, needed))
    shown.pop(os.sep, None)
    for target, mount in sorted({**shown, **covers}.items(), key=lambda item: item[0].split(os.sep)):
        layers.add(mount if target in covers else shown[target], is_cover=target in covers)
    return layers.mounts


class _Layers:
    """Mounts of a plan so far; a path is visible as the last one above it shows it."""

    def __init__(self, view: FileView) -> None:
        self.mounts: list[Mount] = []
        self._view = view
        self._covers: set[str] = set()

    def add(self, mount: Mount, is_cover: bool) -> None:
        """Add a mount if it makes a difference."""
        above = self._above(mount.target)
        hidden = above is not None and above.target in self._covers
        exists = self._exists(mount.target, above) if hidden else True
        is_project = self._view.project is not None and mount.target == os.path.realpath(self._view.project[0])
        required = mount.is_writable or is_project
        if is_cover and not required and not exists:
            return
        if not is_cover and not required and (exists or above is None):
            return
        self.mounts.append(mount._replace(is_missing=not exists))
        if is_cover:
            self._covers.add(mount.target)

    def _above(self, target: str) -> Mount | None:
        return next((each for each in reversed(self.mounts) if _within(target, each.target)), None)

    def _exists(self, target: str, above: Mount | None) -> bool:
        """Return whether a path within a covered folder exists there."""
        if above is None or above.kind != BIND:
            return False
        path = os.path.join(above.source, os.path.relpath(target, above.target))
        return os.path.lexists(path) and not _is_mount_point(path)


def _is_mount_point(path: str) -> bool:
    """Return whether a path is empty, as a mount point is that an earlier run in the same scratch folder has left."""
    with suppress(OSError):
        return not os.listdir(path) if os.path.isdir(path) else os.path.getsize(path) == 0
    return False


def _covers(view: FileView) -> dict[str, Mount]:
    """Return the mounts that hide something, by target."""
    found = [Mount(os.path.realpath(path), EMPTY) for path in (*_SERVICES, *view.private)]
    for home in map(os.path.realpath, view.homes):
        found += [Mount(home, EMPTY)] if home != os.sep else [Mount(each, EMPTY) for each in _hidden_entries(home)]
    for path, name in _TEMPORARY.items():
        found.append(Mount(os.path.realpath(path), BIND, os.path.join(view.folder, name), is_writable=True))
    found += [
        Mount(os.path.realpath("/dev/shm"), MEMORY, is_writable=True),
        Mount("/dev/pts", TERMINALS, is_writable=True),
    ]
    if view.project is not None and os.path.realpath(view.project[0]) != os.sep:
        original, copy = view.project
        found.append(Mount(os.path.realpath(original), BIND, copy, is_writable=True))
    return {mount.target: mount for mount in found if os.path.exists(mount.target)}


def _private_names(folders: Iterable[str]) -> dict[str, Mount]:
    """Return mounts over credentials at the top of folders of modules and programs."""
    targets = [os.path.join(os.path.realpath(folder), name) for folder in folders for name in _PRIVATE_NAMES]
    return {target: Mount(target, EMPTY) for target in targets if os.path.exists(target)}


def _sockets() -> dict[str, Mount]:
    """Return mounts over the sockets in the file system on which a process of this network listens (unix(7))."""
    found = {}
    with suppress(OSError), open("/proc/net/unix", encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            path = line.rstrip("\n").split(" ", 7)[-1].lstrip()
            if path.startswith(os.sep):
                with suppress(OSError):
                    if stat.S_ISSOCK(os.stat(path).st_mode):
                        target = os.path.realpath(path)
                        found[target] = Mount(target, EMPTY)
    return found


def _hidden_entries(home: str) -> Iterator[str]:
    """Yield the files and folders at the top of a home folder whose names begin with a dot."""
    with suppress(OSError):
        for name in os.listdir(home):
            if name.startswith(".") and not os.path.islink(os.path.join(home, name)):
                yield os.path.join(home, name)


def _uncover(path: str, covers: dict[str, Mount], homes: set[str]) -> None:
    """Remove the covers of a path that was made readable and of the homes below it, except their hidden files."""
    for target in list(covers):
        if target == path or (target in homes and _within(target, path)):
            if covers[target].is_writable:
                continue
            del covers[target]
            if target in homes:
                covers.update({each: Mount(each, EMPTY) for each in _hidden_entries(target)})


def _shown(view: FileView, needed: Iterable[str]) -> Iterator[tuple[str, Mount]]:
    """Yield the mounts that show something, by target, with the links on the way to it."""
    for path in (*needed, *view.readable):
        for target, link in _resolve(path):
            if link is not None:
                yield target, Mount(target, LINK, link)
            elif os.path.exists(target):
                yield target, Mount(target, BIND, target)
    if view.working is not None:
        target = os.path.realpath(view.working)
        yield target, Mount(target, OVERLAY, target, is_writable=True)
    for source, target in view.caches:
        yield target, Mount(target, OVERLAY, os.path.realpath(source), is_writable=True)
    yield view.folder, Mount(view.folder, BIND, view.folder, is_writable=True)


def _resolve(path: str) -> Iterator[tuple[str, str | None]]:
    """Yield the symbolic links on the way to a path with their texts, then the path without links and None."""
    waiting = os.path.normpath(path).split(os.sep)[:0:-1]
    current, links = os.sep, 0
    while waiting:
        part = waiting.pop()
        following = os.path.normpath(os.path.join(current, part))
        try:
            link = os.readlink(following)
        except OSError:
            current = following
            continue
        links += 1
        if links > _MAX_LINKS:
            return
        yield following, link
        waiting += [each for each in reversed(link.split(os.sep)) if each not in ("", ".")]
        if os.path.isabs(link):
            current = os.sep
    yield current, None


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
