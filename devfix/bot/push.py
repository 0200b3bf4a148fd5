"""Commits of the bot, made without a worktree, and pushed with a token that only git's helper hears of."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from devfix.bot.environment import Token
from devfix.bot.skip_reasons import BotError, LeftAlone
from devfix.migrate.publishing import split_author
from devfix.vcs.git import Git, GitError

__all__ = ["TRAILER", "Commit", "Remote"]

#: At the end of the messages of the bot's commits: it makes none on top of one of them.
TRAILER = "Made-by: devfix bot"


@dataclass(frozen=True)
class Commit:
    """What is to be committed: the patch on top of a parent, with a message and an author (``Name <address>``)."""

    parent: str
    patch: bytes
    message: str
    author: str


class Remote:
    """The host's repository, for git.

    Args:
        url: where it is.
        token: what pushes to it; it goes to git through a pipe, and is in no argument, variable or file.

    """

    def __init__(self, url: str, token: Token) -> None:
        self.url = url
        self._token = token

    def push(self, commit: Commit, branch: str, *, ours: bool) -> str:
        """Commit and push, and return the commit.

        Doing it again makes the same commit, as its date is its parent's.

        Args:
            commit: what is committed.
            branch: where it goes.
            ours: a branch of the bot's, which is replaced where nobody else has worked on it; else the branch must be
                at the parent, and goes on from there.

        Raises:
            BotError: git could not do it.
            LeftAlone: somebody else has worked on the branch, or the bot's own commit is its last one.

        """
        try:
            with tempfile.TemporaryDirectory(prefix="devfix-bot-") as folder:
                return self._push(Git(folder, self.url), commit, branch, ours)
        except GitError as error:
            raise BotError(f"branch {branch}: {error}") from error

    def _push(self, git: Git, commit: Commit, branch: str, ours: bool) -> str:
        git("init", "--quiet", "--bare")
        there = self._ask(git, "ls-remote", "origin", f"refs/heads/{branch}").partition("\t")[0]
        wanted = [commit.parent] if not there or not ours else [commit.parent, there]
        self._ask(git, "fetch", "--quiet", "--no-tags", "--depth=1", "origin", *wanted)
        if not ours and there != commit.parent:
            raise LeftAlone(f"branch {branch} has moved on since it was analysed")
        if not ours and TRAILER in git("log", "-1", "--format=%B", commit.parent):
            raise LeftAlone(f"the last commit of {branch} is one of the bot's own: it does not answer itself")
        if ours and there:
            _refuse_others(git, branch, there, commit.author)
        made = _make(git, commit)
        if there != made:
            lease = f"--force-with-lease=refs/heads/{branch}:{there}"
            self._ask(git, "push", "--quiet", *([lease] if ours else []), "origin", f"{made}:refs/heads/{branch}")
        return made

    def _ask(self, git: Git, *arguments: str) -> str:
        """A command that talks to the host."""
        with _helper(self.url, self._token) as (settings, pipe):
            git.lock = pipe  # inherited by git, and by the helper that it starts
            try:
                return git(*settings, *arguments)
            finally:
                git.lock = None


def _refuse_others(git: Git, branch: str, commit: str, author: str) -> None:
    name, committer = git("log", "-1", "--format=%ae%n%ce", commit).splitlines()
    _, address = split_author(author)
    if {name, committer} != {address}:
        raise LeftAlone(f"the branch {branch} has a commit by {name}: it is left alone; merge it or delete it")


def _make(git: Git, commit: Commit) -> str:
    index = {"GIT_INDEX_FILE": os.path.join(git.folder, "devfix-index")}
    git("read-tree", commit.parent, more=index)
    git("apply", "--cached", "--whitespace=nowarn", "-", text=os.fsdecode(commit.patch), more=index)
    tree = git("write-tree", more=index).strip()
    name, address = split_author(commit.author)
    date = git("log", "-1", "--format=%cI", commit.parent).strip()
    person = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", name), ("EMAIL", address), ("DATE", date))
    }
    message = f"{commit.message}\n\n{TRAILER}\n"
    return git("commit-tree", tree, "-p", commit.parent, "-F", "-", text=message, more=person).strip()


@contextmanager
def _helper(url: str, token: Token) -> Iterator[tuple[list[str], int | None]]:
    """Settings under which git gets the token from a pipe, and the pipe's end; none where it needs no token."""
    if not token.value or urlsplit(url).scheme not in ("http", "https"):
        yield [], None
        return
    receive, send = os.pipe()
    try:
        with os.fdopen(send, "w") as file:
            file.write(f"username=x-access-token\npassword={token.value}\n")
        script = f'!f() {{ test "$1" = get && cat /dev/fd/{receive}; }}; f'
        yield ["-c", "credential.helper=", "-c", f"credential.helper={script}"], receive
    finally:
        os.close(receive)
