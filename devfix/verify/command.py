"""Command line of ``python -m devfix.verify.runs``: print the verdict on a patch, or the outcome of single runs."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import Any

from devfix.verify.proof import prove
from devfix.verify.records import Run, RunError
from devfix.verify.runs import run

__all__ = ["main"]


def _print_run(name: str, record: Run) -> None:
    losses = ", ".join(f"{loss:.6g}" for loss in record.losses[:8]) + (" ..." if len(record.losses) > 8 else "")
    share = f", {record.accelerator_share:.0%} on the accelerator" if record.all_operations else ""
    print(
        f"  {name:19s} {record.outcome}; {record.steps} steps, {record.wall:.2f} s{share}; losses: {losses or 'none'}"
    )


def main(arguments: list[str]) -> int:
    """Parse the arguments and run; return 0 if the result is good, 1 if not, and 2 if a run could not be made."""
    parser = argparse.ArgumentParser(prog="python -m devfix.verify.runs", description="Run scripts and prove patches.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    prove_parser = verbs.add_parser("prove", help="compare a project folder with its patched copy")
    prove_parser.add_argument("original")
    prove_parser.add_argument("patched")
    run_parser = verbs.add_parser("run", help="run one project folder on the CPU and on the simulated accelerator")
    run_parser.add_argument("project")
    for verb in (prove_parser, run_parser):
        verb.add_argument("--setup", metavar="ARGS", help="arguments of a preparatory run, as one shell word")
        verb.add_argument("--run-on", choices=("sim", "cpu"), default="sim", help="device of the run after the setup")
        verb.add_argument("--devices", type=int, default=1, help="number of simulated devices")
        verb.add_argument("--max-steps", type=int)
        verb.add_argument("script")
        verb.add_argument("args", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
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
            for name, record in verdict.runs.items():
                _print_run(name, record)
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
