"""Forks on GitHub: https://docs.github.com/en/rest/repos/forks."""

from __future__ import annotations

from typing import Any

from githubkit.exception import RateLimitExceeded, RequestFailed

from devfix.bot.forks.fork import REFUSALS, Fork, account_to_fork_to
from devfix.bot.skip_reasons import Skipped

__all__ = ["find_or_create"]


def find_or_create(rest: Any, repository: str, owner: str, login: str) -> Fork:
    """Return the fork of an account; GitHub fills a new one in the background.

    Args:
        rest: the methods of the client.
        repository: the repository to fork.
        owner: the account that gets the fork; empty for the token's own.
        login: the token's own account; empty if it has none.

    Raises:
        Skipped: GitHub refuses the fork.

    """
    account = account_to_fork_to(repository, owner, login)
    upstream_owner, _, name = repository.partition("/")
    if rest.repos.get(upstream_owner, name).json().get("archived"):
        raise Skipped(f"{repository} is archived")
    found = _repository(rest, account, name)
    if _is_fork_of(found, repository):
        return Fork(str(found["full_name"]))
    given = {} if account.lower() == login.lower() else {"organization": account}
    try:
        made = rest.repos.create_fork(upstream_owner, name, data=given).json()  # an existing one, if it was renamed
    except RateLimitExceeded:  # 403 as well, but of all repositories
        raise
    except RequestFailed as error:
        if error.response.status_code in REFUSALS:
            raise Skipped(f"GitHub does not fork {repository} to {account}: {_message(error)}") from error
        raise
    return Fork(str(made["full_name"]), is_new=True)


def _repository(rest: Any, owner: str, name: str) -> dict[str, Any]:
    try:
        return dict(rest.repos.get(owner, name).json())
    except RequestFailed as error:
        if error.response.status_code == 404:
            return {}
        raise


def _is_fork_of(found: dict[str, Any], repository: str) -> bool:
    names = {str((found.get(key) or {}).get("full_name", "")).lower() for key in ("parent", "source")}
    return repository.lower() in names


def _message(error: RequestFailed) -> str:
    try:
        return str(error.response.json()["message"])
    except (LookupError, TypeError, ValueError):
        return f"status {error.response.status_code}"
