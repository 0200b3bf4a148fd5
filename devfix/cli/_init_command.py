"""What ``devfix init`` does."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace

import click

from devfix import init, sources
from devfix.cli._errors import CommandError
from devfix.cli._output import print_diff
from devfix.init import Addition, Part, Present, Refused, Wanted
from devfix.model import Patch

__all__ = ["run"]


def run(folder: str, *, configuration: bool, hook: bool, host: str | None, diff: bool, yes: bool) -> int:
    """Offer the parts that are wanted, or that fit; the exit code."""
    if diff and yes:
        raise click.UsageError("--diff writes nothing, so --yes has no meaning with it.")
    if not os.path.isdir(folder):
        raise CommandError(f"{folder}: is no folder" if os.path.lexists(folder) else f"{folder}: does not exist")
    root = sources.git_root(folder) or os.path.abspath(folder)
    asks = not diff and not yes and sys.stdin.isatty()
    wanted = Wanted(configuration, hook, host or "")
    if wanted == Wanted():
        wanted = init.fitting(root)
        if not asks:  # nobody has said that a bot may write to pull requests
            wanted = replace(wanted, host="")
    groups = _groups(root, wanted)
    codes = [_handle(group, root, write=yes, asks=asks) for group in groups]
    shown = any(isinstance(part, Addition) for group in groups for part in group)
    if shown and not (diff or yes or asks):
        click.echo("nothing was written, as there is no terminal to ask on: --yes does not ask", err=True)
    return max(codes, default=0)


def _groups(root: str, wanted: Wanted) -> list[list[Part]]:
    """The parts, in groups that one question is asked for; the bot works only where the configuration asks for it."""
    groups: list[list[Part]] = []
    if wanted.configuration or wanted.host:
        groups.append([init.configuration(root, rules=wanted.configuration, bot=bool(wanted.host))])
    if wanted.hook:
        groups.append([init.hook(root)])
    if wanted.host:
        groups.append(init.workflow(root, wanted.host))
    return groups


def _handle(group: Sequence[Part], root: str, *, write: bool, asks: bool) -> int:
    for part in group:
        name = sources.display(part.path, root)
        if isinstance(part, Present):
            click.echo(f"{name}: {part.what} is there already", err=True)
        if isinstance(part, Refused):
            click.echo(f"{name}: {part.reason}" + ("; to be added by hand:" if part.snippet else ""), err=True)
            click.echo(part.snippet, err=True, nl=False)
    refused = int(any(isinstance(part, Refused) for part in group))
    additions = [part for part in group if isinstance(part, Addition)]
    if not additions:
        return refused
    print_diff(Patch(tuple(part.change for part in additions)), [part.path for part in additions if part.old is None])
    if asks and not click.confirm(_question(additions, root), err=True):
        return refused
    if not write and not asks:
        return 1
    return max([refused, *(_written(part, sources.display(part.path, root)) for part in additions)])


def _question(additions: Sequence[Addition], root: str) -> str:
    names = " and ".join(sources.display(part.path, root) for part in additions)
    return f"{'Make' if additions[0].old is None else 'Change'} {names}?"


def _written(part: Addition, name: str) -> int:
    try:
        part.write()
    except sources.SourceError as error:
        hint = f" ({error.problem.hint})" if error.problem.hint else ""
        click.echo(f"{name}: {error.problem.message}{hint}", err=True)
        return 1
    click.echo(f"{name}: {'made' if part.old is None else 'changed'}", err=True)
    return 0
