"""The repositories of an organization, a user or a group, for plans of migrations."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime

from devfix.bot.environment import read_token
from devfix.bot.skip_reasons import BotError

__all__ = ["Filters", "HostedRepository", "discover"]

_FORMS = "github:org/NAME, github:user/NAME or gitlab:group/PATH"


@dataclass(frozen=True)
class HostedRepository:
    """A repository on a forge.

    Attributes:
        url: the URL for ``git clone``.
        languages: names of programming languages, in lower case; GitHub reports only the main one, GitLab none
            unless asked for.
        stars: the number of stars.
        archived: whether it is read-only.
        fork: whether it is a fork.
        pushed: the time of the last push, on GitLab of the last activity; ``None`` if there was none.

    """

    url: str
    languages: frozenset[str]
    stars: int
    archived: bool
    fork: bool
    pushed: datetime | None


@dataclass(frozen=True)
class Filters:
    """The repositories to keep.

    Attributes:
        language: a programming language; empty for any.
        min_stars: the minimum number of stars.
        archived, forks: whether to keep archived repositories and forks.
        pushed_since: the earliest date of the last push; ``None`` for any.

    """

    language: str = ""
    min_stars: int = 0
    archived: bool = False
    forks: bool = False
    pushed_since: date | None = None

    def keep(self, found: HostedRepository) -> bool:
        """Return whether a repository passes."""
        if (found.archived and not self.archived) or (found.fork and not self.forks):
            return False
        if found.stars < self.min_stars or (self.language and self.language.lower() not in found.languages):
            return False
        return self.pushed_since is None or (found.pushed is not None and found.pushed.date() >= self.pushed_since)


def discover(where: str, filters: Filters, variables: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Yield the clone URLs of repositories, in the order of their names.

    Args:
        where: ``github:org/NAME``, ``github:user/NAME`` or ``gitlab:group/PATH`` (with its subgroups).
        filters: the repositories to keep.
        variables: environment variables with the forge's address and token.

    Raises:
        BotError: ``where`` has another form, or the forge refused the request.

    """
    kind, _, rest = where.partition(":")
    owner_kind, _, owner = rest.partition("/")
    if (kind, owner_kind) not in (("github", "org"), ("github", "user"), ("gitlab", "group")) or not owner:
        raise BotError(f"{where!r} is not of the form {_FORMS}")
    token = read_token(kind, variables).value
    if kind == "github":
        from devfix.bot.github import repositories_of

        api = variables.get("GITHUB_API_URL") or "https://api.github.com"
        found: Iterator[HostedRepository] = filter(
            filters.keep, repositories_of(api, token, owner, is_user=owner_kind == "user")
        )
    else:
        from devfix.bot.gitlab import projects_of

        found = projects_of(variables.get("CI_SERVER_URL") or "https://gitlab.com", token, owner, filters)
    yield from sorted(repository.url for repository in found)
