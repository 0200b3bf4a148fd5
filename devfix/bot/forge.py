"""The interface of a forge, in terms that GitHub and GitLab share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from devfix.bot.forks.fork import Fork
from devfix.bot.skip_reasons import Skipped
from devfix.bot.suggestions import Suggestion
from devfix.migrate.proposing import MergeMethod
from devfix.vcs.redaction import redacted

__all__ = [
    "IGNORE_LABEL",
    "LONGEST_WAIT_S",
    "Account",
    "CallLog",
    "Comment",
    "Forge",
    "PullRequest",
    "log_call",
    "raise_if_stopped",
]

IGNORE_LABEL = "devfix: ignore"
#: Seconds; for a longer wait the bot fails, because a sleeping job costs money.
LONGEST_WAIT_S = 300
_STOP_COMMANDS = ("stop", "devfix stop", "devfix: stop", "/devfix stop", "@devfix stop")
_MARKERS = "<!-- devfix:"
_MAX_LOGGED = 4000  # characters of a request body that a dry run prints

#: Print a line about a call.
CallLog = Callable[[str], None]


@dataclass(frozen=True)
class PullRequest:
    """A pull request, or a merge request."""

    number: int
    title: str
    body: str
    state: str  # open, closed or merged
    head: str
    head_branch: str
    head_repository: str
    base: str
    base_branch: str
    labels: tuple[str, ...]
    created: datetime
    url: str
    draft: bool = False


@dataclass(frozen=True)
class Comment:
    """A comment and its author; ``id`` is the forge's own, ``is_own`` says whether the bot wrote it."""

    id: str
    body: str
    author: str = ""
    is_own: bool = False


class Account:
    """The account of a token, and how to tell its comments: anyone can write a marker, and only own ones are edited.

    Args:
        request_login: requests the login; empty if the token may not ask. Called once.
        is_app: whether an author is the app that the tokens of jobs belong to, which have no login.

    """

    def __init__(
        self, request_login: Callable[[], str], is_app: Callable[[Mapping[str, Any]], bool] = lambda author: False
    ) -> None:
        self._request_login, self._is_app = request_login, is_app
        self._login: str | None = None  # None until requested

    def login(self) -> str:
        """Return the login; empty if the token has none."""
        if self._login is None:
            self._login = self._request_login()
        return self._login

    def is_author(self, author: Mapping[str, Any]) -> bool:
        """Return whether an author is this account."""
        login = self.login()
        return _login(author) == login if login else self._is_app(author)

    def read_comment(self, found: Mapping[str, Any]) -> Comment:
        """Return a comment of an API's answer: on GitLab ``author`` wrote it, elsewhere ``user``."""
        author = found.get("user") or found.get("author") or {}
        body = str(found.get("body") or "")
        return Comment(str(found["id"]), body, _login(author), _MARKERS in body and self.is_author(author))


class Forge(Protocol):
    """One repository on a forge.

    Methods raise ``BotError`` if a call fails.  A dry run performs reads and prints writes.
    """

    def pull(self, number: int) -> PullRequest:
        """Return a pull request."""

    def open_pulls(self) -> list[PullRequest]:
        """Return the open pull requests from branches of this repository."""

    def pulls_from_branch(self, branch: str, fork: str = "") -> list[PullRequest]:
        """Return all pull requests from a branch of this repository or a fork, in any state, newest first."""

    def pulls_since(self, moment: datetime) -> list[PullRequest]:
        """Return the pull requests from branches of this repository created after a moment, in any state."""

    def default_branch(self) -> str:
        """Return the default branch."""

    def account(self) -> str:
        """Return the name of the token's account; empty if it has none."""

    def can_push(self) -> bool:
        """Return whether the token may push branches."""

    def read_file(self, path: str, revision: str) -> bytes | None:
        """Return a file's content at a commit; ``None`` if there is no such file.

        Raise ``BotError`` if it is larger than ``MAX_FILE_BYTES``.
        """

    def visible_lines(self, number: int) -> Mapping[str, set[int]]:
        """Return the lines on the new side of a pull request's diff, by path."""

    def comments(self, number: int) -> list[Comment]:
        """Return the general comments of a pull request."""

    def reviews(self, number: int) -> list[Comment]:
        """Return the reviews of a pull request; on GitLab, its notes."""

    def inline_comments(self, number: int) -> list[Comment]:
        """Return the comments on lines."""

    def clone_url(self, repository: str) -> str:
        """Return the URL for ``git clone``."""

    def format_suggestion(self, suggestion: Suggestion) -> str:
        """Return a suggestion's comment in the forge's syntax."""

    def post_review(self, pull: PullRequest, body: str, suggestions: Sequence[Suggestion]) -> None:
        """Post one review with all suggestions; ``body`` may be empty if there are any."""

    def edit_review(self, number: int, comment: Comment, body: str) -> None:
        """Change the body of a review."""

    def edit_inline_comment(self, number: int, comment: Comment, body: str) -> None:
        """Change a comment on a line."""

    def remove_review(self, number: int, comment: Comment) -> None:
        """Remove a review that was posted twice, or empty it if the forge keeps reviews."""

    def remove_inline_comment(self, number: int, comment: Comment) -> None:
        """Delete a comment on a line."""

    def fork(self, owner: str) -> Fork:
        """Return the fork of an account (the token's own if empty); create it if there is none.

        Raise ``Skipped`` if the repository cannot be forked.
        """

    def open_pull(self, branch: str, base: str, title: str, body: str, draft: bool, fork: str = "") -> int:
        """Open a pull request from a branch of this repository or a fork, and return its number."""

    def edit_pull(self, number: int, title: str, body: str) -> None:
        """Change title and body."""

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """Add labels."""

    def request_reviews(self, number: int, reviewers: Sequence[str]) -> None:
        """Request reviews by these users; on GitHub and Gitea, ``owner/team`` is a team."""

    def checks(self, pull: PullRequest) -> str:
        """Return the state of the checks: ``passed``, ``failed``, ``running``, or empty if there are none."""

    def decision(self, number: int) -> str:
        """Return the result of the reviews: ``approved``, ``changes requested``, or empty."""

    def merge_pull(self, pull: PullRequest, method: MergeMethod) -> None:
        """Merge; fail if there are newer commits."""

    def close_pull(self, number: int, comment: str) -> None:
        """Comment, and close."""

    def delete_branch(self, branch: str, fork: str = "") -> None:
        """Delete a branch of this repository or a fork; do nothing if there is none."""

    def disconnect(self) -> None:
        """Close the connection."""


def _login(author: Mapping[str, Any]) -> str:
    return str(author.get("login") or author.get("username") or "")


def log_call(log: CallLog | None, method: str, url: str, body: bytes, sent: bool) -> None:
    """Print an API call, without secrets."""
    if log is None:
        return
    text = body.decode("utf-8", "replace")
    suffix = "" if sent else " (not sent)"
    log(redacted(f"{method} {url}{suffix}" + (f"\n  {text[:_MAX_LOGGED]}" if text else "")))


def raise_if_stopped(pull: PullRequest, comments: Sequence[Comment]) -> None:
    """Raise ``Skipped`` if a person stopped the bot in a pull request, by a label or a comment."""
    if IGNORE_LABEL in pull.labels:
        raise Skipped(f"#{pull.number} has the label {IGNORE_LABEL!r}")
    for comment in comments:
        if not comment.is_own and " ".join(comment.body.lower().split()).rstrip(".!") in _STOP_COMMANDS:
            raise Skipped(f"{comment.author or 'a comment'} stopped devfix in #{pull.number}")
