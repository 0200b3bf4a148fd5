"""What the bot asks of a host, in words that GitHub and GitLab share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from devfix.bot.skip_reasons import LeftAlone
from devfix.bot.suggestions import Suggestion
from devfix.vcs.redaction import redacted

__all__ = ["IGNORE_LABEL", "LONGEST_WAIT_S", "Host", "Pull", "Remark", "Tell", "stopped", "tell_call"]

IGNORE_LABEL = "devfix: ignore"
#: Seconds beyond which the bot gives up instead of waiting: a job that sleeps costs money.
LONGEST_WAIT_S = 300
_STOP = ("stop", "devfix stop", "devfix: stop", "/devfix stop", "@devfix stop")
_SHOWN = 4000  # characters of a body that a dry run prints

#: Prints a line about a call.
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Pull:
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


@dataclass(frozen=True)
class Remark:
    """A comment: by whom, and where it stands where that matters; ``id`` is the host's own."""

    id: str
    body: str
    author: str = ""
    mine: bool = False


class Host(Protocol):
    """One repository on one host.  Every method may raise ``BotError``; reads are made in a dry run, too."""

    def pull(self, number: int) -> Pull:
        """One pull request."""

    def open_pulls(self) -> list[Pull]:
        """All that are open, from branches of this repository."""

    def pulls_of(self, branch: str) -> list[Pull]:
        """All from one branch of this repository, whatever became of them, the newest first."""

    def pulls_since(self, moment: datetime) -> list[Pull]:
        """All from branches of this repository that were opened since, whatever became of them."""

    def default_branch(self) -> str:
        """The branch that pull requests go to."""

    def content(self, path: str, revision: str) -> bytes | None:
        """A file at a commit, ``None`` where it is not there."""

    def shown_lines(self, number: int) -> Mapping[str, set[int]]:
        """The lines of the new side that a pull request shows, by path."""

    def talk(self, number: int) -> list[Remark]:
        """What has been said below a pull request, not at its lines."""

    def reviews(self, number: int) -> list[Remark]:
        """Bodies of reviews, or what stands for them."""

    def inline(self, number: int) -> list[Remark]:
        """What has been said at lines."""

    def clone_url(self, repository: str) -> str:
        """Where git finds a repository."""

    def worded(self, offered: Suggestion) -> str:
        """A suggestion as the host writes it."""

    def review(self, pull: Pull, body: str, offered: Sequence[Suggestion]) -> None:
        """Post one review with all suggestions; ``body`` may be empty where there are some."""

    def edit_review(self, number: int, remark: Remark, body: str) -> None:
        """Change the body of a review."""

    def edit_inline(self, number: int, remark: Remark, body: str) -> None:
        """Change a comment at a line."""

    def open(self, branch: str, base: str, title: str, body: str, draft: bool) -> int:
        """Open a pull request and return its number."""

    def edit(self, number: int, title: str, body: str) -> None:
        """Change title and body."""

    def label(self, number: int, labels: Sequence[str]) -> None:
        """Add labels."""

    def close(self, number: int, comment: str) -> None:
        """Say why, and close."""

    def delete_branch(self, branch: str) -> None:
        """Delete a branch that is not needed any more."""

    def end(self) -> None:
        """Close the connection."""


def tell_call(tell: Tell | None, method: str, url: str, body: bytes, sent: bool) -> None:
    """Say what is asked of the host, without secrets."""
    if tell is None:
        return
    text = body.decode("utf-8", "replace")
    mark = "" if sent else " (not sent)"
    tell(redacted(f"{method} {url}{mark}" + (f"\n  {text[:_SHOWN]}" if text else "")))


def stopped(pull: Pull, talk: Sequence[Remark]) -> None:
    """Raise ``LeftAlone`` where somebody has told the bot to keep out of a pull request."""
    if IGNORE_LABEL in pull.labels:
        raise LeftAlone(f"#{pull.number} has the label {IGNORE_LABEL!r}")
    for remark in talk:
        if not remark.mine and " ".join(remark.body.lower().split()).rstrip(".!") in _STOP:
            raise LeftAlone(f"{remark.author or 'somebody'} has told devfix to stop in #{pull.number}")
