"""Ctrl-C while processes are started: it waits until they are there, and does not reach them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["uninterrupted"]


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold SIGINT back; afterwards it takes its way.

    A pool or a cluster that is half there cannot be ended.  Threads and processes that are started within inherit that
    the signal is blocked: who started them ends them.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set a handler
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # where it is started later, it lets the signal through
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))  # of other threads, too
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        signal.signal(signal.SIGINT, before)
    if came:
        signal.raise_signal(signal.SIGINT)
