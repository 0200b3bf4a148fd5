"""The forge of a repository's URL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from devfix.vcs.codeowners import Dialect
from devfix.vcs.redaction import redacted

__all__ = ["Host", "NoAddress", "UnknownHost", "host_of", "is_gitea"]


class UnknownHost(ValueError):
    """The URL's host is no forge that devfix knows; the text is the host, or the path."""


class NoAddress(ValueError):
    """The text is not the URL of a repository; it says why."""


class Host(NamedTuple):
    """A forge, the address of its API, and a repository's name there."""

    kind: Dialect
    api: str
    repository: str


def host_of(source: str, variables: Mapping[str, str]) -> Host:
    """Return the forge of a repository's URL.

    A server gets the user's token, so only the known ones and those that the variables name are forges: a host is not
    GitLab because its name says so.

    Args:
        source: the URL, or ``git@forge:owner/name``.
        variables: environment variables, which name self-hosted servers.

    Raises:
        NoAddress: the text is no URL of a repository.
        UnknownHost: the forge is unknown.

    """
    scheme, colon, _ = source.partition("://")
    if not colon:  # git@forge:owner/name
        source = "ssh://" + source.replace(":", "/", 1)
        scheme = "ssh"
    try:
        parts = urlsplit(source)
        port = parts.port
    except ValueError as error:
        raise NoAddress(f"{redacted(source)} is not a URL: {error}") from error
    path = parts.path.strip("/").removesuffix(".git")
    if ".." in path.split("/"):
        raise NoAddress(f"{redacted(source)} is not the address of a repository")
    api = variables.get("GITHUB_API_URL", "")
    server = variables.get("CI_SERVER_URL", "")
    netloc = f"{parts.hostname}:{port}" if port and scheme != "ssh" else str(parts.hostname)
    if parts.hostname == "github.com" or urlsplit(api).netloc == netloc:
        base_url = api if urlsplit(api).netloc == netloc else "https://api.github.com"
        return Host("gitea" if is_gitea(base_url) else "github", base_url, "/".join(path.split("/")[-2:]))
    if parts.hostname == "codeberg.org":
        return Host("gitea", "https://codeberg.org/api/v1", path)
    if urlsplit(server).netloc == netloc or parts.hostname == "gitlab.com":
        base_url = server if urlsplit(server).netloc == netloc else "https://gitlab.com"
        return Host("gitlab", base_url, path)
    raise UnknownHost(netloc if parts.hostname else path)


def is_gitea(api: str) -> bool:
    """Return whether an address of an API is Gitea's or Forgejo's, whose jobs have GitHub's variables."""
    return api.rstrip("/").endswith("/api/v1")
