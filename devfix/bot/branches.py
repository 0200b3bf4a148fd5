"""Opening or updating the pull request of a pushed branch."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from urllib.parse import urlsplit

from devfix.bot import templates
from devfix.bot.environment import CIEnvironment, is_gitea, read_token
from devfix.bot.forge import Forge, PullRequest
from devfix.bot.skip_reasons import BotError, Skipped
from devfix.vcs.redaction import redacted

__all__ = ["Proposal", "check_can_propose", "parse_forge_url", "propose", "refuse_reproposal"]


@dataclass(frozen=True)
class Proposal:
    """A pull request to open: a branch on the forge, its target, and the texts."""

    branch: str
    base: str
    title: str
    body: str
    draft: bool = True
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()


def refuse_reproposal(pulls: Sequence[PullRequest], patch: str) -> None:
    """Raise ``Skipped`` if a closed pull request has the same patch (by SHA-256)."""
    for pull in pulls:
        if pull.state == "closed" and templates.fingerprint(pull.body)[1] == patch:
            raise Skipped(f"#{pull.number} has the same patch and was closed")


def propose(forge: Forge, existing: PullRequest | None, proposal: Proposal) -> tuple[int, str]:
    """Open a pull request, or update the existing one.

    Args:
        forge: the repository.
        existing: the open pull request of the branch, if any.
        proposal: branch, target and texts.

    Returns:
        The number of the pull request, and ``opened``, ``updated`` or ``is up to date``.

    """
    if existing is None:
        number = forge.open_pull(proposal.branch, proposal.base, proposal.title, proposal.body, proposal.draft)
        if proposal.labels:
            forge.add_labels(number, proposal.labels)
        if proposal.reviewers:
            forge.request_reviews(number, proposal.reviewers)
        return number, "opened"
    if existing.title == proposal.title and existing.body.replace("\r\n", "\n").strip() == proposal.body.strip():
        return existing.number, "is up to date"
    forge.edit_pull(existing.number, proposal.title, proposal.body)
    return existing.number, "updated"


def check_can_propose(source: str) -> None:
    """Check, before anything is pushed, that pull requests can be opened for a repository.

    Raises:
        BotError: the forge is unknown, a package is missing, or there is no token.

    """
    environment = parse_forge_url(source, os.environ)
    packages = {"github": "githubkit", "gitlab": "gitlab", "gitea": "httpx"}
    if find_spec(packages[environment.kind]) is None:
        raise BotError(f"the bot needs {packages[environment.kind]}: pip install 'devfix[bot]'")
    if not read_token(environment.kind, os.environ).value:
        raise BotError(f"no token for {environment.api}: set DEVFIX_TOKEN or {environment.kind.upper()}_TOKEN")


def parse_forge_url(source: str, variables: Mapping[str, str]) -> CIEnvironment:
    """Return the forge of a repository's URL, and the repository's name there.

    A server gets the user's token, so only the known ones and those that the variables name are forges: a host is not
    GitLab because its name says so.

    Raises:
        BotError: the forge is unknown.

    """
    scheme, colon, _ = source.partition("://")
    if not colon:  # git@forge:owner/name
        source = "ssh://" + source.replace(":", "/", 1)
        scheme = "ssh"
    try:
        parts = urlsplit(source)
        port = parts.port
    except ValueError as error:
        raise BotError(f"{redacted(source)} is not a URL: {error}") from error
    path = parts.path.strip("/").removesuffix(".git")
    if ".." in path.split("/"):
        raise BotError(f"{redacted(source)} is not the address of a repository")
    api = variables.get("GITHUB_API_URL", "")
    server = variables.get("CI_SERVER_URL", "")
    netloc = f"{parts.hostname}:{port}" if port and scheme != "ssh" else str(parts.hostname)
    if parts.hostname == "github.com" or urlsplit(api).netloc == netloc:
        base_url = api if urlsplit(api).netloc == netloc else "https://api.github.com"
        return CIEnvironment("gitea" if is_gitea(base_url) else "github", base_url, "/".join(path.split("/")[-2:]))
    if parts.hostname == "codeberg.org":
        return CIEnvironment("gitea", "https://codeberg.org/api/v1", path)
    if urlsplit(server).netloc == netloc or parts.hostname == "gitlab.com":
        base_url = server if urlsplit(server).netloc == netloc else "https://gitlab.com"
        return CIEnvironment("gitlab", base_url, path)
    raise BotError(
        f"{netloc}: is it GitHub or GitLab? Set GITHUB_API_URL (also for Gitea and Forgejo: https://…/api/v1) or"
        " CI_SERVER_URL to its address"
    )
