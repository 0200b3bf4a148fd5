"""Forks on GitLab: https://docs.gitlab.com/api/project_forks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitlab.exceptions import GitlabError

from devfix.bot.forks.fork import REFUSALS, Fork, account_to_fork_to, attempts
from devfix.bot.skip_reasons import Skipped

__all__ = ["can_push", "find_or_create"]

_DEVELOPER = 30  # https://docs.gitlab.com/api/access_requests/#valid-access-levels


def can_push(project: Mapping[str, Any]) -> bool:
    """Return whether the token's account may push branches; ``project`` is the answer to ``GET /projects/:id``."""
    granted = (project.get("permissions") or {}).values()
    return any(int(access["access_level"]) >= _DEVELOPER for access in granted if access)


def find_or_create(client: Any, repository: str, owner: str, login: str) -> Fork:
    """Return the fork of an account; wait until GitLab has filled a new one.

    Args:
        client: the client.
        repository: the project to fork.
        owner: the account or group that gets the fork; empty for the token's own account.
        login: the token's own account; empty if it has none.

    Raises:
        Skipped: GitLab refuses the fork, or fails to create it.

    """
    account = account_to_fork_to(repository, owner, login)
    project = client.projects.get(repository)
    if project.attributes.get("archived"):
        raise Skipped(f"{repository} is archived")
    for fork in project.forks.list(iterator=True, membership=True):
        if fork.namespace["full_path"].lower() == account.lower():
            return _when_filled(client, repository, str(fork.path_with_namespace), is_new=False)
    try:
        made = project.forks.create({"namespace_path": account})
    except GitlabError as error:
        if error.response_code in REFUSALS:
            raise Skipped(f"GitLab does not fork {repository} to {account}: {error.error_message}") from error
        raise
    return _when_filled(client, repository, str(made.path_with_namespace), is_new=True)


def _when_filled(client: Any, repository: str, fork: str, *, is_new: bool) -> Fork:
    for is_patient in attempts():
        found = client.projects.get(fork).attributes
        status = found.get("import_status")
        if status == "failed":
            raise Skipped(f"GitLab failed to fork {repository} to {fork}: {found.get('import_error') or 'no reason'}")
        if status not in ("scheduled", "started"):
            break
        if not is_patient:
            raise Skipped(f"GitLab has not filled the fork {fork} yet: run devfix migrate open --retry-refused later")
    return Fork(fork, is_new)
