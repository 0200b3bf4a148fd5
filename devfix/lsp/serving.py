"""The server on standard input and output, which belong to the protocol alone."""

from __future__ import annotations

import gc
import os
import signal
import sys

from devfix.lsp.features import create

__all__ = ["serve"]


def serve() -> int:
    """Serve one client until it leaves: 0 after ``shutdown`` and ``exit``, 1 where it just went away."""
    gc.set_threshold(500_000, 20, 20)  # syntax trees are many and mostly live
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anybody prints, child processes too, goes to standard error
    server = create()
    ended_by_signal = False

    def stop(number: int, frame: object) -> None:
        nonlocal ended_by_signal
        ended_by_signal = True
        sys.exit()  # the event loop cancels what runs, a proof with its processes too

    signal.signal(signal.SIGTERM, stop)
    server.start_io(sys.stdin.buffer, out)
    code = 0 if server.protocol.was_shut_down else 1
    if ended_by_signal:
        os._exit(code)  # a thread still waits for standard input, and Python would wait for it
    return code
