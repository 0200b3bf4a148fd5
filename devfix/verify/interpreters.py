"""Which interpreters can run the probe, and why another one cannot."""

from __future__ import annotations

import re
import subprocess
import threading

__all__ = ["OLDEST_PYTHON", "OLDEST_TORCH", "too_old", "why_not"]

#: The probe and the simulator are written for these and later ones.
OLDEST_PYTHON = (3, 9)
OLDEST_TORCH = (2, 4)

#: Understood by every Python there has been since 2.6.
_QUESTION = """\
import sys
print("python %d.%d" % sys.version_info[:2])
sys.stdout.flush()
import torch
print("torch " + torch.__version__)
"""
_SECONDS = 60
_MOST_BYTES = 1 << 16


def too_old(version: str, oldest: tuple[int, int]) -> bool:
    """Whether a version is older; one that cannot be read is not."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return found is not None and (int(found[1]), int(found[2])) < oldest


def why_not(python: str, errors: str) -> str:
    """One line: why an interpreter does not run the probe, from what it says of itself and from what it printed."""
    try:
        answer = _ask(python)
    except OSError as error:
        return f"{python} cannot be started: {error.strerror or error}"
    versions = dict(re.findall(r"^(python|torch) (\S+)$", answer, re.MULTILINE))
    if "python" not in versions:
        return f"{python} is not a Python interpreter"
    if too_old(versions["python"], OLDEST_PYTHON):
        return f"{python} is Python {versions['python']}: {_needed(OLDEST_PYTHON)} is needed"
    if "torch" not in versions:
        return f"{python} {_without_torch(answer)}"
    if too_old(versions["torch"], OLDEST_TORCH):
        return f"{python} has torch {versions['torch']}: {_needed(OLDEST_TORCH)} is needed"
    told = errors.strip().splitlines()
    return f"{python} cannot run the probe: {told[-1][:500]}" if told else f"{python} did not start"


def _ask(python: str) -> str:
    """What an interpreter says of itself, as far as it says it in time; it may be any program."""
    with subprocess.Popen(
        [python, "-s", "-c", _QUESTION],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd="/",
    ) as asked:
        assert asked.stdout is not None
        end = threading.Timer(_SECONDS, asked.kill)
        end.start()
        try:
            return asked.stdout.read(_MOST_BYTES).decode("utf-8", "replace")
        finally:
            end.cancel()
            asked.kill()


def _needed(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]} or later"


def _without_torch(errors: str) -> str:
    told = errors.strip().splitlines()
    if len(told) < 2 or "No module named 'torch'" in told[-1] or "No module named torch" in told[-1]:
        return "has no torch: name the interpreter that the script needs with --python"
    return f"cannot import torch: {told[-1][:500]}"
