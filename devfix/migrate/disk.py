"""Whether a worker's disk is full: then the run stops, because every further repository would fail."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress

__all__ = ["DISK_FULL", "is_full"]

#: How the reason of a repository begins that failed on a full disk.  No other reason begins so.
DISK_FULL = "the disk is full"
_LEAST_FREE = 16 << 20  # bytes


def is_full(error: BaseException | None, *folders: str | os.PathLike[str]) -> bool:
    """Return whether the disk is full, by the system's own account.

    The text of an error does not count: a server may write anything into the output of git.

    Args:
        error: the error of a system call, if any.
        folders: the folders that were written to.

    """
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    for folder in folders:
        with suppress(OSError):
            if shutil.disk_usage(folder).free < _LEAST_FREE:
                return True
    return False
