"""``devfix bot``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from devfix.cli._errors import CommandError

if TYPE_CHECKING:
    from devfix.bot.artifact import Artifact
    from devfix.bot.environment import CIEnvironment, Token
    from devfix.bot.settings import BotSettings

__all__ = ["command"]

_MOST_ANNOTATIONS = 10  # of one kind, which GitHub shows of a step
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Print every call to the forge, and send those that only read.")
_NUMBER = click.option(
    "--number", type=click.IntRange(min=1), metavar="N", help="The pull request (default: the job's)."
)
_JOBS = click.option("-j", "--jobs", type=click.IntRange(min=1), default=1, metavar="N", help="Worker processes.")


@click.group("bot", short_help="Review pull requests and open them, in CI.")
def command() -> None:
    """Review pull requests and open them, in a job of GitHub Actions or GitLab.

    Nothing happens in a repository whose pyproject.toml does not say `[tool.devfix.bot] enabled = true`.
    The token comes from DEVFIX_TOKEN, GITHUB_TOKEN or GITLAB_TOKEN, and reaches no program that the bot starts.
    """


@command.command("review")
@click.option("--artifact", metavar="DIR", help="Post nothing: write what was found to DIR, for devfix bot post.")
@_NUMBER
@_DRY_RUN
@_JOBS
def review(artifact: str | None, number: int | None, dry_run: bool, jobs: int) -> None:
    """Look at the lines that a pull request changes, and suggest repairs."""
    with _one_line_errors():
        environment, token, settings = _begin(number)
        from devfix.bot import artifact as artifacts
        from devfix.bot.connect import connected
        from devfix.bot.review import examine, post
        from devfix.vcs.redaction import redacted

        found = examine(environment, settings, jobs)
        _summarise(found)
        for problem in found["problems"]:
            click.echo(redacted(f"{problem['path']}:{problem['line'] or 1}: {problem['message']}"), err=True)
        if settings.mode == "annotations":
            _annotate(found, environment)
        if artifact is not None:
            artifacts.write(found, artifact)
            click.echo(f"wrote {artifact}: {_counted(found)}", err=True)
            return
        with connected(environment, token, dry_run) as forge:
            click.echo(post(found, environment, forge, token, dry_run=dry_run), err=True)


@command.command("post")
@click.argument("folder", metavar="DIR")
@_DRY_RUN
def post_command(folder: str, dry_run: bool) -> None:
    """Post what `devfix bot review --artifact DIR` has found in a job without rights; nothing in DIR is run."""
    with _one_line_errors():
        environment, token = _read_environment(None)
        from devfix.bot import artifact as artifacts
        from devfix.bot.connect import connected
        from devfix.bot.review import post

        found = artifacts.read(folder)
        with connected(environment, token, dry_run) as forge:
            click.echo(post(found, environment, forge, token, dry_run=dry_run), err=True)


@command.command("open")
@_DRY_RUN
@_JOBS
def open_command(dry_run: bool, jobs: int) -> None:
    """Open a pull request for each group of rules, bring it up to date, or close it when it is not needed."""
    with _one_line_errors():
        environment, token, settings = _begin(None)
        from devfix.bot.connect import connected
        from devfix.bot.environment import refuse_unsafe_runs
        from devfix.bot.pull_requests import open_all

        if settings.verification is not None:
            refuse_unsafe_runs(environment, os.getcwd())
        with connected(environment, token, dry_run) as forge:
            for line in open_all(environment, settings, forge, token, dry_run=dry_run, jobs=jobs):
                click.echo(line, err=True)


def _read_environment(number: int | None) -> tuple[CIEnvironment, Token]:
    from devfix.bot.environment import read_environment, take_token

    environment = read_environment(os.environ, number or 0)
    return environment, take_token(environment.kind)


def _begin(number: int | None) -> tuple[CIEnvironment, Token, BotSettings]:
    """Go to the repository's folder, and read what the bot may do there."""
    from pathlib import Path

    from devfix.bot.settings import parse_settings
    from devfix.bot.skip_reasons import BotError, Skipped
    from devfix.sources import git_root

    environment, token = _read_environment(number)
    root = git_root(os.curdir)
    if root is None:
        raise BotError("this folder is in no git repository")
    os.chdir(root)
    file = Path("pyproject.toml")
    settings = parse_settings(file.read_bytes() if file.is_file() else None, str(file))
    if not settings.enabled:
        raise Skipped("pyproject.toml does not say [tool.devfix.bot] enabled = true")
    return environment, token, settings


@contextmanager
def _one_line_errors() -> Iterator[None]:
    from devfix.bot.skip_reasons import BotError, Skipped
    from devfix.vcs.redaction import redacted

    try:
        yield
    except Skipped as reason:
        click.echo(redacted(f"nothing was done: {reason}"), err=True)
    except BotError as error:
        raise CommandError(redacted(str(error))) from error
    except ModuleNotFoundError as error:
        raise CommandError(f"the bot needs {error.name}: pip install 'devfix[bot]'") from error


def _counted(found: Artifact) -> str:
    fixed = sum(item["status"] == "fixed" for item in found["findings"])
    return f"{len(found['findings'])} findings on changed lines, {fixed} with an edit"


def _summarise(found: Artifact) -> None:
    """Tables for the page of the job, where GitHub shows one."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    from devfix.bot.templates import review as body

    with open(path, "a", encoding="utf-8") as file:
        file.write(body(found.manifest, (), "") + "\n")


def _annotate(found: Artifact, environment: CIEnvironment) -> None:
    """Findings as GitHub's own annotations; GitLab takes them from devfix check --output-format gitlab."""
    if environment.kind != "github":
        return

    from devfix.report.findings.github import workflow_command

    for item in found["findings"][:_MOST_ANNOTATIONS]:
        place = {"file": item["path"], "line": str(item["line"])}
        sys.stdout.write(workflow_command("warning", f"devfix ({item['code']})", place, item["message"]) + "\n")
