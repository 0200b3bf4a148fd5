"""``devfix port``."""

from __future__ import annotations

from typing import Any

import click

from devfix.cli._options import selection_options

__all__ = ["command"]

_RULES = ("DEV81", "DEV501")  # programs without a choice of device, and places that contradict the choice


def _without_selection(function: Any) -> Any:
    """Remove the options that select rules: the command is a selection."""
    chosen = ("select", "extend_select", "ignore", "severity")
    function.__click_params__ = [each for each in function.__click_params__ if each.name not in chosen]
    return function


@click.command("port", short_help="Let programs that require CUDA run on other machines.")
@_without_selection
@selection_options
@click.option("--diff", is_flag=True, help="Print a diff to standard output instead of writing files.")
@click.option("--check", is_flag=True, help="Report places that require CUDA, without writing files.")
def command(diff: bool, check: bool, **given: Any) -> None:
    """Let programs that require CUDA run on machines without it (default: the current directory).

    \b
    Examples:
      devfix port --diff
      devfix port train.py models/
      devfix port --check --since main

    Each program gets one device: CUDA if it is available, and the CPU otherwise. With CUDA it computes the same as
    before. This is a preview: .cuda(), .to("cuda"), device="cuda" and torch.device("cuda") are ported, or listed with
    the reason. Functions of torch.cuda, its mixed precision, NCCL, options and settings are neither ported nor listed.
    """
    from devfix.cli._request import Request
    from devfix.cli._session import run
    from devfix.cli._watch import watch
    from devfix.report import Mode

    given |= {"select": _RULES, "extend_select": (), "ignore": (), "severity": None}
    mode = Mode.PREVIEW if diff or check else Mode.APPLY
    request = Request.of(mode, diff=diff, **given)
    click.get_current_context().exit(watch(request) if request.watch else run(request))
