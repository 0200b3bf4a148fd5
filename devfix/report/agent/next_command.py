"""The command that follows a report of ``check``, ``apply`` or ``port``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from devfix.model import Status
from devfix.report.summary import Mode

if TYPE_CHECKING:
    from devfix.report.view import View

__all__ = ["next_command", "shell_line"]

_PREVIEWS = ("--diff", "--check")  # options that keep `apply` and `port` from writing


def next_command(view: View) -> str:
    """Return the next command as a line for a shell; empty if nothing is left to do."""
    report = view.report
    name, *rest = view.arguments or ("check", *view.paths)
    if report.mode is not Mode.APPLY and (report.fixed or report.outcome.patch.files or view.preview.patch.files):
        return shell_line([_writing(name), *(word for word in rest if word not in _PREVIEWS)])
    if any(item.status is Status.FIXABLE for item in report.remaining) and "--unsafe-fixes" not in rest:
        return shell_line(
            [_writing(name), "--unsafe-fixes", "--diff", *(each for each in rest if each not in _PREVIEWS)]
        )
    if report.remaining:
        return shell_line(["explain", report.remaining[0].finding.code])
    if report.outcome.patch.files and view.proof is None and view.matrix is None:
        script = next((path for path in view.paths if os.path.isfile(path)), "SCRIPT")
        return shell_line(["verify", script, "--", "ARGS"])
    return ""


def shell_line(words: Sequence[str]) -> str:
    """Return a command of devfix as a line for a shell."""
    from devfix.report.sanitize import printable

    return printable(shlex.join(["devfix", *words]))


def _writing(name: str) -> str:
    """Return the command that writes what a command reports."""
    return "apply" if name == "check" else name
