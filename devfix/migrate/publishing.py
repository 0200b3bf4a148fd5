"""Committing a patch to a branch of the mirror, and pushing it.

A branch with commits of others is not changed, nor is the remote's default branch.
"""

from __future__ import annotations

from devfix.migrate.mirrors import Mirror
from devfix.migrate.record import Published
from devfix.migrate.task import Task
from devfix.vcs.commits import Commit, check_replaceable, create_commit
from devfix.vcs.git import Git, GitError

__all__ = ["publish"]

_PUBLISHED_REF = "refs/devfix/published"


def publish(mirror: Mirror, task: Task, parent: str, patch: bytes, body: str) -> Published:
    """Commit a patch to the task's branch, and push it if requested.

    Args:
        mirror: the repository.
        task: branch, author, message, and whether to push.
        parent: the commit to which the patch applies.
        patch: the patch.
        body: the commit message below its first line.

    Raises:
        GitError: the commit or push failed, or the branch has commits of others.

    """
    publishing = task.publishing
    message = f"{publishing.message}\n\n{body}"
    commit = Commit(parent, patch, message, publishing.author, task.branch_owner)
    with mirror.locked() as git:
        created = create_commit(git, commit)
        git("update-ref", f"refs/heads/{publishing.branch}", created)
        if publishing.kind == "push":
            _push(git, publishing.branch, created, commit.owner)
    return Published(publishing.kind, branch=publishing.branch, commit=created, mirror=str(mirror.folder))


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
