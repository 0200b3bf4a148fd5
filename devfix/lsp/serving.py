"""The server on standard input and output, which carry the protocol only."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys

from devfix.lsp.features import create
from devfix.lsp.proof import is_starting

__all__ = ["serve"]

_POLL = 0.01  # seconds until the next look at whether a process has been started


def serve() -> int:
    """Serve one client; return 0 after a clean shutdown, 1 if it disconnected."""
    gc.set_threshold(500_000, 20, 20)  # syntax trees are many and mostly live
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # all other output, also of child processes, goes to standard error
    server = create()
    ended_by_signal = False

    def stop(number: int, frame: object) -> None:
        nonlocal ended_by_signal
        ended_by_signal = True
        try:
            # between two steps of the loop: in the middle of one, a proof that has just been started would be lost
            loop = asyncio.get_running_loop()
        except RuntimeError:  # no loop runs
            sys.exit()
        loop.call_soon_threadsafe(leave, loop)

    def leave(loop: asyncio.AbstractEventLoop) -> None:
        if is_starting():
            loop.call_later(_POLL, leave, loop)
        else:
            sys.exit()  # the loop cancels its tasks, including proofs

    signal.signal(signal.SIGTERM, stop)
    server.start_io(sys.stdin.buffer, out)
    code = 0 if server.protocol.was_shut_down else 1
    if ended_by_signal:
        os._exit(code)  # Python would wait for the thread that reads standard input
    return code
