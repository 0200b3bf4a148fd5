"""The files of a project as they were at a revision, for a proof of what the working tree changes."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from devfix import sources
from devfix.vcs.git import Git, GitError
from devfix.verify.records import RunError
from devfix.verify.sandbox.scratch import CopyError, ProjectTooLarge, UnsafeChange, overlay, scratch_copy

__all__ = ["tree_at"]


@contextmanager
def tree_at(root: Path, revision: str, allowed: Collection[str] = ()) -> Iterator[tuple[Path, dict[str, bytes]]]:
    """Yield a copy of a project with the files of a revision, and the new contents of the files that changed since.

    Files that git does not track are the same in both, but Python files and notebooks that it does not ignore are
    new. Files that were deleted since are in both. The copy is deleted at the end.

    Args:
        root: the project's folder, in a git repository.
        revision: a commit, branch or tag.
        allowed: files that are copied even if they may hold credentials.

    Raises:
        RunError: the folder is in no repository, the revision does not exist, or the folder cannot be copied.

    """
    git = Git(str(root), user_checkout=True)
    try:
        git("rev-parse", "--git-dir")
        commit = _commit(git, revision)
        before, added = _changed(git, commit)
        original = {name: os.fsencode(git("cat-file", "--filters", f"{commit}:./{name}")) for name in before}
    except GitError as error:
        raise RunError(f"--since: {error}") from error
    try:
        with scratch_copy(root, allowed=allowed) as copy:
            overlay(copy.project, original)
            for name in added:
                (copy.project / name).unlink(missing_ok=True)
            yield (
                copy.project,
                {name: (root / name).read_bytes() for name in (*before, *added) if (root / name).is_file()},
            )
    except (CopyError, ProjectTooLarge, UnsafeChange) as error:
        raise RunError(str(error)) from error


def _commit(git: Git, revision: str) -> str:
    try:
        return git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").strip()
    except GitError:
        raise RunError(f"--since: {revision!r} is no commit, branch or tag of {git.folder}") from None


def _changed(git: Git, commit: str) -> tuple[list[str], list[str]]:
    """Return the paths of files that were changed or deleted since a commit, and of new ones."""
    before: list[str] = []
    added: list[str] = []
    options = ("--name-status", "--no-renames", "--relative", "--ignore-submodules=all", "-z")
    listed = iter(git("diff", "--no-ext-diff", *options, commit, "--", ".").split("\0")[:-1])
    for status in listed:
        (added if status == "A" else before).append(next(listed))
    untracked = git("ls-files", "--others", "--exclude-standard", "-z", "--", ".").split("\0")[:-1]
    return before, [*added, *(name for name in untracked if name.endswith(sources.SUFFIXES))]
