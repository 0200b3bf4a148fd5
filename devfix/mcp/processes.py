"""A command of devfix in a process of its own."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

__all__ = ["Failed", "Finished", "run_command"]

_BEAT = 2.0  # seconds between two reports of progress
_GRACE = 5.0  # seconds that a cancelled command has to delete its scratch copies
_MOST_BYTES = 64 * 2**20  # of output that are read
_MOST_TOLD = 2_000  # characters of standard error in the message of a failure


class Failed(RuntimeError):
    """A command that could not do its work; the message is its own."""


@dataclass(frozen=True)
class Finished:
    """The result of a command.

    Attributes:
        code: its exit code: 0, 1, or 2 if it printed a report all the same.
        text: what it printed on standard output.

    """

    code: int
    text: str


async def run_command(
    words: Sequence[str], folder: Path, beat: Callable[[float], Awaitable[None]], given: str = ""
) -> Finished:
    """Run ``devfix WORDS`` in a folder.

    Args:
        words: the command and its arguments.
        folder: the working directory.
        beat: called every two seconds with the seconds since the start.
        given: standard input.

    Raises:
        Failed: the command ended without a report, or printed more than 64 MB.
        asyncio.CancelledError: the call was cancelled; the command and its children have ended.

    """
    start = time.monotonic()
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as told:
        source.write(given.encode("utf-8", "replace"))
        source.seek(0)
        environment = {**os.environ, "DEVFIX_AGENT": "0", "NO_COLOR": "1"}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "devfix")
            if sys.version_info >= (3, 11)
            else (sys.executable, "-m", "devfix"),
            *words,
            cwd=folder,
            env=environment,
            stdin=source,
            stdout=out,
            stderr=told,
            start_new_session=True,
        )
        try:
            while True:
                try:
                    code = await asyncio.wait_for(asyncio.shield(process.wait()), _BEAT)
                    break
                except asyncio.TimeoutError:
                    await beat(time.monotonic() - start)
        finally:
            if process.returncode is None:
                await asyncio.shield(_end(process))
        errors = _read(told, _MOST_TOLD).strip()
        if code not in (0, 1) and not (code == 2 and os.fstat(out.fileno()).st_size):  # a report is an answer
            raise Failed(errors or f"devfix ended with {code}")
        if os.fstat(out.fileno()).st_size > _MOST_BYTES:
            raise Failed("the report has more than 64 MB: name fewer files")
        return Finished(code, _read(out, _MOST_BYTES))


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a command and its children: ask first, so that scratch copies are deleted."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with suppress(asyncio.TimeoutError):
        await asyncio.wait_for(asyncio.shield(process.wait()), _GRACE)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _read(file: IO[bytes], most: int) -> str:
    file.seek(0)
    return file.read(most).decode("utf-8", "replace")
