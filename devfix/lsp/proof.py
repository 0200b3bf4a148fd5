"""Verification from the editor: ``devfix verify`` in a separate process that can be cancelled."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from devfix.engine.import_path import module_command
from devfix.report.sanitize import PREFIX
from devfix.sources.cache_folder import cache_folder
from devfix.sources.digest import digest

__all__ = ["ProofFailed", "is_starting", "run_verify"]

_GRACE = 5.0  # seconds between interrupt and kill
_starting: list[str] = []  # folders of the proofs whose process is being started


def is_starting() -> bool:
    """Return whether a process is being started: asyncio waits forever if all its tasks are cancelled meanwhile.

    Its task that connects the pipes is cancelled then, and the end of the process is told only after it
    (CPython, base_subprocess.py).
    """
    return bool(_starting)


class ProofFailed(Exception):
    """``devfix verify`` ended without a verdict: its message."""


async def run_verify(path: str, folder: str, options: Sequence[str], arguments: Sequence[str]) -> dict[str, Any]:
    """Return the verdict on a script as in verdict-2.json; ``html`` names its page, if jinja2 is installed.

    Cancelling ends the process and its children.  Raises :class:`ProofFailed`.
    """
    page = _page(path)
    shown = ["--html", page] if page else []
    out = await _devfix(["verify", *options, *shown, "--output-format", "json", path, "--", *arguments], folder)
    verdict: dict[str, Any] = json.loads(out)
    return {**verdict, "html": page}


def _page(path: str) -> str | None:
    """Return the path of the script's page in the cache folder; a new proof replaces it."""
    if find_spec("jinja2") is None:
        return None
    folder = os.path.join(cache_folder(), "proofs")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return os.path.join(folder, f"{os.path.basename(path)}-{digest(path)[:8]}.html")


async def _devfix(arguments: Sequence[str], folder: str) -> bytes:
    _starting.append(folder)
    try:
        process = await asyncio.create_subprocess_exec(
            *module_command("devfix"),
            *arguments,
            cwd=folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    finally:
        _starting.remove(folder)
    try:
        out, err = await process.communicate()
    except asyncio.CancelledError:
        await _end(process)
        raise
    if process.returncode not in (0, 1) or not out:
        told = [line for line in err.decode("utf-8", "replace").splitlines() if line.startswith(PREFIX)]
        raise ProofFailed(told[-1] if told else f"devfix verify ended with {process.returncode}")
    return out


async def _end(process: asyncio.subprocess.Process) -> None:
    """Interrupt the process as Ctrl-C does, so that devfix ends its runs; kill it if it does not exit."""
    _signal(process, signal.SIGINT)
    try:
        await asyncio.wait_for(process.wait(), _GRACE)
    except asyncio.TimeoutError:
        _signal(process, signal.SIGKILL)
        await process.wait()


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return
