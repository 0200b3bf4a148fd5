"""Deletion of folders whose contents are a stranger's."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

__all__ = ["remove_tree"]


def remove_tree(folder: str | os.PathLike[str]) -> None:
    """Delete a folder as far as permissions allow, whatever the depth of its sub-folders.

    ``shutil.rmtree`` recurses and needs an open file for each level (until Python 3.13); a repository may have two
    thousand.
    """
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if os.path.isdir(folder) and not os.path.islink(folder):
        with suppress(OSError):
            _remove_by_level(os.fspath(folder))


def _remove_by_level(top: str) -> None:
    """Move each sub-folder to the top before its own contents are deleted, so that no path is long."""
    pending, moved = [top], 0
    while pending:
        folder = pending.pop()
        with os.scandir(folder) as entries:
            found = list(entries)
        for entry in found:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
            elif folder == top:
                pending.append(entry.path)
            else:
                moved += 1
                place = os.path.join(top, f".devfix-{os.getpid()}-{moved}")
                os.rename(entry.path, place)
                pending.append(place)
        if folder != top:
            os.rmdir(folder)
    os.rmdir(top)
