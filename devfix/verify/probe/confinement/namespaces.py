"""Confinement of a run by Linux namespaces: no network, no access to files outside its copy or to other processes.

The namespaces do not require root: a user namespace, and in it one each for the network, mounts, processes and System V
memory.  Containers, AppArmor and ``sysctl`` may disable some of them, so :func:`available` tries combinations once in a
child process, from all to none, and every run uses the strongest that works.

Imports the standard library only.  Sources: user_namespaces(7), network_namespaces(7), pid_namespaces(7), prctl(2),
capset(2).
"""

from __future__ import annotations

import fcntl
import os
import resource
import socket
import struct
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

from .file_view import FileView, needed_paths, plan, prepare
from .landlock import allow_writing_only
from .mounts import NODEV, NOEXEC, NOSUID, make_private, mount, mount_view
from .system_calls import call

__all__ = ["RESOURCES", "Confinement", "available"]

#: Resources that can be isolated; the last one is given up first.
RESOURCES = ("network", "files", "processes")

_NEWNS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_FLAGS = {"network": _NEWNET, "files": _NEWNS | _NEWIPC, "processes": _NEWPID}

_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1
_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 24, 38
_CAPABILITY_VERSION, _LAST_CAPABILITY = 0x20080522, 63


class Confinement(NamedTuple):
    """Isolated resources, a prefix of :data:`RESOURCES`, and whether they need a user namespace."""

    isolated: tuple[str, ...] = ()
    user_namespace: bool = False

    @property
    def exposed(self) -> list[str]:
        """Resources that are not isolated."""
        return [part for part in RESOURCES if part not in self.isolated]

    def enter(self, view: FileView, environment: Mapping[str, str], memory_mb: int) -> list[str]:
        """Confine this process, which must have one thread; with a process namespace, its next child becomes init.

        Args:
            view: the files that it sees.
            environment: the environment of the run; programs and modules on its paths stay visible.
            memory_mb: the size of shared memory.

        Returns:
            The folders that it may write to.

        Raises:
            OSError: the kernel refused; the process must then exit.

        """
        if not self.isolated:
            return []
        flags = _NEWUSER if self.user_namespace else 0
        for part in self.isolated:
            flags |= _FLAGS[part]
        user, group = os.getuid(), os.getgid()
        mounts = plan(view, needed_paths(environment))  # this network's sockets must still be listed
        call("unshare", flags)
        if self.user_namespace:
            _write_text("/proc/self/setgroups", "deny")
            _write_text("/proc/self/uid_map", f"{user} {user} 1")
            _write_text("/proc/self/gid_map", f"{group} {group} 1")
        if "network" in self.isolated:
            _loopback_up()
        if "files" not in self.isolated:
            return []
        make_private()
        mount_view(mounts, os.path.join(view.folder, "layers"), memory_mb)
        return [each.target for each in mounts if each.is_writable]

    def mount_proc(self) -> None:
        """Mount ``/proc`` of the new process namespace; call this in its init process.

        Raises:
            OSError: the kernel refused.

        """
        if "processes" in self.isolated:
            mount("proc", "/proc", "proc", NOSUID | NODEV | NOEXEC)

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

    def drop_privileges(self, writable: Iterable[str] = ()) -> None:
        """Drop all capabilities permanently, because the namespace's owner could undo the confinement.

        Args:
            writable: folders in which files may be written; none if files are not isolated.

        """
        if not self.isolated:
            return
        for capability in range(_LAST_CAPABILITY + 1):
            with suppress(OSError):  # no such capability
                call("prctl", _PR_CAPBSET_DROP, capability, 0, 0, 0)
        call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        header, nothing = struct.pack("Ii", _CAPABILITY_VERSION, 0), struct.pack("6I", *[0] * 6)
        call("capset", header, nothing)
        if "files" in self.isolated:
            allow_writing_only([*writable, "/dev", "/proc"])


def _write_text(path: str, text: str) -> None:
    with open(path, "w") as setting:
        setting.write(text)


def _kernel() -> tuple[int, int]:
    major, minor = os.uname().release.split(".")[:2]
    return int(major), int("".join(filter(str.isdigit, minor)) or 0)


def _loopback_up() -> None:
    """Activate the loopback device of a new network namespace, for ``torch.distributed``."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(handle, _SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(handle, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


def _works(confinement: Confinement, folder: str) -> bool:
    """Try a confinement in a child process."""
    child = os.fork()
    if child == 0:
        try:
            writable = confinement.enter(FileView(folder, homes=(os.path.expanduser("~"),)), os.environ, memory_mb=1)
            first = os.fork()
            if first == 0:
                confinement.mount_proc()
                confinement.drop_privileges(writable)
                _write_text(os.path.join(folder, "written"), "")
                os._exit(0)
            os._exit(0 if os.waitpid(first, 0)[1] == 0 else 1)
        except BaseException:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def available(folder: str) -> Confinement:
    """Return the strongest confinement that works; ``folder`` is an empty folder for the trials."""
    if not sys.platform.startswith("linux"):
        return Confinement()
    for length in range(len(RESOURCES), 0, -1):
        for user_namespace in (True, False):
            confinement = Confinement(RESOURCES[:length], user_namespace)
            trial = os.path.join(folder, f"{length}-{user_namespace}")
            prepare(trial)
            if _works(confinement, trial):
                return confinement
    return Confinement()
