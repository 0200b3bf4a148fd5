"""A fork, and waiting for it: forges create forks in the background."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from devfix.bot.skip_reasons import Skipped

__all__ = ["REFUSALS", "Fork", "account_to_fork_to", "attempts"]

#: The longest time that a forge may take to create a fork, and the longest pause between two questions, in seconds.
LONGEST_CREATION_S = 300.0
LONGEST_PAUSE_S = 15.0
#: The statuses of answers that refuse this fork, whatever the token may do elsewhere.
REFUSALS = (400, 403, 404, 409, 422)


@dataclass(frozen=True)
class Fork:
    """A fork on the forge of its source.

    Attributes:
        repository: ``owner/name``, or the project's path.
        is_new: whether it was just created: it may be empty, and git may not find it yet.

    """

    repository: str
    is_new: bool = False


def account_to_fork_to(repository: str, owner: str, login: str) -> str:
    """Return the account that gets the fork.

    Args:
        repository: the repository to fork.
        owner: the account in the plan; empty for the token's own.
        login: the token's own account; empty if it has none.

    Raises:
        Skipped: there is no account, or it owns the repository.

    """
    account = owner or login
    if not account:
        raise Skipped(f"the token has no account to which {repository} can be forked: set fork-owner")
    if account.lower() == repository.rpartition("/")[0].lower():
        raise Skipped(f"{account} owns {repository} and cannot fork it to the same account: set fork-owner")
    return account


def attempts() -> Iterator[bool]:
    """Yield before each question whether a fork is ready; ``False`` for the last one; pauses grow."""
    deadline, pause = time.monotonic() + LONGEST_CREATION_S, 1.0
    while time.monotonic() + pause < deadline:
        yield True
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE_S)
    yield False
