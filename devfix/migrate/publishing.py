"""Committing a fixed worktree to a branch, and pushing it.

The commit depends only on its parent, the patch and the plan (its date is its parent's), so a repeated run creates the
same commit.  A branch with commits of others is not changed.
"""

from __future__ import annotations

from collections.abc import Sequence

from devfix.migrate.mirrors import Checkout, Mirror
from devfix.migrate.record import Published
from devfix.migrate.task import Publishing
from devfix.vcs.git import Git, GitError

__all__ = ["publish", "split_author"]

_PUBLISHED_REF = "refs/devfix/published"


def split_author(author: str) -> tuple[str, str]:
    """Return name and address of ``Name <address>``; raise ``ValueError`` for another form."""
    name, bracket, rest = author.partition("<")
    address, end, more = rest.partition(">")
    if not (name.strip() and bracket and address.strip() and end) or more.strip() or "\n" in author:
        raise ValueError(f"{author!r} is not of the form 'Name <address>'")
    return name.strip(), address.strip()


def publish(mirror: Mirror, checkout: Checkout, paths: Sequence[str], publishing: Publishing, body: str) -> Published:
    """Commit the changed files of a worktree to a branch, and push it if requested.

    Args:
        mirror: the worktree's repository.
        checkout: the worktree, with the changes applied.
        paths: the changed files, relative to the worktree.
        publishing: branch, author, message, and whether to push.
        body: the commit message below its first line.

    Raises:
        GitError: the commit or push failed, or the branch has commits of others.

    """
    name, address = split_author(publishing.author)
    with mirror.locked() as git:
        date = git("log", "-1", "--format=%cI", checkout.commit).strip()
        identity = {
            f"GIT_{role}_{field}": value
            for role in ("AUTHOR", "COMMITTER")
            for field, value in (("NAME", name), ("EMAIL", address), ("DATE", date))
        }
        checkout.git("add", "--", *paths)
        message = f"{publishing.message}\n\n{body}\n"
        checkout.git("commit", "--quiet", "--no-verify", "--file=-", extra_env=identity, stdin=message)
        commit = checkout.git("rev-parse", "HEAD").strip()
        git("update-ref", f"refs/heads/{publishing.branch}", commit)
        if publishing.kind != "branch":
            _push(git, publishing.branch, commit, address)
    return Published(publishing.kind, branch=publishing.branch, commit=commit, mirror=str(mirror.folder))


def _push(git: Git, branch: str, commit: str, address: str) -> None:
    remote_commit = git("ls-remote", "origin", f"refs/heads/{branch}").partition("\t")[0]
    if remote_commit == commit:
        return
    if remote_commit:
        git("fetch", "--quiet", "--depth=1", "--no-tags", "origin", f"+refs/heads/{branch}:{_PUBLISHED_REF}")
        author, committer = git("log", "-1", "--format=%ae%n%ce", remote_commit).splitlines()
        if {author, committer} != {address}:
            raise GitError(f"the branch {branch} has a commit by {author}: merge or delete the branch")
    git(
        "push",
        "--quiet",
        f"--force-with-lease=refs/heads/{branch}:{remote_commit}",
        "origin",
        f"{commit}:refs/heads/{branch}",
    )
