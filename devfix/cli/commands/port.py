"""``devfix port``."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import click

from devfix.cli._machines import machines_of
from devfix.cli._options import selection_options
from devfix.cli._verifying import run_options, take_run_options
from devfix.model import PortTargets

__all__ = ["command"]

_SCRIPT = "devfix.ported_script"  # key in ``click.Context.meta``: the script, and its arguments
_RULES = ("DEV81",)
_DTYPES = ("DEV82",)  # float64, which MPS does not have


def _without_selection(function: Any) -> Any:
    """Remove the options that select rules: the command is a selection."""
    chosen = ("select", "extend_select", "ignore", "severity")
    function.__click_params__ = [each for each in function.__click_params__ if each.name not in chosen]
    return function


def _devices(context: click.Context, parameter: click.Parameter, value: str) -> tuple[str, ...]:
    """Return the devices of ``--to`` in the order of :class:`PortTargets`, with the CPU and CUDA."""
    given = value.lower().replace(",", " ").split()
    known = PortTargets.DEVICES
    wrong = next((each for each in given if each not in known), None)
    if wrong is not None or not given:
        raise click.BadParameter(f"{wrong or value!r} is none of {', '.join(known)}", context, parameter)
    return tuple(each for each in known if each in given or each in ("cpu", "cuda"))


def _release(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """Return major and minor version of ``--target-torch``."""
    if value is None:
        return None
    match = re.fullmatch(r"(\d+)\.(\d+)(?:\.\d+)*", value)
    if match is None:
        raise click.BadParameter(f"{value!r} is no release of PyTorch such as 2.4", context, parameter)
    return int(match[1]), int(match[2])


def _without_device(function: Any) -> Any:
    """Remove the options that choose one device: ``--to`` names the machines."""
    function.__click_params__ = [each for each in function.__click_params__ if each.name not in ("device", "devices")]
    return function


class _Port(click.Command):
    """With ``--verify``, the words after '--' are the script and its arguments, not paths."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        if "--verify" in args[:end]:
            ctx.meta[_SCRIPT] = tuple(args[end + 1 :])
            args = args[:end]
            if not ctx.meta[_SCRIPT]:
                raise click.UsageError("--verify requires a script: devfix port . --verify -- SCRIPT ARGS.", ctx)
        return super().parse_args(ctx, args)


@click.command("port", cls=_Port, short_help="Let programs that require CUDA run on other machines.")
@_without_selection
@selection_options
@click.option("--diff", is_flag=True, help="Print a diff to standard output instead of writing files.")
@click.option("--check", is_flag=True, help="Report places that require CUDA, without writing files.")
@click.option(
    "--to",
    default="cpu,cuda",
    callback=_devices,
    metavar="DEVICES",
    help="Comma-separated devices: cpu, cuda, mps, xpu, npu (default: cpu,cuda, which are always included).",
)
@click.option(
    "--target-torch",
    callback=_release,
    metavar="VERSION",
    help="Oldest release of PyTorch that must run the programs (default: the one that the project requires, or 2.4).",
)
@click.option(
    "--baseline",
    metavar="FILE",
    help="With --check, report only files with more places per rule than FILE counts.",
)
@click.option("--update-baseline", is_flag=True, help="Write FILE: the first counts, or lower ones.")
@click.option(
    "--verify",
    is_flag=True,
    help="Run SCRIPT ARGS, the words after '--', on each of the devices of --to, before and after, and write the edits"
    " only if it completes everywhere with the same losses. The options below apply to these runs.",
)
@_without_device
@run_options
def command(
    diff: bool, check: bool, verify: bool, to: tuple[str, ...], target_torch: tuple[int, int] | None, **given: Any
) -> None:
    """Let programs that require CUDA run on machines without it (default: the current directory).

    \b
    Examples:
      devfix port --diff
      devfix port train.py models/ --to cpu,cuda,mps
      devfix port . --verify -- train.py --epochs 1
      devfix port --check --since main
      devfix port --check --baseline port.txt

    Each program gets one device: CUDA if it is available, and the CPU otherwise. With CUDA it computes the same as
    before. What is not ported is listed with the reason; settings in YAML and JSON are listed, too.
    """
    from devfix.cli._request import Request
    from devfix.cli._session import run
    from devfix.cli._watch import watch
    from devfix.report import Mode

    if given["update_baseline"] and given["baseline"] is None:
        raise click.UsageError("--update-baseline requires --baseline FILE.")
    if given["baseline"] is not None:
        _check_baseline(check, diff, given)
    context = click.get_current_context()
    given |= {"device": "auto", "devices": 1}
    proof = take_run_options(context, given, context.meta.get(_SCRIPT, ()), wanted=verify)
    if proof is not None:
        proof = replace(proof, machines=machines_of(to))
    given |= {
        "select": (*_RULES, *(_DTYPES if "mps" in to else ())),
        "extend_select": (),
        "ignore": (),
        "severity": None,
    }
    given |= {"targets": PortTargets(to, target_torch), "lists_settings": True}
    mode = Mode.CHECK if given["baseline"] is not None else Mode.PREVIEW if diff or check else Mode.APPLY
    request = Request.of(mode, diff=diff, proof=proof, **given)
    context.exit(watch(request) if request.watch else run(request))


def _check_baseline(check: bool, diff: bool, given: dict[str, Any]) -> None:
    if not check or diff:
        raise click.UsageError("--baseline requires --check: it counts what the working tree has, and edits nothing.")
    for name in ("since", "staged"):
        if given[name]:
            raise click.UsageError(f"--baseline cannot be combined with --{name}: it counts the places of whole files.")
