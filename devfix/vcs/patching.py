"""Unified diffs applied to files, without writing to these."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from devfix.vcs.git import Git

__all__ = ["apply_diff"]


def apply_diff(root: Path, diff: str, paths: Iterable[str]) -> dict[str, bytes]:
    """Return the contents of files after a diff, by path; files that it deletes are left out.

    Hunks may have no context, and wrong numbers of lines in their headers.

    Args:
        root: the folder of the files.
        diff: the text of a unified diff, with or without the prefixes ``a/`` and ``b/``.
        paths: the files that it names, relative to ``root``.

    Raises:
        GitError: the diff does not apply, or names a file outside ``root``.

    """
    strip = "-p1" if "\n--- a/" in f"\n{diff}" or "\n+++ b/" in diff else "-p0"
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        names = sorted({os.path.normpath(path) for path in paths if not os.path.isabs(path)})
        names = [name for name in names if not name.startswith(os.pardir)]
        for name in names:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            if (root / name).is_file():
                (copy / name).write_bytes((root / name).read_bytes())
        Git(folder)("apply", strip, "--recount", "--unidiff-zero", "--whitespace=nowarn", "-", stdin=diff)
        return {name: (copy / name).read_bytes() for name in names if (copy / name).is_file()}
