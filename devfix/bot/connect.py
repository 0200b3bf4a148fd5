"""Connecting to the forge that CI runs on: GitHub or GitLab."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from devfix.bot.environment import Surroundings, Token
from devfix.bot.forge import Host
from devfix.bot.skip_reasons import BotError

__all__ = ["connected"]


@contextmanager
def connected(around: Surroundings, token: Token, dry_run: bool) -> Iterator[Host]:
    """Connect to the forge that ``around`` names.

    Raises:
        BotError: there is no token, or the packages of the ``bot`` extra are missing.

    """
    host = _connect(around, token, dry_run)
    try:
        yield host
    finally:
        host.end()


def _connect(around: Surroundings, token: Token, dry_run: bool) -> Host:
    if not token.value and not dry_run:
        names = "GITHUB_TOKEN" if around.kind == "github" else "GITLAB_TOKEN"
        raise BotError(f"no token: set DEVFIX_TOKEN or {names} for this step, or use --dry-run")
    try:
        if around.kind == "github":
            from devfix.bot.github import GitHubHost

            return GitHubHost(around.api, around.repository, token.value, dry_run, _print)
        from devfix.bot.gitlab import GitLabHost

        return GitLabHost(around.api, around.repository, token.value, dry_run, _print)
    except ModuleNotFoundError:
        raise  # an extra is missing
    except ImportError as error:
        raise BotError(f"the bot cannot use its packages ({error}): pip install --upgrade 'devfix[bot]'") from error


def _print(line: str) -> None:
    print(line, file=sys.stderr)
