"""``python -m devfix.verify.runs``: the verdict on a patch, or one run, without the rest of devfix."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import Any

from devfix.verify.proof import prove
from devfix.verify.records import Run, RunError
from devfix.verify.runs import run

__all__ = ["main"]


def _print_run(name: str, each: Run) -> None:
    losses = ", ".join(f"{loss:.6g}" for loss in each.losses[:8]) + (" ..." if len(each.losses) > 8 else "")
    share = f", {each.accelerator_share:.0%} on the accelerator" if each.all_operations else ""
    print(f"  {name:19s} {each.outcome}; {each.steps} steps, {each.wall:.2f} s{share}; losses: {losses or 'none'}")


def main(arguments: list[str]) -> int:
    """The command line of this module; exit code 0 if everything is good, 1 if not, 2 if it could not be run."""
    reader = argparse.ArgumentParser(prog="python -m devfix.verify.runs", description="Run scripts and prove patches.")
    verbs = reader.add_subparsers(dest="verb", required=True)
    proving = verbs.add_parser("prove", help="compare a project folder with its patched copy")
    proving.add_argument("original")
    proving.add_argument("patched")
    running = verbs.add_parser("run", help="run one project folder on the CPU and on the simulated accelerator")
    running.add_argument("project")
    for verb in (proving, running):
        verb.add_argument("--setup", metavar="ARGS", help="arguments of a run that comes first, as one shell word")
        verb.add_argument("--run-on", choices=("sim", "cpu"), default="sim", help="where the run after the setup works")
        verb.add_argument("--devices", type=int, default=1, help="simulated devices")
        verb.add_argument("--max-steps", type=int)
        verb.add_argument("script")
        verb.add_argument("args", nargs=argparse.REMAINDER)
    options = reader.parse_args(arguments)
    shared: dict[str, Any] = {
        "setup": None if options.setup is None else shlex.split(options.setup),
        "devices": options.devices,
        "max_steps": options.max_steps,
    }
    try:
        if options.verb == "prove":
            verdict = prove(
                options.original, options.patched, options.script, options.args, run_on=options.run_on, **shared
            )
            print(f"{verdict.status}: {verdict.reason}")
            for name, each in verdict.runs.items():
                _print_run(name, each)
            return 0 if verdict.good else 1
        results = [run(options.script, options.args, device, options.project, **shared) for device in ("cpu", "sim")]
        for result in results:
            _print_run(result.device, result)
            if not result.ok:
                print(result.failure.traceback if result.failure else result.output, file=sys.stderr)
        return 0 if all(result.ok for result in results) else 1
    except RunError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
