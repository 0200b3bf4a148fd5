"""A repaired worktree becomes a commit on a branch of its own, here and at the remote.

The commit depends on nothing but its parent, the patch and the plan (its date is its parent's), so doing it again
changes nothing.  A branch that somebody else has worked on is left alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from devfix.migrate.mirrors import Checkout, Mirror
from devfix.migrate.record import Published
from devfix.migrate.task import Publishing
from devfix.vcs.git import Git, GitError

__all__ = ["publish", "split_author"]

_THEIRS = "refs/devfix/published"


def split_author(author: str) -> tuple[str, str]:
    """Name and address of ``Name <address>``; raises ``ValueError`` where it is not that."""
    name, bracket, rest = author.partition("<")
    address, end, more = rest.partition(">")
    if not (name.strip() and bracket and address.strip() and end) or more.strip() or "\n" in author:
        raise ValueError(f"{author!r} is not of the form 'Name <address>'")
    return name.strip(), address.strip()


def publish(mirror: Mirror, checkout: Checkout, paths: Sequence[str], wanted: Publishing, body: str) -> Published:
    """Commit changed files of a worktree to the branch, and push it where that is wanted.

    Args:
        mirror: the worktree's repository.
        checkout: the worktree, in which the files are changed already.
        paths: the changed files, within it.
        wanted: branch, author, message, and whether to push.
        body: what the message says below its first line.

    Raises:
        GitError: it cannot be committed or pushed, or somebody else has worked on the branch.

    """
    name, address = split_author(wanted.author)
    with mirror.locked() as git:
        date = git("log", "-1", "--format=%cI", checkout.commit).strip()
        person = {
            f"GIT_{who}_{what}": value
            for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", name), ("EMAIL", address), ("DATE", date))
        }
        checkout.git("add", "--", *paths)
        message = f"{wanted.message}\n\n{body}\n"
        checkout.git("commit", "--quiet", "--no-verify", "--file=-", extra_env=person, stdin=message)
        commit = checkout.git("rev-parse", "HEAD").strip()
        git("update-ref", f"refs/heads/{wanted.branch}", commit)
        if wanted.kind != "branch":
            _push(git, wanted.branch, commit, address)
    return Published(wanted.kind, branch=wanted.branch, commit=commit, mirror=str(mirror.folder))


def _push(git: Git, branch: str, commit: str, address: str) -> None:
    there = git("ls-remote", "origin", f"refs/heads/{branch}").partition("\t")[0]
    if there == commit:
        return
    if there:
        git("fetch", "--quiet", "--depth=1", "--no-tags", "origin", f"+refs/heads/{branch}:{_THEIRS}")
        author, committer = git("log", "-1", "--format=%ae%n%ce", there).splitlines()
        if {author, committer} != {address}:
            raise GitError(f"the branch {branch} has a commit by {author}: it is left alone; merge it or delete it")
    git("push", "--quiet", f"--force-with-lease=refs/heads/{branch}:{there}", "origin", f"{commit}:refs/heads/{branch}")
