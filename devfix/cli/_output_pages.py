"""Output of ``verify`` and ``trace``: text, data, or an HTML page."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from devfix.cli._agents import AGENT, default_format
from devfix.cli._errors import CommandError

if TYPE_CHECKING:
    from devfix.verify.experiment import Experiment

__all__ = ["format_option", "print_run", "require_jinja2", "write_page"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Run(Protocol):
    """The result of a run."""

    @property
    def experiment(self) -> Experiment: ...


def format_option(*others: str, note: str = "") -> Callable[[_Function], _Function]:
    """Return a decorator that adds ``--output-format`` to a command that runs a script.

    Args:
        others: formats besides text, JSON and HTML.
        note: a sentence on them.

    """
    text = "Report format, printed to standard output. html is one self-contained file."
    return click.option(
        "--output-format",
        type=click.Choice(["text", "json", "html", *others]),
        default=default_format() if AGENT in others else "text",
        show_default="text",
        help=f"{text} {note}".strip(),
    )


def require_jinja2(option: str) -> None:
    """Raise :class:`CommandError` if jinja2, which ``option`` requires, is not installed."""
    if find_spec("jinja2") is None:
        raise CommandError(f"{option} requires jinja2: pip install 'devfix[report]'")


def write_page(path: str, content: str) -> None:
    """Write an HTML page to a file."""
    with open(path, "wb") as file:
        file.write(content.encode("utf-8", "backslashreplace"))


def print_run(found: _Run, output_format: str, *, text: str, json: str, html: str) -> None:
    """Print the result of a run to standard output.

    Args:
        found: the result, of the type that the modules take.
        output_format: ``text``, ``html``, or a format of data.
        text: module of ``devfix.report.runs`` with a function ``show``.
        json: module with a function ``dumps``, for the format of data.
        html: module with a function ``page``, which also takes the facts about the command.

    """
    if output_format == "html":
        from devfix.cli._invocation import about

        facts = about(found.experiment.project.root)
        sys.stdout.buffer.write(_report(html).page(found, facts).encode("utf-8", "backslashreplace"))
    elif output_format == "text":
        _report(text).show(found)
    else:
        sys.stdout.write(_report(json).dumps(found))
    sys.stdout.flush()


def _report(name: str) -> Any:
    return import_module(f"devfix.report.runs.{name}")
