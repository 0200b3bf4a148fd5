"""``devfix clean``: delete what can be computed again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click

from devfix.cli._errors import CommandError
from devfix.report.sanitize import printable
from devfix.sources.cache_folder import cache_folder
from devfix.sources.removal import remove_tree

__all__ = ["clean"]

#: Of results.  The folder may have been named in ``DEVFIX_CACHE_DIR``, and may hold files of other programs.
_RESULTS = ("scans-*.sqlite", "scans-*.sqlite-shm", "scans-*.sqlite-wal", "models-*.json", "proofs")
_MIRRORS = ("mirrors", "worktrees")


def clean(*, everything: bool, dry_run: bool) -> int:
    """Delete cached results, print what was deleted, and return the exit code.

    Args:
        everything: also delete the mirrors and worktrees of migrations.
        dry_run: delete nothing.

    Raises:
        CommandError: something cannot be deleted.

    """
    folder = Path(cache_folder())
    found = sorted(path for name in (*_RESULTS, *(_MIRRORS if everything else ())) for path in folder.glob(name))
    size = sum(_size(path) for path in found)
    for path in found:
        if dry_run:
            click.echo(printable(str(path)))
        else:
            _remove(path)
    label = "would delete" if dry_run else "deleted"
    click.echo(f"{label} {size / 1e6:.1f} MB in {printable(str(folder))}" if found else "nothing to delete", err=True)
    return 0


def _size(path: Path) -> int:
    return sum(os.lstat(each).st_size for each in _files(path))


def _files(path: Path) -> Iterator[str]:
    if not path.is_dir() or path.is_symlink():
        yield str(path)
        return
    for current, _, names in os.walk(path):
        yield from (os.path.join(current, name) for name in names)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
        if path.is_dir():
            raise CommandError(f"{path}: cannot be deleted; check its permissions")
        return
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise CommandError(f"{path}: cannot be deleted: {error.strerror}") from error
