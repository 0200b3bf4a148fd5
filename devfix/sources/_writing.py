"""Atomic writing: a file has either its old bytes or its new bytes."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

from devfix.model import FileChange, Problem
from devfix.sources._source_file import SourceError

__all__ = ["write", "write_whole"]


def write(change: FileChange) -> None:
    """Replace the file's bytes atomically, keeping its mode and, if it is a link, the link.

    The new bytes are written to a temporary file in the same folder, synced to disk, and renamed by ``os.replace``: an
    interruption at any point leaves the old bytes or the new ones.  Raise :class:`SourceError` if the file is
    read-only, or no longer contains ``change.old``.
    """
    target = os.path.realpath(change.path)
    try:
        status = os.stat(target)
        if not status.st_mode & 0o222 or not os.access(target, os.W_OK):
            raise SourceError(Problem(change.path, "is read-only, so it was not written", hint="chmod u+w"))
        _replace(target, change, status)
    except OSError as error:
        message = f"cannot be written: {error.strerror or error}"
        hint = "check the permissions of the file and its folder, and the space on the disk"
        raise SourceError(Problem(change.path, message, hint=hint)) from error


def write_whole(path: Path, parts: Iterable[bytes], synced: bool = True, fresh: bool = False) -> None:
    """Write a file of devfix's own atomically, with the permissions of a new file.

    ``synced``: survive a power failure.  ``fresh``: the file must not exist.  A link is kept and its target written; a
    terminal, a pipe or ``/dev/null`` is written to directly.  Raises :class:`OSError`, including
    :class:`FileExistsError`.
    """
    if fresh and os.path.lexists(path):
        raise FileExistsError(path)
    target = path.resolve()
    if target.exists() and not target.is_file():
        with open(target, "wb") as device:
            device.writelines(parts)
        return
    temporary = target.with_name(f".devfix-{secrets.token_hex(6)}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.writelines(parts)
            if synced:
                file.flush()
                os.fsync(file.fileno())
        if fresh:
            _take_name(temporary, target)
            return
        if target.exists():
            os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _take_name(temporary: Path, target: Path) -> None:
    """Rename the file; unlike ``os.replace``, this does not overwrite a file created meanwhile."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        os.rename(temporary, target)
    else:
        os.unlink(temporary)


def _replace(target: str, change: FileChange, status: os.stat_result) -> None:
    folder = os.path.dirname(target)
    descriptor, temporary = tempfile.mkstemp(prefix=".devfix-", suffix=".tmp", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(change.new)
            file.flush()
            os.fsync(file.fileno())
        _keep_owner(temporary, status)
        os.chmod(temporary, stat.S_IMODE(status.st_mode))
        if _content(target) != change.old:
            raise SourceError(
                Problem(change.path, "changed while devfix worked, so it was not written", hint="run devfix again")
            )
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _keep_owner(path: str, status: os.stat_result) -> None:
    """Give the file the old one's owner, if the system allows it (root writing a user's file)."""
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):
            os.chown(path, status.st_uid, status.st_gid)


def _sync_folder(folder: str) -> None:
    """Make the new name survive a power failure; not every file system supports this."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
