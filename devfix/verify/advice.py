"""Endings of runs that no patch can repair, described with advice for the user."""

from __future__ import annotations

import re

from devfix.verify.records import Failure, Run, signal_name

__all__ = ["describe_ending"]

_USAGE = 2  # the exit code of argparse and click for a usage error

#: The option that raises a limit, by the reason for stopping the run.
_LIMITS = {r"^time$": "--timeout", r"\bof memory$": "--memory", r"\bto disk$": "--disk"}

#: Advice for a signal; others were sent by the script itself.
_SIGNALS = {
    "SIGKILL": "if the script did not do this itself, the machine ran out of memory",
    "SIGXFSZ": "raise the limit with --disk",
    **dict.fromkeys(
        ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT"), "python -X faulthandler shows the line that crashed"
    ),
}

#: Advice for an exception, by a pattern of "type: message".
_FAILURES = {
    r"^FileNotFoundError.*'~/": "the run has a home folder of its own: make the path readable with --allow-read",
    r"^FileNotFoundError": "the script runs in a copy of its project: set the working directory with --cwd",
    r"^EOFError: EOF when reading a line": "the run has no standard input",
    r"^ModuleNotFoundError": "install it, or choose an interpreter that has it with --python",
    r"^MemoryError|can't allocate memory|Cannot allocate memory": "raise the limit with --memory",
    r"File too large": "raise the limit with --disk",
    r"Read-only file system": "the run can only write to its project copy and to temporary folders",
    r"Name or service not known|Temporary failure in name resolution|Network is unreachable": (
        "the run has no network access"
    ),
}

#: A last line of output that explains an exit code, as argparse, click and loggers print it.
_EXPLANATION = re.compile(r"\b(error|fatal|critical)\b", re.IGNORECASE)


def describe_ending(run: Run) -> str:
    """Return the run's outcome, with the reason for an exit code if the script gave one, and advice in parentheses."""
    outcome = run.outcome
    if run.stopped is None and run.failure is None and run.exit_code > 0:
        reason = run.exit_message or _explanation(run.output)
        outcome = f"{outcome}: {reason}" if reason else outcome
    advice = _advice(run)
    return f"{outcome} ({advice})" if advice else outcome


def _explanation(output: str) -> str:
    """Return the last line of output if it explains why the script exited; else the empty string."""
    lines = output.split("\n") if output.strip() else []
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return last[:300] if _EXPLANATION.search(last) else ""


def _advice(run: Run) -> str | None:
    if run.stopped is not None:
        option = _first(_LIMITS, run.stopped)
        return None if option is None else f"raise the limit with {option}"
    if run.failure is not None:
        return _failure_advice(run.failure, run.withheld)
    if run.exit_code < 0:
        return _SIGNALS.get(signal_name(run.exit_code))
    if not run.has_report:
        return "os._exit leaves no record: use sys.exit"
    return "pass the script's own arguments after --" if run.exit_code == _USAGE else None


def _failure_advice(failure: Failure, withheld: str | None) -> str | None:
    if withheld is not None:
        return f"hidden from runs: make it readable with --allow-read {withheld}"
    return _first(_FAILURES, f"{failure.type}: {failure.text}")


def _first(table: dict[str, str], text: str) -> str | None:
    return next((advice for pattern, advice in table.items() if re.search(pattern, text)), None)
