"""Failures that no patch can repair, described with advice for the user."""

from __future__ import annotations

from devfix.verify.records import Run

__all__ = ["describe_ending"]

_USAGE = 2  # the exit code of argparse and click for a usage error

#: Restrictions of a confined run, by the C library's message for a call that they break.
_CONFINED = {
    "Read-only file system": "the run can only write to its project copy and to temporary folders",
    "Name or service not known": "the run has no network access",
    "Temporary failure in name resolution": "the run has no network access",
    "Network is unreachable": "the run has no network access",
}


def describe_ending(run: Run) -> str:
    """Return the run's outcome with advice; for a bare exit code, with the last line of output."""
    if run.failure is None and run.exit_code > 0 and not run.timed_out:
        lines = [line.strip() for line in run.output.splitlines() if line.strip()]
        outcome = f"{run.outcome}: {lines[-1][:300]}" if lines else run.outcome
        return f"{outcome} (pass the script's own arguments after --)" if run.exit_code == _USAGE else outcome
    if run.failure is None:
        return run.outcome
    if run.withheld is not None:
        return f"{run.outcome} (hidden from runs: make it readable with --allow-read {run.withheld})"
    if run.failure.type == "FileNotFoundError":
        return f"{run.outcome} (the script runs in a copy of its project: set the working directory with --cwd)"
    for message, advice in _CONFINED.items():
        if message in run.failure.text:
            return f"{run.outcome} ({advice})"
    return run.outcome
