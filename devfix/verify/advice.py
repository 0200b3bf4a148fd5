"""How a script that fails in any case ended, in words that say what to do."""

from __future__ import annotations

from devfix.verify.records import Run

__all__ = ["ending"]

_USAGE = 2  # what argparse and click exit with

#: What a confined run cannot do, by what the C library says of it.
_CONFINED = {
    "Read-only file system": "it can write to the copy of its project, and to temporary folders, only",
    "Name or service not known": "it has no network",
    "Temporary failure in name resolution": "it has no network",
    "Network is unreachable": "it has no network",
}


def ending(run: Run) -> str:
    """The run's outcome, with the script's last words where it only has an exit code, and with advice."""
    if run.failure is None and run.exit_code > 0 and not run.timed_out:
        said = [line.strip() for line in run.output.splitlines() if line.strip()]
        words = f"{run.outcome}: {said[-1][:300]}" if said else run.outcome
        return f"{words} (arguments of the script follow after --)" if run.exit_code == _USAGE else words
    if run.failure is None:
        return run.outcome
    if run.failure.type == "FileNotFoundError":
        return f"{run.outcome} (it runs in a copy of its project: --cwd names the folder that is copied)"
    for words, advice in _CONFINED.items():
        if words in run.failure.text:
            return f"{run.outcome} ({advice})"
    return run.outcome
