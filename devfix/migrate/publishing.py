"""Committing a patch to a branch of the mirror, and pushing it.

A branch with commits of others is not changed, nor is the remote's default branch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from devfix.migrate.changes import Change
from devfix.migrate.mirrors import Mirror
from devfix.migrate.parts.records import patch_of
from devfix.migrate.record import Part, Published
from devfix.migrate.task import Task
from devfix.vcs.commits import Commit, check_replaceable, create_commit
from devfix.vcs.git import Git, GitError

__all__ = ["publish", "publish_parts"]

_PUBLISHED_REF = "refs/devfix/published"


Fixes = Sequence[tuple[frozenset[str], str]]


def publish(mirror: Mirror, task: Task, parent: str, patch: bytes, fixes: Fixes, part: Part | None = None) -> Published:
    """Commit a patch to the branch of the task or of a part, and push it if requested.

    Args:
        mirror: the repository.
        task: branch, author, message, and whether to push.
        parent: the commit to which the patch applies.
        patch: the patch.
        fixes: for each fix, the files that it edits and a line for the commit message.
        part: the part of the task's patch that this one is; ``None`` if it is the whole.

    Raises:
        GitError: the commit or push failed, or the branch has commits of others.

    """
    change = Change.of(task, part)
    body = "\n".join(text for _, text in fixes)
    commit = Commit(parent, patch, f"{change.message}\n\n{body}", change.author, change.owner)
    kind, location = task.publishing.kind, str(mirror.folder) if task.keep_mirror else ""
    with mirror.locked() as git:
        created = create_commit(git, commit)
        git("update-ref", f"refs/heads/{change.branch}", created)
        if kind == "push":
            _push(git, change.branch, created, commit.owner)
    return Published(kind, branch=change.branch, commit=created, mirror=location)


def publish_parts(
    mirror: Mirror, task: Task, parent: str, patch: bytes, parts: Sequence[Part], fixes: Fixes
) -> tuple[Part, ...]:
    """Publish each part of a patch on its own branch; one that fails does not stop the others.

    Args:
        mirror: the repository.
        task: branch, author, message, and whether to push.
        parent: the commit to which the patch applies.
        patch: the whole patch.
        parts: its parts.
        fixes: as for :func:`publish`.

    Raises:
        GitError: one or more parts failed; all were attempted.

    """
    published, errors = [], []
    text = patch.decode("utf-8", "surrogateescape")
    for part in parts:
        content = patch_of(text, part.files).encode("utf-8", "surrogateescape")
        own = [fix for fix in fixes if not fix[0].isdisjoint(part.files)]
        try:
            published.append(replace(part, published=publish(mirror, task, parent, content, own, part)))
        except GitError as error:
            errors.append(error)
    if errors:
        raise GitError("; ".join(map(str, errors)), "\n".join(error.log for error in errors))
    return tuple(published)


def _push(git: Git, branch: str, commit: str, owner: str) -> None:
    ref = f"refs/heads/{branch}"
    listed = git("ls-remote", "--symref", "origin", "HEAD", ref).splitlines()
    if f"ref: {ref}\tHEAD" in listed:
        raise GitError(f"{branch} is the default branch of the remote: choose another branch")
    remote_commit = next((line.partition("\t")[0] for line in listed if line.endswith(f"\t{ref}")), "")
    if remote_commit == commit:
        return
    if remote_commit:
        git("fetch", "--quiet", "--depth=1", "--no-tags", "origin", f"+{ref}:{_PUBLISHED_REF}")
        check_replaceable(git, branch, remote_commit, owner)
    git("push", "--quiet", f"--force-with-lease={ref}:{remote_commit}", "origin", f"{commit}:{ref}")
