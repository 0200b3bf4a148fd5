"""Implementation of ``devfix init``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace

import click

from devfix import init, sources
from devfix.cli._errors import CommandError
from devfix.cli._output import print_diff
from devfix.init import Addition, Present, Refused, Selection, Step
from devfix.model import Patch

__all__ = ["run"]


def run(folder: str, *, configuration: bool, hook: bool, forge: str | None, agent: bool, diff: bool, yes: bool) -> int:
    """Apply the selected steps, or those that fit the repository.

    Returns:
        The exit code: 0 all steps are done or were declined, 1 a step was only shown or cannot be done.

    """
    if diff and yes:
        raise click.UsageError("--yes has no effect with --diff, which writes nothing.")
    if not os.path.isdir(folder):
        raise CommandError(
            f"{folder}: not a folder" if os.path.lexists(folder) else f"{folder}: no such folder; check the spelling"
        )
    root = sources.git_root(folder) or os.path.abspath(folder)
    prompt = not diff and not yes and sys.stdin.isatty()
    selection = Selection(configuration, hook, forge or "")
    if selection == Selection() and not agent:
        selection = init.detect_steps(root)
        if not prompt:  # the bot writes to pull requests: it needs consent
            selection = replace(selection, forge="")
    groups = [*_groups(root, selection), *([each] for each in (init.agent(root) if agent else []))]
    codes = [_apply_group(group, root, write=yes, prompt=prompt) for group in groups]
    has_additions = any(isinstance(step, Addition) for group in groups for step in group)
    if has_additions and not (diff or yes or prompt):
        click.echo("nothing was written, because there is no terminal for the prompt: use --yes", err=True)
    return max(codes, default=0)


def _groups(root: str, selection: Selection) -> list[list[Step]]:
    """Return the steps, grouped by prompt; the bot's workflow needs the bot's configuration."""
    groups: list[list[Step]] = []
    if selection.configuration or selection.forge:
        groups.append([init.configuration(root, rules=selection.configuration, bot=bool(selection.forge))])
    if selection.hook:
        groups.append([init.hook(root)])
    if selection.forge:
        groups.append(init.workflow(root, selection.forge))
    return groups


def _apply_group(group: Sequence[Step], root: str, *, write: bool, prompt: bool) -> int:
    for step in group:
        name = sources.display(step.path, root)
        if isinstance(step, Present):
            click.echo(f"{name}: {step.content} already exists", err=True)
        if isinstance(step, Refused):
            click.echo(f"{name}: {step.reason}" + ("; add it by hand:" if step.snippet else ""), err=True)
            click.echo(step.snippet, err=True, nl=False)
    refused = int(any(isinstance(step, Refused) for step in group))
    additions = [step for step in group if isinstance(step, Addition)]
    if not additions:
        return refused
    print_diff(Patch(tuple(step.change for step in additions)), [step.path for step in additions if step.old is None])
    if prompt and not click.confirm(_question(additions, root), err=True):
        return refused
    if not write and not prompt:
        return 1
    return max([refused, *(_write(step, sources.display(step.path, root)) for step in additions)])


def _question(additions: Sequence[Addition], root: str) -> str:
    names = " and ".join(sources.display(step.path, root) for step in additions)
    return f"{'Create' if additions[0].old is None else 'Change'} {names}?"


def _write(step: Addition, name: str) -> int:
    try:
        step.write()
    except sources.SourceError as error:
        hint = f" ({error.problem.hint})" if error.problem.hint else ""
        click.echo(f"{name}: {error.problem.message}{hint}", err=True)
        return 1
    click.echo(f"{name}: {'created' if step.old is None else 'changed'}", err=True)
    return 0
