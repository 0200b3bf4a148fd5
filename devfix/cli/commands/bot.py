"""``devfix bot``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from devfix.cli._errors import CommandError
from devfix.site import page_url

if TYPE_CHECKING:
    from devfix.bot.artifact import Artifact
    from devfix.bot.environment import CIEnvironment, Token
    from devfix.bot.settings import BotSettings

__all__ = ["command"]

_MAX_ANNOTATIONS = 10  # GitHub's limit for one kind in a step
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Print every API call; send only those that read.")
_NUMBER = click.option(
    "--number", type=click.IntRange(min=1), metavar="N", help="The pull request (default: the job's)."
)
_JOBS = click.option("-j", "--jobs", type=click.IntRange(min=1), default=1, metavar="N", help="Worker processes.")


@click.group("bot", short_help="Review pull requests and open them, in CI.")
def command() -> None:
    """Review pull requests, or open them, in a job of GitHub Actions or GitLab CI.

    The bot acts only if pyproject.toml sets `[tool.devfix.bot] enabled = true`. The token comes from DEVFIX_TOKEN,
    GITHUB_TOKEN or GITLAB_TOKEN; child processes do not inherit it.
    """


@command.command("review")
@click.option("--artifact", metavar="DIR", help="Write the findings to DIR, for devfix bot post, and post nothing.")
@_NUMBER
@_DRY_RUN
@_JOBS
def review(artifact: str | None, number: int | None, dry_run: bool, jobs: int) -> None:
    """Analyse the lines that a pull request changes, and suggest fixes.

    Without --artifact, this job analyses and posts. It refuses pull requests from forks, and to run a script.
    """
    with _one_line_errors():
        environment, token, settings = _prepare(number)
        from devfix.bot import artifact as artifacts
        from devfix.bot.connect import connected
        from devfix.bot.environment import refuse_analysis_beside_token
        from devfix.bot.review import examine, post
        from devfix.report.sanitize import printable
        from devfix.vcs.redaction import redacted

        if artifact is None:
            refuse_analysis_beside_token(environment, runs_code=settings.verification is not None)
        found = examine(environment, settings, jobs)
        _write_summary(found)
        for problem in found["problems"]:
            line = f"problem {problem['path']}:{problem['line'] or 1}: {problem['message']}"
            click.echo(printable(redacted(line)), err=True)
        if settings.mode == "annotations":
            _annotate(found, environment)
        if artifact is not None:
            artifacts.write(found, artifact)
            click.echo(f"wrote {artifact}: {_count_findings(found)}", err=True)
            return
        with connected(environment, token, dry_run) as forge:
            click.echo(post(found, environment, forge, token, dry_run=dry_run), err=True)


@command.command("recompute")
@click.argument("claim", required=False, metavar="[CLAIM]")
@click.option("--artifact", required=True, metavar="DIR", help="Write the findings to DIR, for devfix bot post.")
@_JOBS
def recompute_command(claim: str | None, artifact: str, jobs: int) -> None:
    """Make the findings and the patch of an artifact again, in a job that the pull request cannot change.

    CLAIM is the artifact of `devfix bot review --artifact`; it may be missing if this job names the pull request.
    Nothing is run, and no token is used. Prints the digest of the new artifact, for `devfix bot post --digest`.
    """
    claim, artifact = claim and os.path.abspath(claim), os.path.abspath(artifact)
    with _one_line_errors():
        environment, _, settings = _prepare(None)
        from devfix.bot import artifact as artifacts
        from devfix.bot.review import recompute

        found = recompute(artifacts.read(claim) if claim else None, environment, settings, jobs)
        artifacts.write(found, artifact)
        click.echo(f"wrote {artifact}: {_count_findings(found)}", err=True)
        click.echo(artifacts.read_digest(artifact))


@command.command("post")
@click.argument("folder", metavar="DIR")
@click.option("--digest", metavar="SHA256", help="The digest that devfix bot recompute printed.")
@_DRY_RUN
def post_command(folder: str, digest: str | None, dry_run: bool) -> None:
    """Post the findings of `devfix bot recompute --artifact DIR`, which ran without a token. Nothing in DIR is run."""
    with _one_line_errors():
        environment, token = _read_environment(None)
        from devfix.bot.skip_reasons import BotError

        if not digest:
            raise BotError(
                "--digest is missing: a pull request can forge the artifact of devfix bot review, so only that of"
                f" devfix bot recompute is posted ({page_url('how-to/bot')})"
            )
        from devfix.bot import artifact as artifacts
        from devfix.bot.connect import connected
        from devfix.bot.review import post

        found = artifacts.read(folder, digest)
        with connected(environment, token, dry_run) as forge:
            click.echo(post(found, environment, forge, token, dry_run=dry_run), err=True)


@command.command("open")
@click.option("--artifact", metavar="DIR", help="Write the patches to DIR, for devfix bot propose, and open nothing.")
@_DRY_RUN
@_JOBS
def open_command(artifact: str | None, dry_run: bool, jobs: int) -> None:
    """Open, update or close a pull request for each group of rules.

    With --artifact, no token is used, and the digest for `devfix bot propose --digest` is printed.
    """
    artifact = artifact and os.path.abspath(artifact)
    with _one_line_errors():
        environment, token, settings = _prepare(None)
        from devfix.bot.connect import connected
        from devfix.bot.environment import refuse_unsafe_runs
        from devfix.bot.pull_requests import find_changes, open_all, write_changes

        if settings.verification is not None:
            refuse_unsafe_runs(environment, os.getcwd())
        if artifact is not None:
            click.echo(write_changes(find_changes(environment, settings, jobs), artifact))
            return
        with connected(environment, token, dry_run) as forge:
            for line in open_all(environment, settings, forge, token, dry_run=dry_run, jobs=jobs):
                click.echo(line, err=True)


@command.command("propose")
@click.argument("folder", metavar="DIR")
@click.option("--digest", required=True, metavar="SHA256", help="The digest that devfix bot open --artifact printed.")
@_DRY_RUN
def propose_command(folder: str, digest: str, dry_run: bool) -> None:
    """Open the pull requests of `devfix bot open --artifact DIR`, which ran without a token. Nothing in DIR is run."""
    with _one_line_errors():
        environment, token = _read_environment(None)
        from devfix.bot.connect import connected
        from devfix.bot.pull_requests import propose_all, read_changes
        from devfix.bot.review import read_settings

        with connected(environment, token, dry_run) as forge:
            settings = read_settings(forge, forge.default_branch())
            changes = read_changes(folder, digest, settings, environment)
            for line in propose_all(changes, settings, forge, token, dry_run=dry_run):
                click.echo(line, err=True)


def _read_environment(number: int | None) -> tuple[CIEnvironment, Token]:
    from devfix.bot.environment import read_environment, take_token

    environment = read_environment(os.environ, number or 0)
    return environment, take_token(environment.kind)


def _prepare(number: int | None) -> tuple[CIEnvironment, Token, BotSettings]:
    """Change to the repository's root, and read the bot's settings."""
    from pathlib import Path

    from devfix.bot.settings import parse_settings
    from devfix.bot.skip_reasons import BotError, Skipped
    from devfix.sources import git_root

    environment, token = _read_environment(number)
    root = git_root(os.curdir)
    if root is None:
        raise BotError("the current folder is not in a git repository")
    os.chdir(root)
    file = Path("pyproject.toml")
    is_file = file.is_file() and not file.is_symlink()  # a forge shows a link as its target's name
    settings = parse_settings(file.read_bytes() if is_file else None, str(file))
    if not settings.enabled:
        raise Skipped("pyproject.toml does not set [tool.devfix.bot] enabled = true")
    return environment, token, settings


@contextmanager
def _one_line_errors() -> Iterator[None]:
    from devfix.bot.skip_reasons import BotError, Skipped
    from devfix.report.sanitize import printable
    from devfix.vcs.redaction import redacted

    try:
        yield
    except Skipped as reason:
        click.echo(printable(redacted(f"skipped: {reason}")), err=True)
    except BotError as error:
        raise CommandError(redacted(str(error))) from error
    except ModuleNotFoundError as error:
        raise CommandError(f"the bot needs {error.name}: pip install 'devfix[bot]'") from error


def _count_findings(found: Artifact) -> str:
    fixed = sum(item["status"] == "fixed" for item in found["findings"])
    return f"{len(found['findings'])} findings on changed lines, {fixed} with a fix"


def _write_summary(found: Artifact) -> None:
    """Append tables to the job summary of GitHub Actions."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    from devfix.bot.templates import review as body

    with open(path, "a", encoding="utf-8") as file:
        file.write(body(found.manifest, (), "") + "\n")


def _annotate(found: Artifact, environment: CIEnvironment) -> None:
    """Print findings as GitHub annotations; for GitLab, use `devfix check --output-format gitlab`."""
    if environment.kind != "github":
        return

    from devfix.report.findings.github import workflow_command

    for item in found["findings"][:_MAX_ANNOTATIONS]:
        location = {"file": item["path"], "line": str(item["line"])}
        sys.stdout.write(workflow_command("warning", f"devfix ({item['code']})", location, item["message"]) + "\n")
