"""Output of ``verify`` and ``trace``: text, JSON, or an HTML page."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from devfix.cli._errors import CommandError

if TYPE_CHECKING:
    from devfix.verify.experiment import Experiment

__all__ = ["format_option", "print_run", "require_jinja2"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Run(Protocol):
    """The result of a run."""

    @property
    def experiment(self) -> Experiment: ...


def format_option(function: _Function) -> _Function:
    """Add ``--output-format`` to a command that runs a script."""
    return click.option(
        "--output-format",
        type=click.Choice(["text", "json", "html"]),
        default="text",
        show_default=True,
        help="Report format, printed to standard output. html is one self-contained file.",
    )(function)


def require_jinja2(option: str) -> None:
    """Raise :class:`CommandError` if jinja2, which ``option`` requires, is not installed."""
    if find_spec("jinja2") is None:
        raise CommandError(f"{option} requires jinja2: pip install 'devfix[report]'")


def print_run(found: _Run, output_format: str, *, text: str, json: str, html: str) -> None:
    """Print the result of a run to standard output.

    Args:
        found: the result, of the type that the modules take.
        output_format: ``text``, ``json`` or ``html``.
        text: module of ``devfix.report.runs`` with a function ``show``.
        json: module with a function ``dumps``.
        html: module with a function ``page``, which also takes the facts about the command.

    """
    if output_format == "json":
        sys.stdout.write(_report(json).dumps(found))
    elif output_format == "html":
        from devfix.cli._invocation import about

        facts = about(found.experiment.project.root)
        sys.stdout.buffer.write(_report(html).page(found, facts).encode("utf-8", "backslashreplace"))
    else:
        _report(text).show(found)
    sys.stdout.flush()


def _report(name: str) -> Any:
    return import_module(f"devfix.report.runs.{name}")
