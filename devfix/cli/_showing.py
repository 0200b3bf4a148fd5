"""``--show-files`` and ``--show-settings``: what a run would read."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

import click

from devfix.config import Settings
from devfix.model import Problem, Severity
from devfix.report.sanitize import PREFIX, printable
from devfix.sources import SourceFile

__all__ = ["show_files", "show_settings"]


def show_files(files: Sequence[SourceFile], problems: Sequence[Problem]) -> int:
    """Print the files of a run, one a line, and its problems; return the exit code."""
    for file in files:
        if file.raw or not file.notes:  # else it stands for files that are left out
            click.echo(printable(file.path))
    for problem in problems:
        hint = f"; {problem.hint}" if problem.hint else ""
        click.echo(f"{PREFIX}{printable(f'{problem.path}: {problem.message}{hint}')}", err=True)
    return int(bool(problems))


def show_settings(file: str | None, settings: Settings) -> int:
    """Print the settings of a run as TOML; return the exit code.

    Args:
        file: the configuration file; ``None`` if there is none.
        settings: the settings, with the flags of the run.

    """
    from devfix.rules.registry import all_rules

    enabled = [
        rule.code
        for rule in all_rules()
        if (rule.default or settings.asks_for(rule.code)) and settings.enabled(rule.code, "")
    ]
    per_file = ", ".join(f"{_value(glob)} = {_value(codes)}" for glob, codes in settings.per_file_ignores)
    lines = [
        f"# file: {printable(os.path.abspath(file)) if file is not None else 'none'}",
        f"# folder: {printable(os.path.abspath(settings.root))}",
        f"# rules: {', '.join(enabled) or 'none'}",
        "[tool.devfix]",
        *(f"{name} = {_value(getattr(settings, name.replace('-', '_')))}" for name in ("select", "ignore")),
        f"per-file-ignores = {{ {per_file} }}" if per_file else "per-file-ignores = {}",
        f"exclude = {_value(settings.exclude)}",
        f"severity = {_value((settings.severity or Severity.ERROR).value)}",
        f"unsafe-fixes = {_value(settings.unsafe_fixes)}",
        f"plugins = {_value(settings.plugins)}",
        f"models = {_value(settings.models)}",
        *([f"device = {_value(settings.device)}"] if settings.device is not None else []),
    ]
    click.echo("\n".join(lines))
    return 0


def _value(value: object) -> str:
    """Return a value as TOML, whose strings, lists and truth values are written as in JSON."""
    return json.dumps(value, ensure_ascii=False)
