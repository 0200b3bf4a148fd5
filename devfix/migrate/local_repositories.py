"""Git repositories on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

from devfix.vcs.git import GitError

__all__ = ["check_local", "is_local", "repositories_in"]

_MAX_DEPTH = 4  # levels of folders to search for repositories


def repositories_in(folder: str) -> Iterator[str]:
    """Yield the git repositories at or below a folder, in order, except those inside another repository."""
    if _is_repository(folder):
        yield folder
        return
    for current, folders, _ in os.walk(folder):
        here = sorted(name for name in folders if not name.startswith("."))
        yield from (os.path.join(current, name) for name in here if _is_repository(os.path.join(current, name)))
        is_deepest = os.path.relpath(current, folder).count(os.sep) + (current != folder) + 1 >= _MAX_DEPTH
        folders[:] = [] if is_deepest else [name for name in here if not _is_repository(os.path.join(current, name))]


def _is_repository(folder: str) -> bool:
    """Return whether a folder is a checkout or a bare repository."""
    bare = all(os.path.exists(os.path.join(folder, name)) for name in ("HEAD", "objects", "refs"))
    return bare or os.path.exists(os.path.join(folder, ".git"))


def is_local(source: str) -> bool:
    """Return whether a source is an absolute path or a ``file`` URL."""
    return source.startswith("file://") or os.path.isabs(source)


def check_local(source: str) -> None:
    """Check a source that is a path or a ``file`` URL.

    Raises:
        GitError: there is no readable git repository.

    """
    if not is_local(source):
        return
    path = unquote(urlsplit(source).path) if source.startswith("file://") else source
    if not os.path.isdir(path):
        raise GitError(f"no such folder: {path}")
    if not os.access(path, os.R_OK | os.X_OK):
        raise GitError(f"no permission to read {path}")
    if not _is_repository(path):
        raise GitError(f"{path} is not a git repository")
