"""The bot's commits: created without a worktree; the push token is passed through a git credential helper only."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from devfix.bot.environment import Token
from devfix.bot.skip_reasons import BotError, Skipped
from devfix.migrate.publishing import split_author
from devfix.vcs.git import Git, GitError

__all__ = ["TRAILER", "Commit", "Remote"]

#: Trailer of the bot's commit messages; the bot adds no commit on top of such a commit.
TRAILER = "Made-by: devfix bot"


@dataclass(frozen=True)
class Commit:
    """A commit to create: parent, patch, message, and author (``Name <address>``)."""

    parent: str
    patch: bytes
    message: str
    author: str


class Remote:
    """The forge's repository, for git.

    Args:
        url: the clone URL.
        token: the token for pushes, passed to git through a pipe: never in an argument, variable or file.

    """

    def __init__(self, url: str, token: Token) -> None:
        self.url = url
        self._token = token

    def push(self, commit: Commit, branch: str, *, is_bot_branch: bool) -> str:
        """Create a commit and push it.

        The commit's date is its parent's, so a repeated call creates the same commit.

        Args:
            commit: the commit to create.
            branch: the branch to push to.
            is_bot_branch: whether the branch is the bot's, which is replaced unless it has commits of others; otherwise
                the branch must be at the parent and is fast-forwarded.

        Returns:
            The commit's hash.

        Raises:
            BotError: git failed.
            Skipped: the branch has commits of others, or its last commit is the bot's.

        """
        try:
            with tempfile.TemporaryDirectory(prefix="devfix-bot-") as folder:
                return self._push(Git(folder, self.url), commit, branch, is_bot_branch)
        except GitError as error:
            raise BotError(f"branch {branch}: {error}") from error

    def _push(self, git: Git, commit: Commit, branch: str, is_bot_branch: bool) -> str:
        git("init", "--quiet", "--bare")
        remote_tip = self._run_authenticated(git, "ls-remote", "origin", f"refs/heads/{branch}").partition("\t")[0]
        commits = [commit.parent] if not remote_tip or not is_bot_branch else [commit.parent, remote_tip]
        self._run_authenticated(git, "fetch", "--quiet", "--no-tags", "--depth=1", "origin", *commits)
        if not is_bot_branch and remote_tip != commit.parent:
            raise Skipped(f"branch {branch} has new commits since the analysis")
        if not is_bot_branch and TRAILER in git("log", "-1", "--format=%B", commit.parent):
            raise Skipped(f"the last commit of {branch} is the bot's")
        if is_bot_branch and remote_tip:
            _check_author(git, branch, remote_tip, commit.author)
        created = _create_commit(git, commit)
        if remote_tip != created:
            lease = f"--force-with-lease=refs/heads/{branch}:{remote_tip}"
            self._run_authenticated(
                git, "push", "--quiet", *([lease] if is_bot_branch else []), "origin", f"{created}:refs/heads/{branch}"
            )
        return created

    def _run_authenticated(self, git: Git, *arguments: str) -> str:
        """Run a git command that contacts the forge."""
        with _credential_helper(self.url, self._token) as (settings, pipe):
            git.lock = pipe  # inherited by git and its credential helper
            try:
                return git(*settings, *arguments)
            finally:
                git.lock = None


def _check_author(git: Git, branch: str, commit: str, author: str) -> None:
    name, committer = git("log", "-1", "--format=%ae%n%ce", commit).splitlines()
    _, address = split_author(author)
    if {name, committer} != {address}:
        raise Skipped(f"the branch {branch} has a commit by {name}: merge or delete the branch")


def _create_commit(git: Git, commit: Commit) -> str:
    index = {"GIT_INDEX_FILE": os.path.join(git.folder, "devfix-index")}
    git("read-tree", commit.parent, extra_env=index)
    git("apply", "--cached", "--whitespace=nowarn", "-", stdin=os.fsdecode(commit.patch), extra_env=index)
    tree = git("write-tree", extra_env=index).strip()
    name, address = split_author(commit.author)
    date = git("log", "-1", "--format=%cI", commit.parent).strip()
    identity = {
        f"GIT_{role}_{field}": value
        for role in ("AUTHOR", "COMMITTER")
        for field, value in (("NAME", name), ("EMAIL", address), ("DATE", date))
    }
    message = f"{commit.message}\n\n{TRAILER}\n"
    return git("commit-tree", tree, "-p", commit.parent, "-F", "-", stdin=message, extra_env=identity).strip()


@contextmanager
def _credential_helper(url: str, token: Token) -> Iterator[tuple[list[str], int | None]]:
    """Yield git settings that read the token from a pipe, and the pipe's end; neither if no token is needed."""
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
