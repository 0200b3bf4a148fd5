"""Mounting a view of the file system in a new mount namespace.

Imports the standard library only.  Sources: mount(2), mount_namespaces(7), tmpfs(5),
Documentation/filesystems/overlayfs.rst.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from .file_view import BIND, EMPTY, LINK, MEMORY, OVERLAY, TERMINALS, Mount
from .system_calls import call

__all__ = ["NODEV", "NOEXEC", "NOSUID", "make_private", "mount", "mount_view"]

_RDONLY, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 32, 4096, 16384, 1 << 18
NOSUID, NODEV, NOEXEC = 2, 4, 8
_OPTIONS = {
    "nosuid": NOSUID,
    "nodev": NODEV,
    "noexec": NOEXEC,
    "noatime": 1024,
    "nodiratime": 2048,
    "relatime": 1 << 21,
}

#: Kernel file systems: they contain no user files, and some cannot be remounted.
_KERNEL_FILE_SYSTEMS = frozenset(
    "proc sysfs devpts cgroup cgroup2 mqueue securityfs debugfs tracefs bpf pstore configfs fusectl autofs "
    "binfmt_misc efivarfs hugetlbfs rpc_pipefs nsfs selinuxfs".split()
)


class _Mounted(NamedTuple):
    """A line of ``/proc/self/mountinfo``."""

    path: str
    options: int
    read_only: bool
    kind: str


def mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    """Attach a file system (man page mount, section 2).

    Raises:
        OSError: the kernel refused.

    """

    def text(value: str | None) -> bytes | None:
        return None if value is None else os.fsencode(value)

    call("mount", text(source), text(target), text(kind), ctypes.c_ulong(flags), text(options))


def make_private() -> None:
    """Keep the mounts of this namespace from reaching others."""
    mount(None, "/", None, _REC | _PRIVATE)


def mount_view(mounts: Iterable[Mount], layers: str, memory_mb: int) -> None:
    """Carry out a plan, and make everything else read-only.

    Args:
        mounts: the plan, parents first.
        layers: an existing empty folder for the changes in overlays.
        memory_mb: size of shared memory.

    Raises:
        OSError: the kernel refused.

    """
    planned = list(mounts)
    sources = {each.source: os.open(each.source, os.O_PATH) for each in planned if each.kind in (BIND, OVERLAY)}
    layers_descriptor = os.open(layers, os.O_PATH)
    writable = set()
    try:
        for number, each in enumerate(planned):
            if each.is_missing:
                _make_mount_point(each, sources.get(each.source))
            if each.kind == EMPTY:
                _cover(each.target)
            elif each.kind == BIND:
                _bind(sources[each.source], each.target)
            elif each.kind == OVERLAY:
                layer = f"/proc/self/fd/{layers_descriptor}/{number}"
                if not _overlay(sources[each.source], each.target, layer):
                    _bind(sources[each.source], each.target)
                    continue
            elif each.kind == MEMORY:
                mount("tmpfs", each.target, "tmpfs", NOSUID | NODEV, f"mode=1777,size={memory_mb}m")
            elif each.kind == TERMINALS:
                _mount_terminals(each.target)
            if each.is_writable:
                writable.add(each.target)
    finally:
        for descriptor in (*sources.values(), layers_descriptor):
            os.close(descriptor)
    _make_read_only(writable)


def _make_mount_point(planned: Mount, source: int | None) -> None:
    """Create the file, folder or link at which something appears in a covered folder."""
    os.makedirs(os.path.dirname(planned.target), exist_ok=True)
    if planned.kind == LINK:
        with suppress(FileExistsError):
            os.symlink(planned.source, planned.target)
    elif source is not None and stat.S_ISDIR(os.fstat(source).st_mode):
        os.makedirs(planned.target, exist_ok=True)
    else:
        os.close(os.open(planned.target, os.O_CREAT | os.O_WRONLY, 0o600))


def _bind(source: int, target: str) -> None:
    mount(f"/proc/self/fd/{source}", target, None, _BIND | _REC)


def _cover(path: str) -> None:
    """Make a file or folder appear empty, unless it is gone: other programs close their sockets at any time."""
    try:
        if os.path.isdir(path):
            mount("tmpfs", path, "tmpfs", NOSUID | NODEV, "mode=0755,size=1m")
        else:
            mount(os.devnull, path, None, _BIND)
    except FileNotFoundError:
        if os.path.lexists(path):
            raise


def _overlay(lower: int, target: str, layer: str) -> bool:
    """Mount a folder so that changes go to ``layer``; return whether the kernel supports it (from Linux 5.11 on)."""
    for name in ("upper", "work"):
        os.makedirs(os.path.join(layer, name))
    directories = f"lowerdir=/proc/self/fd/{lower},upperdir={layer}/upper,workdir={layer}/work"
    try:
        mount("overlay", target, "overlay", NOSUID | NODEV, f"{directories},userxattr")
    except OSError:
        return False
    return True


def _mount_terminals(path: str) -> None:
    """Mount new pseudo-terminals, or none if the kernel refuses."""
    try:
        mount("devpts", path, "devpts", NOSUID | NOEXEC, "newinstance,ptmxmode=0666,mode=620")
    except OSError:
        _cover(path)


def _mounted() -> list[_Mounted]:
    found = []
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            before, after = line.rstrip("\n").split(" - ", 1)
            fields = before.split(" ")
            names = fields[5].split(",")
            path = fields[4].replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
            options = sum(_OPTIONS.get(name, 0) for name in names)
            found.append(_Mounted(path, options, "ro" in names, after.split(" ")[0]))
    return found


def _make_read_only(writable: set[str]) -> None:
    """Make every other mount read-only; device files stay usable.

    Raises:
        OSError: a mount that may contain user files stays writable.

    """
    for each in _mounted():
        if each.read_only or each.path in writable:
            continue
        try:
            mount(None, each.path, None, _REMOUNT | _BIND | _RDONLY | each.options)
        except OSError:
            if each.kind not in _KERNEL_FILE_SYSTEMS and os.access(each.path, os.W_OK):
                raise
