"""What the kernel lets us take from a run: the network, files outside its scratch copy, the sight of other processes.

Linux namespaces, made without being root: a user namespace, and in it one each for the network, mounts, processes and
System V memory. The kernel decides how much of it there is (containers, AppArmor and ``sysctl`` switch it off in
parts), so :func:`available` tries it once in a child, from all to nothing, and every run then gets what worked.

Needs the standard library only. Sources: user_namespaces(7), mount_namespaces(7),
pid_namespaces(7), prctl(2), capset(2), Documentation/filesystems/overlayfs.rst.
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

__all__ = ["EVERYTHING", "Confinement", "available"]

#: What can be taken from a run, in the order in which it is given up.
EVERYTHING = ("network", "files", "processes")

_NEWNS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_FLAGS = {"network": _NEWNET, "files": _NEWNS | _NEWIPC, "processes": _NEWPID}

_RDONLY, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 32, 4096, 16384, 1 << 18
_OPTIONS = {"nosuid": 2, "nodev": 4, "noexec": 8, "noatime": 1024, "nodiratime": 2048, "relatime": 1 << 21}

_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1
_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 24, 38
_CAPABILITY_VERSION, _LAST_CAPABILITY = 0x20080522, 63

#: File systems of the kernel's own: nothing of a user lies there, and some refuse to be mounted again.
_KERNELS_OWN = frozenset(
    "proc sysfs devpts cgroup cgroup2 mqueue securityfs debugfs tracefs bpf pstore configfs fusectl autofs "
    "binfmt_misc efivarfs hugetlbfs rpc_pipefs nsfs selinuxfs".split()
)

#: Folders that anybody may write to: a run writes to a layer of its own over them, and reads what is there.
_SHARED_FOLDERS = ("/tmp", "/var/tmp")
_LAYER_SIZE = "size=1g"


class _Mount(NamedTuple):
    """A line of ``/proc/self/mountinfo``."""

    path: str
    options: int
    read_only: bool
    kind: str


class Confinement(NamedTuple):
    """What runs are confined in: parts of :data:`EVERYTHING`, and whether a user namespace is needed for it."""

    parts: tuple[str, ...] = ()
    as_user: bool = False

    @property
    def exposed(self) -> list[str]:
        """What the kernel did not let us take."""
        return [part for part in EVERYTHING if part not in self.parts]

    def enter(self, folder: str, hidden: Iterable[str], layered: Iterable[str] = ()) -> None:
        """Confine this process, which must have one thread; where processes are confined, its next child is the first.

        Args:
            folder: stays writable.
            hidden: files and folders that are empty from now on.
            layered: folders that can be written to without effect, where the kernel knows how; else they are read-only.

        Raises:
            OSError: the kernel refused; the process is then in no state to go on.

        """
        if not self.parts:
            return
        flags = _NEWUSER if self.as_user else 0
        for part in self.parts:
            flags |= _FLAGS[part]
        user, group = os.getuid(), os.getgid()
        _call("unshare", flags)
        if self.as_user:
            _put("/proc/self/setgroups", "deny")
            _put("/proc/self/uid_map", f"{user} {user} 1")
            _put("/proc/self/gid_map", f"{group} {group} 1")
        if "network" in self.parts:
            _loopback_up()
        if "files" in self.parts:
            _mount(None, "/", None, _REC | _PRIVATE)
            writable = {*_layers(folder, layered), folder}
            _hide(hidden, folder)
            _make_read_only(writable)

    def begin(self) -> None:
        """In the first process of a new process namespace: see its processes, and no others.

        Raises:
            OSError: the kernel refused.

        """
        if "processes" in self.parts:
            _mount("proc", "/proc", "proc", _OPTIONS["nosuid"] | _OPTIONS["nodev"] | _OPTIONS["noexec"])

    def limit_processes(self, limit: int) -> None:
        """Let the kernel refuse more processes (and threads) than ``limit``, where it counts those of a run alone.

        Before Linux 5.14 ``RLIMIT_NPROC`` counted all of a user's, and it never holds root back; for root there is
        ``pid_max``, which is a process namespace's own from Linux 6.14 on (and not below 301).
        """
        if "processes" in self.parts:
            with suppress(OSError):
                _put("/proc/sys/kernel/pid_max", str(max(limit, 301)))
        if self.as_user and _kernel() >= (5, 14):
            resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))

    def give_up_privileges(self) -> None:
        """What a namespace's owner may do in it could undo the confinement: give it up for good."""
        if not self.parts:
            return
        for capability in range(_LAST_CAPABILITY + 1):
            _libc().prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
        _libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if self.as_user:
            header, nothing = struct.pack("Ii", _CAPABILITY_VERSION, 0), struct.pack("6I", *[0] * 6)
            _call("capset", header, nothing)


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: Any) -> None:
    """Call a function of the C library.

    Raises:
        OSError: it failed, or does not exist here.

    """
    function = getattr(_libc(), name, None)
    if function is None:
        raise OSError(f"no {name} on this system")
    if function(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _put(path: str, text: str) -> None:
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
    """A new network namespace has a loopback device that is down; ``torch.distributed`` needs it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(handle, _SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(handle, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


def _layers(folder: str, layered: Iterable[str]) -> list[str]:
    """Make ``folder`` a mount of its own, and shared folders and ``layered`` ones writable without effect."""
    made = []
    _mount(folder, folder, None, _BIND)
    kept = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        if os.path.isdir("/dev/shm"):
            _mount("tmpfs", "/dev/shm", "tmpfs", _OPTIONS["nosuid"] | _OPTIONS["nodev"], _LAYER_SIZE)
            made.append("/dev/shm")
        for shared in (*_SHARED_FOLDERS, *layered):
            if any(shared == known or shared.startswith(known + os.sep) for known in made):
                continue
            if os.path.isdir(shared) and _cover(shared, made[0] if made else None):
                made.append(shared)
                if folder.startswith(shared + os.sep):
                    _mount(f"/proc/self/fd/{kept}", folder, None, _BIND)
    finally:
        os.close(kept)
    return made


def _cover(shared: str, memory: str | None) -> bool:
    """Put a layer in memory over a folder; says whether the kernel knows how (from Linux 5.11 on)."""
    if memory is None or shared == os.sep or any(mark in shared for mark in ":,\\"):  # marks in the mount's options
        return False
    layer = os.path.join(memory, f".devfix{shared.replace(os.sep, '-')}")
    above, work = os.path.join(layer, "above"), os.path.join(layer, "work")
    os.makedirs(above)
    os.mkdir(work)
    os.chmod(above, 0o1777)
    try:
        _mount("overlay", shared, "overlay", 0, f"lowerdir={shared},upperdir={above},workdir={work},userxattr")
    except OSError:
        return False
    return True


def _hide(hidden: Iterable[str], folder: str) -> None:
    """Cover files and folders with nothing, but none that the run itself lies in or is loaded from."""
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
    """Make every other mount read-only; devices can be used as before.

    Raises:
        OSError: one that may hold a user's files stays writable.

    """
    for mount in _mounts():
        if mount.read_only or mount.path in writable:
            continue
        try:
            _mount(None, mount.path, None, _REMOUNT | _BIND | _RDONLY | mount.options)
        except OSError:
            if mount.kind not in _KERNELS_OWN and os.access(mount.path, os.W_OK):
                raise


def _works(confinement: Confinement, folder: str) -> bool:
    """Try a confinement in a child."""
    child = os.fork()
    if child == 0:
        try:
            confinement.enter(folder, ())
            first = os.fork()
            if first == 0:
                confinement.begin()
                confinement.give_up_privileges()
                _put(os.path.join(folder, "written"), "")
                os._exit(0)
            os._exit(0 if os.waitpid(first, 0)[1] == 0 else 1)
        except BaseException:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def available(folder: str) -> Confinement:
    """The most that the kernel lets us do, by trying it; ``folder`` is an empty one to try it with."""
    if not sys.platform.startswith("linux"):
        return Confinement()
    for length in range(len(EVERYTHING), 0, -1):
        for as_user in (True, False):
            confinement = Confinement(EVERYTHING[:length], as_user)
            if _works(confinement, folder):
                return confinement
    return Confinement()
