"""Commits of devfix: created from a patch without a worktree, and recognised on a remote.

A commit depends only on its parent, its patch, its message and its author (its date is its parent's), so a repeated run
creates the same commit.  A trailer contains a digest of parent, tree and owner: a commit without it, with changes of
others, or of another owner is not replaced by a push.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass

from devfix.sources.digest import digest
from devfix.vcs.git import Git, GitError

__all__ = ["Commit", "check_replaceable", "create_commit", "list_item", "split_author"]

_TRAILER = "Devfix-Commit"
_SEAL = re.compile(rf"^{_TRAILER}: ([0-9a-f]+)$", re.MULTILINE)
#: Where forges link names, issues and addresses in a commit message: after @ # ! and "GH", and in ://.  A keyword such
#: as "fixes" before an issue, also of another repository, closes it.
_LINKED = re.compile(r"(?<=[@#!])(?=[\w\"'{-])|(?<=\bGH)(?=-\d)|(?<=:)(?=//)", re.IGNORECASE)
_BREAK = "\u200b"  # zero width: the text stays readable
_HEADER = re.compile(r"^(tree|parent|author) (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Commit:
    """A commit to create.

    Attributes:
        parent: the hash of the parent.
        patch: a unified diff against the parent.
        message: the message, without the trailer.
        author: ``Name <address>``.
        owner: what the branch belongs to, such as an entry of a plan; only commits of the same owner are replaced.

    """

    parent: str
    patch: bytes
    message: str
    author: str
    owner: str


def split_author(author: str) -> tuple[str, str]:
    """Return name and address of ``Name <address>``; raise ``ValueError`` for another form."""
    name, bracket, rest = author.partition("<")
    address, end, more = rest.partition(">")
    if not (name.strip() and bracket and address.strip() and end) or more.strip() or "\n" in author:
        raise ValueError(f"{author!r} is not of the form 'Name <address>'")
    return name.strip(), address.strip()


def list_item(text: str) -> str:
    """Return a line for the list in a commit message, whose text is a stranger's.

    It is one line, so that it adds no trailer, and mentions nobody and nothing.
    """
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return f"- {_LINKED.sub(_BREAK, shown)}"


def create_commit(git: Git, commit: Commit) -> str:
    """Create a commit and return its hash; no branch changes.

    Args:
        git: git in a repository that contains the parent.
        commit: the commit.

    Raises:
        GitError: the patch does not apply, or git failed.

    """
    path = os.path.join(git.folder, "devfix-index")
    index = {"GIT_INDEX_FILE": path}
    try:
        git("read-tree", commit.parent, extra_env=index)
        git("apply", "--cached", "--whitespace=nowarn", "-", stdin=os.fsdecode(commit.patch), extra_env=index)
        tree = git("write-tree", "--missing-ok", extra_env=index).strip()  # a mirror lacks blobs
    finally:
        with suppress(OSError):
            os.unlink(path)
    name, address = split_author(commit.author)
    date = git("log", "-1", "--format=%cI", commit.parent).strip()
    identity = {
        f"GIT_{role}_{field}": value
        for role in ("AUTHOR", "COMMITTER")
        for field, value in (("NAME", name), ("EMAIL", address), ("DATE", date))
    }
    separator = "\n" if re.search(r"\n\n(?:[\w-]+: .*\n?)+\Z", commit.message) else "\n\n"  # trailers are one block
    message = f"{commit.message.rstrip()}{separator}{_TRAILER}: {_seal(commit.parent, tree, commit.owner)}\n"
    return git("commit-tree", tree, "-p", commit.parent, "-F", "-", stdin=message, extra_env=identity).strip()


def check_replaceable(git: Git, branch: str, tip: str, owner: str) -> None:
    """Check that the tip of a remote branch is an unchanged commit of this owner.

    Args:
        git: git in a repository that contains the tip.
        branch: the name of the branch, for the error.
        tip: the hash of its commit.
        owner: as in :class:`Commit`.

    Raises:
        GitError: the commit is another one, or was changed.

    """
    text = git("cat-file", "commit", tip)
    headers = dict(_HEADER.findall(text.partition("\n\n")[0]))
    seals = _SEAL.findall(text)
    if seals[-1:] != [_seal(headers.get("parent", ""), headers.get("tree", ""), owner)]:
        _, _, address = headers.get("author", "").partition("<")
        origin = "another entry or command of devfix" if seals else address.partition(">")[0]
        raise GitError(
            f"the branch {branch} has a commit by {origin}: merge or delete the branch, or choose another name"
        )


def _seal(parent: str, tree: str, owner: str) -> str:
    return digest("commit", parent, tree, owner)
