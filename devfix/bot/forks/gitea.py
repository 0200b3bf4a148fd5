"""Forks on Gitea and Forgejo: https://docs.gitea.com/api, ``/repos/{owner}/{repo}/forks``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx

from devfix.bot.forks.fork import REFUSALS, Fork, account_to_fork_to
from devfix.bot.skip_reasons import Skipped

__all__ = ["find_or_create"]


def find_or_create(
    client: httpx.Client, pages: Callable[[str], Iterator[dict[str, Any]]], repository: str, owner: str, login: str
) -> Fork:
    """Return the fork of an account.

    Args:
        client: the client.
        pages: yields the items of all pages of a path.
        repository: the repository to fork.
        owner: the account that gets the fork; empty for the token's own.
        login: the token's own account; empty if it has none.

    Raises:
        Skipped: the server refuses the fork.

    """
    account = account_to_fork_to(repository, owner, login)
    if client.get(f"/repos/{repository}").raise_for_status().json().get("archived"):
        raise Skipped(f"{repository} is archived")
    for fork in pages(f"/repos/{repository}/forks"):
        if str(fork["owner"]["login"]).lower() == account.lower():
            return Fork(str(fork["full_name"]))
    given = {} if account.lower() == login.lower() else {"organization": account}
    response = client.post(f"/repos/{repository}/forks", json=given)
    if response.status_code in REFUSALS:
        raise Skipped(f"the server does not fork {repository} to {account}: {_message(response)}")
    return Fork(str(response.raise_for_status().json()["full_name"]), is_new=True)


def _message(response: httpx.Response) -> str:
    try:
        return str(response.json()["message"])[:300]
    except (LookupError, TypeError, ValueError):
        return f"status {response.status_code}"
