"""Ctrl-C reaches the whole process group: this process stops, and it ends its workers."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["interruptible"]


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGINT end the worker processes and raise ``KeyboardInterrupt`` here.

    A forked worker inherits the handler and ignores the signal, as its parent ends it: otherwise every worker
    prints a traceback of its own, and a pool waits for those that are left.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set a handler
        yield
        return
    owner = os.getpid()

    def stop(signal_number: int, frame: FrameType | None) -> None:
        if os.getpid() != owner:
            return
        if "multiprocessing" in sys.modules:
            import multiprocessing

            for worker in multiprocessing.active_children():
                worker.terminate()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
