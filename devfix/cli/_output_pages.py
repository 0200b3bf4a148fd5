"""What ``verify`` and ``trace`` print of a run: text, JSON, or a page."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

import click

from devfix.cli._errors import CommandError

__all__ = ["format_option", "print_run", "require_jinja2"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def format_option(function: _Function) -> _Function:
    """``--output-format`` of what was run."""
    return click.option(
        "--output-format",
        type=click.Choice(["text", "json", "html"]),
        default="text",
        show_default=True,
        help="All on standard output; html is one file that needs nothing else.",
    )(function)


def require_jinja2(option: str) -> None:
    """Say in one line that what an option asks for is a page and needs jinja2, where it is missing."""
    if find_spec("jinja2") is None:
        raise CommandError(f"{option} needs jinja2: pip install 'devfix[report]'")


def print_run(found: object, output_format: str, *, text: str, json: str, html: str) -> None:
    """Print on standard output what was found.

    Args:
        found: what the modules understand.
        output_format: one of those of `format_option`.
        text: the module of ``devfix.report.runs`` that shows it to people.
        json: the module that dumps it.
        html: the module that makes a page of it.

    """
    if output_format == "json":
        sys.stdout.write(_report(json).dumps(found))
    elif output_format == "html":
        sys.stdout.buffer.write(_report(html).page(found).encode())
    else:
        _report(text).show(found)
    sys.stdout.flush()


def _report(name: str) -> Any:
    return import_module(f"devfix.report.runs.{name}")
