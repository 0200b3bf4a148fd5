"""Opening or updating the pull request of a pushed branch."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from devfix.bot import templates
from devfix.bot.environment import CIEnvironment, read_token
from devfix.bot.forge import Forge, PullRequest
from devfix.bot.skip_reasons import BotError, Skipped
from devfix.vcs.hosts import NoAddress, UnknownHost, host_of

__all__ = ["Proposal", "Proposed", "check_can_propose", "parse_forge_url", "propose", "refuse_reproposal"]


@dataclass(frozen=True)
class Proposal:
    """A pull request to open: a branch on the forge, its target, and the texts.

    ``fork`` is the repository of the branch; empty for the target's.
    """

    branch: str
    base: str
    title: str
    body: str
    draft: bool = True
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    fork: str = ""


@dataclass(frozen=True)
class Proposed:
    """A pull request that was opened or updated.

    Attributes:
        number: its number.
        done: ``opened``, ``updated`` or ``is up to date``.
        problem: why it has not all labels and reviewers; empty otherwise.

    """

    number: int
    done: str
    problem: str = ""


def refuse_reproposal(pulls: Sequence[PullRequest], patch: str) -> None:
    """Raise ``Skipped`` if a closed pull request has the same patch (by SHA-256)."""
    for pull in pulls:
        if pull.state == "closed" and templates.fingerprint(pull.body)[1] == patch:
            raise Skipped(f"#{pull.number} has the same patch and was closed")


def propose(forge: Forge, existing: PullRequest | None, proposal: Proposal) -> Proposed:
    """Open a pull request, or update the existing one.

    Args:
        forge: the repository.
        existing: the open pull request of the branch, if any.
        proposal: branch, target and texts.

    Raises:
        BotError: it could not be opened or updated.

    """
    if existing is None:
        texts = proposal.title, proposal.body
        number = forge.open_pull(proposal.branch, proposal.base, *texts, proposal.draft, proposal.fork)
        return Proposed(number, "opened", "; ".join(_problems(forge, number, proposal)))
    if existing.title == proposal.title and existing.body.replace("\r\n", "\n").strip() == proposal.body.strip():
        return Proposed(existing.number, "is up to date")
    forge.edit_pull(existing.number, proposal.title, proposal.body)
    return Proposed(existing.number, "updated")


def _problems(forge: Forge, number: int, proposal: Proposal) -> Iterator[str]:
    """Add labels and request reviews; yield what the forge refuses: a person from outside may not do either."""
    try:
        if proposal.labels:
            forge.add_labels(number, proposal.labels)
    except BotError as error:
        yield str(error)
    try:
        if reviewers := [name for name in proposal.reviewers if name != forge.account()]:  # the author reviews nothing
            forge.request_reviews(number, reviewers)
    except BotError as error:
        yield str(error)


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

    Raises:
        BotError: the forge is unknown.

    """
    try:
        return CIEnvironment(*host_of(source, variables))
    except NoAddress as error:
        raise BotError(str(error)) from error
    except UnknownHost as error:
        raise BotError(
            f"{error}: devfix opens pull requests on GitHub, GitLab, Gitea and Forgejo only;"
            " for a server of these, set GITHUB_API_URL (Gitea and Forgejo: https://…/api/v1) or CI_SERVER_URL (GitLab)"
        ) from error
