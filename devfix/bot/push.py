"""The bot's commits: created without a worktree; the push token is passed through a git credential helper only."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import urlsplit

from devfix.bot.environment import Token
from devfix.bot.forks.fork import attempts
from devfix.bot.skip_reasons import BotError, Skipped
from devfix.vcs.commits import Commit, check_replaceable, create_commit
from devfix.vcs.git import Git, GitError
from devfix.vcs.redaction import redacted

__all__ = ["TRAILER", "Remote"]

#: Trailer of the bot's commit messages; the bot adds no commit on top of such a commit.
TRAILER = "Made-by: devfix bot"


class Remote:
    """The forge's repository, for git.

    Args:
        url: the clone URL.
        token: the token for pushes, passed to git through a pipe: never in an argument, variable or file.
        source: the clone URL of the repository of which this one is a fork; empty if it is none.
        is_new: whether the fork was just created: wait until it can be read.

    """

    def __init__(self, url: str, token: Token, source: str = "", *, is_new: bool = False) -> None:
        self.url = url
        self._token = token
        self._source = source
        self._is_new = is_new

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
        with self._repository(branch) as git:
            return self._push(git, commit, branch, is_bot_branch)

    def own_tip(self, branch: str, owner: str) -> str:
        """Return the commit of a branch of the bot; empty if there is no such branch.

        Raises:
            BotError: git failed.
            Skipped: the branch has commits of others.

        """
        with self._repository(branch) as git:
            tip = self._tip(git, branch)
            if tip:
                self._fetch(git, tip)
                _refuse_others(git, branch, tip, owner)
            return tip

    def delete(self, branch: str, tip: str) -> None:
        """Delete a branch that is still at ``tip``.

        Raises:
            BotError: git failed, or the branch has other commits by now.

        """
        with self._repository(branch) as git:
            self._run_authenticated(git, "push", "--quiet", _lease(branch, tip), "origin", f":refs/heads/{branch}")

    @contextmanager
    def _repository(self, branch: str) -> Iterator[Git]:
        try:
            with tempfile.TemporaryDirectory(prefix="devfix-bot-") as folder:
                git = Git(folder, self.url)
                git("init", "--quiet", "--bare")
                yield git
        except GitError as error:
            raise BotError(f"branch {branch}: {error}") from error

    def _tip(self, git: Git, branch: str) -> str:
        """Return the commit of a branch; empty if there is none.  Git also lists refs that end with the name."""
        ref = f"refs/heads/{branch}"
        lines = (line.partition("\t") for line in self._run_authenticated(git, "ls-remote", "origin", ref).splitlines())
        return next((commit for commit, _, name in lines if name == ref), "")

    def _fetch(self, git: Git, *commits: str) -> None:
        self._run_authenticated(git, "fetch", "--quiet", "--no-tags", "--depth=1", "origin", *commits)

    def _push(self, git: Git, commit: Commit, branch: str, is_bot_branch: bool) -> str:
        if self._source:
            self._wait_until_filled(git)
        remote_tip = self._tip(git, branch)
        self._fetch_parent(git, commit.parent)
        if remote_tip and is_bot_branch:
            self._fetch(git, remote_tip)
        if not is_bot_branch and remote_tip != commit.parent:
            raise Skipped(f"branch {branch} has new commits since the analysis")
        if not is_bot_branch and TRAILER in git("log", "-1", "--format=%B", commit.parent):
            raise Skipped(f"the last commit of {branch} is the bot's")
        if is_bot_branch and remote_tip:
            _refuse_others(git, branch, remote_tip, commit.owner)
        created = create_commit(git, replace(commit, message=f"{commit.message}\n\n{TRAILER}\n"))
        if remote_tip != created:
            target = f"{created}:refs/heads/{branch}"
            self._run_authenticated(git, "push", "--quiet", _lease(branch, remote_tip), "origin", target)
        return created

    def _wait_until_filled(self, git: Git) -> None:
        for is_patient in attempts():
            try:
                if self._run_authenticated(git, "ls-remote", "--heads", "origin"):
                    return
            except GitError:
                if not (self._is_new and is_patient):
                    raise
        raise BotError(f"the fork {redacted(self.url)} is still empty: run devfix migrate open later")

    def _fetch_parent(self, git: Git, parent: str) -> None:
        """Fetch the parent; a fork that lacks it gets its whole history, because a push cannot create a shallow one."""
        try:
            self._run_authenticated(git, "fetch", "--quiet", "--no-tags", "--depth=1", "origin", parent)
        except GitError:
            if not self._source:
                raise
            source = Git(git.folder, self._source)
            self._run_authenticated(source, "fetch", "--quiet", "--no-tags", "origin", parent)

    def _run_authenticated(self, git: Git, *arguments: str) -> str:
        """Run a git command that contacts the forge."""
        with _credential_helper(self.url, self._token) as (settings, pipe):
            git.lock = pipe  # inherited by git and its credential helper
            try:
                return git(*settings, *arguments)
            finally:
                git.lock = None


def _lease(branch: str, tip: str) -> str:
    """Return the option of a push that fails if the branch has moved meanwhile, also backward."""
    return f"--force-with-lease=refs/heads/{branch}:{tip}"


def _refuse_others(git: Git, branch: str, tip: str, owner: str) -> None:
    try:
        check_replaceable(git, branch, tip, owner)
    except GitError as error:
        raise Skipped(str(error)) from error


@contextmanager
def _credential_helper(url: str, token: Token) -> Iterator[tuple[list[str], int | None]]:
    """Yield git settings that read the token from a pipe, and the pipe's end; neither if no token is needed."""
    parts = urlsplit(url)
    if not token.value or parts.scheme not in ("http", "https"):
        yield [], None
        return
    receive, send = os.pipe()
    try:
        with os.fdopen(send, "w") as file:
            file.write(f"username=x-access-token\npassword={token.value}\n")
        script = f'!f() {{ test "$1" = get && cat /dev/fd/{receive}; }}; f'
        server = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"  # no server that it redirects to gets the token
        yield ["-c", "credential.helper=", "-c", f"credential.{server}.helper={script}"], receive
    finally:
        os.close(receive)
