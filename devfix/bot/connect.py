"""Connection to the forge of the CI job: GitHub, GitLab, or Gitea and Forgejo."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from devfix.bot.environment import CIEnvironment, Token
from devfix.bot.forge import Forge
from devfix.bot.skip_reasons import BotError

__all__ = ["connected"]


@contextmanager
def connected(environment: CIEnvironment, token: Token, dry_run: bool) -> Iterator[Forge]:
    """Connect to a forge; disconnect at the end.

    Args:
        environment: kind and address of the forge.
        token: the API token.
        dry_run: whether to print calls, and send only those that read.

    Raises:
        BotError: there is no token, or the packages of the ``bot`` extra cannot be imported.

    """
    forge = _connect(environment, token, dry_run)
    try:
        yield forge
    finally:
        forge.disconnect()


def _connect(environment: CIEnvironment, token: Token, dry_run: bool) -> Forge:
    if not token.value and not dry_run:
        raise BotError(
            f"no token: set DEVFIX_TOKEN or {environment.kind.upper()}_TOKEN for this step, or use --dry-run"
        )
    try:
        if environment.kind == "github":
            from devfix.bot.github import GitHubForge

            return GitHubForge(environment.api, environment.repository, token.value, dry_run, _print)
        if environment.kind == "gitea":
            from devfix.bot.gitea import GiteaForge

            return GiteaForge(environment.api, environment.repository, token.value, dry_run, _print)
        from devfix.bot.gitlab import GitLabForge

        return GitLabForge(environment.api, environment.repository, token.value, dry_run, _print)
    except ModuleNotFoundError:
        raise  # an extra is missing
    except ImportError as error:
        raise BotError(f"the bot cannot use its packages ({error}): pip install --upgrade 'devfix[bot]'") from error


def _print(line: str) -> None:
    print(line, file=sys.stderr)
