"""A branch becomes a pull request, or brings the one that it has up to date."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from devfix.bot import templates
from devfix.bot.connect import connected
from devfix.bot.environment import Surroundings, token_of
from devfix.bot.forge import Host, Pull, stopped
from devfix.bot.skip_reasons import BotError, LeftAlone

__all__ = ["Proposal", "host_of", "propose", "propose_for", "refuse_again", "refuse_unproposable"]


@dataclass(frozen=True)
class Proposal:
    """What is proposed: a branch that is at the host already, where it goes, and what is said of it."""

    branch: str
    base: str
    title: str
    body: str
    draft: bool = True
    labels: tuple[str, ...] = ()


def refuse_again(known: Sequence[Pull], patch: str) -> None:
    """Raise ``LeftAlone`` where a person has closed a pull request with the same patch (its SHA-256)."""
    for pull in known:
        if pull.state == "closed" and templates.fingerprint(pull.body)[1] == patch:
            raise LeftAlone(f"#{pull.number} proposed the same, and was closed")


def propose(host: Host, present: Pull | None, wanted: Proposal) -> tuple[int, str]:
    """Open a pull request, or change the one that is open; its number, and what was done in a word."""
    if present is None:
        number = host.open(wanted.branch, wanted.base, wanted.title, wanted.body, wanted.draft)
        if wanted.labels:
            host.label(number, wanted.labels)
        return number, "opened"
    if present.title == wanted.title and present.body.replace("\r\n", "\n").strip() == wanted.body.strip():
        return present.number, "is up to date"
    host.edit(present.number, wanted.title, wanted.body)
    return present.number, "updated"


def propose_for(
    source: str, branch: str, base: str, title: str, document: Mapping[str, Any], patch: bytes, tree: Path
) -> str:
    """Propose a branch of any repository, and return where the pull request is.

    Args:
        source: the repository's URL, which says what host it is on.
        branch: where the patch is, at the host.
        base: the branch that it is for; empty for the default one.
        title: of the pull request.
        document: as in schema/artifact-2.json; paths may begin with ``tree``.
        patch: the patch.
        tree: the folder in which it was made.

    Raises:
        BotError: the host is not known, there is no token for it, or it refused.
        LeftAlone: somebody has told the bot to keep out, or has closed the same.

    """
    around = host_of(source, os.environ)
    relative = json.loads(json.dumps(document).replace(json.dumps(f"{tree}/")[1:-1], ""))
    group = branch.rpartition("/")[2].lower()
    body = templates.pull_request(relative, group, relative["patch"]["sha256"], patch.decode("utf-8", "replace"))
    with connected(around, token_of(around.kind, os.environ), dry_run=False) as host:
        known = host.pulls_of(branch)
        present = next((pull for pull in known if pull.state == "open"), None)
        if present is not None:
            stopped(present, host.talk(present.number))
        else:
            refuse_again(known, relative["patch"]["sha256"])
        wanted = Proposal(branch, base or host.default_branch(), title, body)
        number, _ = propose(host, present, wanted)
        return host.pull(number).url


def refuse_unproposable(source: str) -> None:
    """Raise ``BotError`` where nothing can be proposed for a repository: before anything is pushed there."""
    around = host_of(source, os.environ)
    packages = {"github": "githubkit", "gitlab": "gitlab"}
    if find_spec(packages[around.kind]) is None:
        raise BotError(f"the bot needs {packages[around.kind]}: pip install 'devfix[bot]'")
    if not token_of(around.kind, os.environ).value:
        raise BotError(f"no token for {around.api}: set DEVFIX_TOKEN or {around.kind.upper()}_TOKEN")


def host_of(source: str, environment: Mapping[str, str]) -> Surroundings:
    """The host of a repository's URL, and what the repository is called there; raises ``BotError``."""
    scheme, colon, _ = source.partition("://")
    if not colon:  # git@host:owner/name
        source = "ssh://" + source.replace(":", "/", 1)
        scheme = "ssh"
    parts = urlsplit(source)
    path = parts.path.strip("/").removesuffix(".git")
    api = environment.get("GITHUB_API_URL", "")
    server = environment.get("CI_SERVER_URL", "")
    place = f"{parts.hostname}:{parts.port}" if parts.port and scheme != "ssh" else str(parts.hostname)
    if parts.hostname == "github.com" or urlsplit(api).netloc == place:
        known = api if urlsplit(api).netloc == place else "https://api.github.com"
        return Surroundings("github", known, "/".join(path.split("/")[-2:]))
    if urlsplit(server).netloc == place or "gitlab" in str(parts.hostname):
        known = server if urlsplit(server).netloc == place else f"https://{parts.hostname}"
        return Surroundings("gitlab", known, path)
    raise BotError(f"{place}: is it GitHub or GitLab? GITHUB_API_URL or CI_SERVER_URL names its API")
