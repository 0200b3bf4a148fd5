"""What ``devfix init`` does."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import click

from devfix import adoption, sources
from devfix.adoption import Addition, Part, Present, Refused
from devfix.cli._failures import OneLine
from devfix.cli._output import print_diff
from devfix.model import Patch

__all__ = ["run"]

_PARTS: dict[str, Callable[[str], Part]] = {"configuration": adoption.configuration, "hook": adoption.hook}


def run(folder: str, *, diff: bool, yes: bool, **wanted: bool) -> int:
    """Offer the parts that are wanted, or that fit; the exit code."""
    if diff and yes:
        raise click.UsageError("--diff writes nothing, so --yes has no meaning with it.")
    if not os.path.isdir(folder):
        raise OneLine(f"{folder}: is no folder" if os.path.lexists(folder) else f"{folder}: does not exist")
    root = sources.git_root(folder) or os.path.abspath(folder)
    names = [name for name in _PARTS if wanted.get(name)] or adoption.fitting(root)
    parts = [_PARTS[name](root) for name in names]
    asks = not diff and not yes and sys.stdin.isatty()
    codes = [_handle(part, root, write=yes, asks=asks) for part in parts]
    left = [part for part, code in zip(parts, codes, strict=True) if code and isinstance(part, Addition)]
    if left and not diff and not yes and not asks:
        click.echo("nothing was written, as there is no terminal to ask on: --yes does not ask", err=True)
    return max(codes, default=0)


def _handle(part: Part, root: str, *, write: bool, asks: bool) -> int:
    name = sources.display(part.path, root)
    if isinstance(part, Present):
        click.echo(f"{name}: {part.what} is there already", err=True)
        return 0
    if isinstance(part, Refused):
        click.echo(f"{name}: {part.reason}" + ("; to be added by hand:" if part.snippet else ""), err=True)
        click.echo(part.snippet, err=True, nl=False)
        return 1
    print_diff(Patch((part.change,)), frozenset((part.path,)) if part.old is None else frozenset())
    if asks and not click.confirm(f"{'Make' if part.old is None else 'Change'} {name}?", err=True):
        return 0
    return _written(part, name) if write or asks else 1


def _written(part: Addition, name: str) -> int:
    try:
        part.write()
    except sources.SourceError as error:
        hint = f" ({error.problem.hint})" if error.problem.hint else ""
        click.echo(f"{name}: {error.problem.message}{hint}", err=True)
        return 1
    click.echo(f"{name}: {'made' if part.old is None else 'changed'}", err=True)
    return 0
