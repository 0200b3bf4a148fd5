"""What was probably meant by an unknown command, option or value."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping

import click

__all__ = ["meant_command", "meant_option", "meant_value"]

#: What other tools call a command → its name here.
_COMMANDS = {
    "clear": "clean",
    "config": "check --show-settings",
    "diff": "apply --diff",
    "fix": "apply",
    "format": "apply",
    "install": "init",
    "language-server": "lsp",
    "linter": "rules",
    "lint": "check",
    "prove": "verify",
    "repair": "apply",
    "rule": "explain",
    "run": "verify",
    "scan": "check",
    "server": "lsp",
    "test": "verify",
    "version": "--version",
}
#: What other tools call an option → its name here.
_OPTIONS = {
    "--add-noqa": "--add-ignore",
    "--baseline": "--add-ignore",
    "--colour": "--color",
    "--config-file": "--config",
    "--disable": "--ignore",
    "--dry-run": "--diff",
    "--enable": "--select",
    "--extend-exclude": "--exclude",
    "--extend-ignore": "--ignore",
    "--format": "--output-format",
    "--message-format": "--output-format",
    "--no-color": "--color never",
    "--output": "--output-file",
    "--processes": "--jobs",
    "--workers": "--jobs",
}
#: What other tools call a value → its name here.
_VALUES = {"full": "text", "gpu": "cuda", "info": "advice", "markdown": "md", "ndjson": "jsonl", "warning": "latent"}
_FIX = ("--fix", "--fix-only", "--write", "--in-place", "-i")
_CHOICES = re.compile(r"^'(?P<value>[^']*)' is not one of (?P<choices>'.*')\.?$")


def meant_command(name: str, commands: Iterable[str]) -> str:
    """Return "; did you mean …?" for an unknown command; empty if nothing is similar."""
    meant = _COMMANDS.get(name.lower()) or _first(difflib.get_close_matches(name, commands, n=1))
    return f"; did you mean {meant!r}?" if meant else ""


def meant_option(error: click.NoSuchOption, others: Mapping[str, click.Command]) -> str:
    """Return "; did you mean …?" or "; 'devfix …' has it" for an unknown option; empty if nothing is similar.

    Args:
        error: click's error.
        others: the commands by name, in the order of the help.

    """
    given, context = error.option_name, error.ctx
    own = set() if context is None else set(_options_of(context.command))
    if given in _FIX and context is not None and context.info_name == "check":
        return "; did you mean 'devfix apply'?"
    meant = _OPTIONS.get(given, "")
    if meant.partition(" ")[0] in own:
        return f"; did you mean '{meant}'?"
    for wanted in filter(None, (meant.partition(" ")[0], given)):
        for name, command in others.items():
            if wanted in _options_of(command):
                return f"; 'devfix {name}' has {wanted}"
    close = _first(difflib.get_close_matches(given, own, n=1, cutoff=0.7))
    return f"; did you mean '{close}'?" if close else ""


def meant_value(message: str) -> str:
    """Return "; did you mean …?" for click's message about a value that is not one of several; else nothing."""
    found = _CHOICES.search(message)
    if found is None:
        return ""
    choices = re.findall(r"'([^']*)'", found["choices"])
    meant = _VALUES.get(found["value"].lower(), "")
    if meant not in choices:
        meant = _first(difflib.get_close_matches(found["value"], choices, n=1, cutoff=0.7))
    return f"; did you mean {meant!r}?" if meant else ""


def _options_of(command: click.Command) -> Iterator[str]:
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            yield from (*parameter.opts, *parameter.secondary_opts)


def _first(found: list[str]) -> str:
    return found[0] if found else ""
