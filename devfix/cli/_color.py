"""``--color``, which every command has."""

from __future__ import annotations

import os
import sys

import click

__all__ = ["add_color_option", "is_for_people"]

_COLOR = "devfix.color"  # key in ``click.Context.meta``
#: Variables that rich reads, as other tools do: https://force-color.org, https://no-color.org
_VARIABLES = {"always": "FORCE_COLOR", "never": "NO_COLOR"}


def _choose(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    """Set the variable that makes rich use colours, or none, until the command ends."""
    if value is None or context.resilient_parsing:
        return
    context.meta[_COLOR] = value
    before = {name: os.environ.pop(name, None) for name in _VARIABLES.values()}
    if value in _VARIABLES:
        os.environ[_VARIABLES[value]] = "1"

    def restore() -> None:
        for name, content in before.items():
            os.environ.pop(name, None)
            if content is not None:
                os.environ[name] = content

    context.call_on_close(restore)


def add_color_option(command: click.Command) -> None:
    """Add ``--color`` to a command and its subcommands, once."""
    if not any(parameter.name == "color" for parameter in command.params):
        command.params.append(
            click.Option(
                ["--color"],
                type=click.Choice(["auto", "always", "never"]),
                callback=_choose,
                expose_value=False,
                is_eager=True,
                metavar="WHEN",
                help="Use colours: auto (default: on a terminal), always, or never.",
            )
        )
    if isinstance(command, click.Group):
        for each in command.commands.values():
            add_color_option(each)


def is_for_people() -> bool:
    """Return whether standard output is read by people: it is a terminal, or ``--color always`` was given.

    ``FORCE_COLOR`` does not count, because a CI job sets it for all commands, also those whose diff git reads.
    """
    context = click.get_current_context(silent=True)
    return (context is not None and context.meta.get(_COLOR) == "always") or sys.stdout.isatty()
