"""Confinement of a run by Linux namespaces: no network, no access to files outside its copy or to other processes.

The namespaces do not require root: a user namespace, and in it one each for the network, mounts, processes and System V
memory.  Containers, AppArmor and ``sysctl`` may disable some of them, so :func:`available` tries combinations once in a
child process, from all to none, and every run uses the strongest that works.

Imports the standard library only.  Sources: user_namespaces(7), mount_namespaces(7), pid_namespaces(7), prctl(2),
capset(2), Documentation/filesystems/overlayfs.rst.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import socket
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

__all__ = ["RESOURCES", "Confinement", "available"]

#: Resources that can be isolated; the last one is given up first.
RESOURCES = ("network", "files", "processes")

_NEWNS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_FLAGS = {"network": _NEWNET, "files": _NEWNS | _NEWIPC, "processes": _NEWPID}

_RDONLY, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 32, 4096, 16384, 1 << 18
_OPTIONS = {"nosuid": 2, "nodev": 4, "noexec": 8, "noatime": 1024, "nodiratime": 2048, "relatime": 1 << 21}

_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1
_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 24, 38
_CAPABILITY_VERSION, _LAST_CAPABILITY = 0x20080522, 63

#: Kernel file systems: they contain no user files, and some cannot be remounted.
_KERNEL_FILE_SYSTEMS = frozenset(
    "proc sysfs devpts cgroup cgroup2 mqueue securityfs debugfs tracefs bpf pstore configfs fusectl autofs "
    "binfmt_misc efivarfs hugetlbfs rpc_pipefs nsfs selinuxfs".split()
)

#: World-writable folders: a run reads their files, and its changes go to an overlay.
_SHARED_FOLDERS = ("/tmp", "/var/tmp")
_LAYER_SIZE = "size=1g"


class _Mount(NamedTuple):
    """A line of ``/proc/self/mountinfo``."""

    path: str
    options: int
    read_only: bool
    kind: str


class Confinement(NamedTuple):
    """Isolated resources, a prefix of :data:`RESOURCES`, and whether they need a user namespace."""

    isolated: tuple[str, ...] = ()
    user_namespace: bool = False

    @property
    def exposed(self) -> list[str]:
        """Resources that are not isolated."""
        return [part for part in RESOURCES if part not in self.isolated]

    def enter(self, folder: str, hidden: Iterable[str], layered: Iterable[str] = ()) -> None:
        """Confine this process, which must have one thread; with a process namespace, its next child becomes init.

        Args:
            folder: stays writable.
            hidden: files and folders that appear empty from now on.
            layered: folders whose changes are discarded if the kernel supports overlays; otherwise they are read-only.

        Raises:
            OSError: the kernel refused; the process must then exit.

        """
        if not self.isolated:
            return
        flags = _NEWUSER if self.user_namespace else 0
        for part in self.isolated:
            flags |= _FLAGS[part]
        user, group = os.getuid(), os.getgid()
        _call("unshare", flags)
        if self.user_namespace:
            _write_text("/proc/self/setgroups", "deny")
            _write_text("/proc/self/uid_map", f"{user} {user} 1")
            _write_text("/proc/self/gid_map", f"{group} {group} 1")
        if "network" in self.isolated:
            _loopback_up()
        if "files" in self.isolated:
            _mount(None, "/", None, _REC | _PRIVATE)
            writable = {*_overlay_folders(folder, layered), folder}
            _hide(hidden, folder)
            _make_read_only(writable)

    def mount_proc(self) -> None:
        """Mount ``/proc`` of the new process namespace; call this in its init process.

        Raises:
            OSError: the kernel refused.

        """
        if "processes" in self.isolated:
            _mount("proc", "/proc", "proc", _OPTIONS["nosuid"] | _OPTIONS["nodev"] | _OPTIONS["noexec"])

    def limit_processes(self, limit: int) -> None:
        """Limit the number of processes and threads if the kernel counts them per run.

        Before Linux 5.14, ``RLIMIT_NPROC`` counts all processes of a user, and it never applies to root.  For root,
        ``pid_max`` applies; from Linux 6.14 on it is per process namespace (at least 301).
        """
        if "processes" in self.isolated:
            with suppress(OSError):
                _write_text("/proc/sys/kernel/pid_max", str(max(limit, 301)))
        if self.user_namespace and _kernel() >= (5, 14):
            resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))

    def drop_privileges(self) -> None:
        """Drop all capabilities permanently, because the namespace's owner could undo the confinement."""
        if not self.isolated:
            return
        for capability in range(_LAST_CAPABILITY + 1):
            _libc().prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
        _libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if self.user_namespace:
            header, nothing = struct.pack("Ii", _CAPABILITY_VERSION, 0), struct.pack("6I", *[0] * 6)
            _call("capset", header, nothing)


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: Any) -> None:
    """Call a function of the C library.

    Raises:
        OSError: the call failed, or the function does not exist on this system.

    """
    function = getattr(_libc(), name, None)
    if function is None:
        raise OSError(f"no {name} on this system")
    if function(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _write_text(path: str, text: str) -> None:
    with open(path, "w") as setting:
        setting.write(text)


def _kernel() -> tuple[int, int]:
    major, minor = os.uname().release.split(".")[:2]
    return int(major), int("".join(filter(str.isdigit, minor)) or 0)


def _mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    def text(value: str | None) -> bytes | None:
        return None if value is None else os.fsencode(value)

    _call("mount", text(source), text(target), text(kind), ctypes.c_ulong(flags), text(options))


def _loopback_up() -> None:
    """Activate the loopback device of a new network namespace, for ``torch.distributed``."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(handle, _SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(handle, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


def _overlay_folders(folder: str, layered: Iterable[str]) -> list[str]:
    """Make ``folder`` a separate mount and overlay shared and ``layered`` folders; return the overlaid ones."""
    overlaid = []
    _mount(folder, folder, None, _BIND)
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        if os.path.isdir("/dev/shm"):
            _mount("tmpfs", "/dev/shm", "tmpfs", _OPTIONS["nosuid"] | _OPTIONS["nodev"], _LAYER_SIZE)
            overlaid.append("/dev/shm")
        for path in (*_SHARED_FOLDERS, *layered):
            if any(path == known or path.startswith(known + os.sep) for known in overlaid):
                continue
            if os.path.isdir(path) and _overlay(path, overlaid[0] if overlaid else None):
                overlaid.append(path)
                if folder.startswith(path + os.sep):
                    _mount(f"/proc/self/fd/{descriptor}", folder, None, _BIND)
    finally:
        os.close(descriptor)
    return overlaid


def _overlay(path: str, memory: str | None) -> bool:
    """Overlay a folder in memory; return whether the kernel supports it (from Linux 5.11 on)."""
    if memory is None or path == os.sep or any(mark in path for mark in ":,\\"):  # special characters in mount options
        return False
    layer = os.path.join(memory, f".devfix{path.replace(os.sep, '-')}")
    upper, work = os.path.join(layer, "upper"), os.path.join(layer, "work")
    os.makedirs(upper)
    os.mkdir(work)
    os.chmod(upper, 0o1777)
    try:
        _mount("overlay", path, "overlay", 0, f"lowerdir={path},upperdir={upper},workdir={work},userxattr")
    except OSError:
        return False
    return True


def _hide(hidden: Iterable[str], folder: str) -> None:
    """Cover files and folders with empty mounts, except those that contain the run or its modules."""
    needed = [os.path.realpath(path) for path in (folder, sys.prefix, sys.base_prefix, *sys.path) if path]
    for path in {os.path.realpath(path) for path in hidden}:
        if any(each == path or each.startswith(path.rstrip(os.sep) + os.sep) for each in needed):
            continue
        if os.path.isdir(path):
            _mount("tmpfs", path, "tmpfs", _RDONLY | _OPTIONS["nosuid"] | _OPTIONS["nodev"], "mode=0555,size=4k")
        elif os.path.exists(path):
            _mount(os.devnull, path, None, _BIND)


def _mounts() -> list[_Mount]:
    found = []
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            before, after = line.rstrip("\n").split(" - ", 1)
            fields = before.split(" ")
            names = fields[5].split(",")
            path = fields[4].replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
            options = sum(_OPTIONS.get(name, 0) for name in names)
            found.append(_Mount(path, options, "ro" in names, after.split(" ")[0]))
    return found


def _make_read_only(writable: set[str]) -> None:
    """Make every other mount read-only; device files stay usable.

    Raises:
        OSError: a mount that may contain user files stays writable.

    """
    for mount in _mounts():
        if mount.read_only or mount.path in writable:
            continue
        try:
            _mount(None, mount.path, None, _REMOUNT | _BIND | _RDONLY | mount.options)
        except OSError:
            if mount.kind not in _KERNEL_FILE_SYSTEMS and os.access(mount.path, os.W_OK):
                raise


def _works(confinement: Confinement, folder: str) -> bool:
    """Try a confinement in a child process."""
    child = os.fork()
    if child == 0:
        try:
            confinement.enter(folder, ())
            first = os.fork()
            if first == 0:
                confinement.mount_proc()
                confinement.drop_privileges()
                _write_text(os.path.join(folder, "written"), "")
                os._exit(0)
            os._exit(0 if os.waitpid(first, 0)[1] == 0 else 1)
        except BaseException:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def available(folder: str) -> Confinement:
    """Return the strongest confinement that works; ``folder`` is an empty folder for the trial."""
    if not sys.platform.startswith("linux"):
        return Confinement()
    for length in range(len(RESOURCES), 0, -1):
        for user_namespace in (True, False):
            confinement = Confinement(RESOURCES[:length], user_namespace)
            if _works(confinement, folder):
                return confinement
    return Confinement()
