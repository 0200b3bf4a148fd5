"""Interpreters: whether one can run the probe, and the reason if not."""

from __future__ import annotations

import re
import subprocess
import threading

__all__ = ["OLDEST_PYTHON", "OLDEST_TORCH", "explain_unusable", "is_too_old"]

#: Oldest versions that the probe and the simulator support.
OLDEST_PYTHON = (3, 9)
OLDEST_TORCH = (2, 4)

#: Valid in every Python since 2.6.
_VERSION_QUERY = """\
import sys
print("python %d.%d" % sys.version_info[:2])
sys.stdout.flush()
import torch
print("torch " + torch.__version__)
"""
_SECONDS = 60
_MAX_BYTES = 1 << 16


def is_too_old(version: str, oldest: tuple[int, int]) -> bool:
    """Whether a version is older than ``oldest``; False if it cannot be parsed."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return found is not None and (int(found[1]), int(found[2])) < oldest


def explain_unusable(python: str, errors: str) -> str:
    """Return one line: why an interpreter cannot run the probe, from its versions and its error output."""
    try:
        answer = _query_versions(python)
    except OSError as error:
        return f"{python} cannot be started: {error.strerror or error}"
    versions = dict(re.findall(r"^(python|torch) (\S+)$", answer, re.MULTILINE))
    if "python" not in versions:
        return f"{python} is not a Python interpreter"
    if is_too_old(versions["python"], OLDEST_PYTHON):
        return f"{python} is Python {versions['python']}; Python {_or_later(OLDEST_PYTHON)} is required"
    if "torch" not in versions:
        return f"{python} {_without_torch(answer)}"
    if is_too_old(versions["torch"], OLDEST_TORCH):
        return f"{python} has torch {versions['torch']}; torch {_or_later(OLDEST_TORCH)} is required"
    lines = errors.strip().splitlines()
    return f"{python} cannot run the probe: {lines[-1][:500]}" if lines else f"{python} did not start"


def _query_versions(python: str) -> str:
    """Return the output of the version query within the time limit; ``python`` may be any program."""
    with subprocess.Popen(
        [python, "-s", "-c", _VERSION_QUERY],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd="/",
    ) as process:
        assert process.stdout is not None
        end = threading.Timer(_SECONDS, process.kill)
        end.start()
        try:
            return process.stdout.read(_MAX_BYTES).decode("utf-8", "replace")
        finally:
            end.cancel()
            process.kill()


def _or_later(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]} or later"


def _without_torch(errors: str) -> str:
    lines = errors.strip().splitlines()
    if len(lines) < 2 or "No module named 'torch'" in lines[-1] or "No module named torch" in lines[-1]:
        return "has no torch: select the script's interpreter with --python"
    return f"cannot import torch: {lines[-1][:500]}"
