"""Deferral of SIGINT while processes start."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["uninterrupted"]


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Defer SIGINT until the end of the block, then deliver it.

    A partly started pool or cluster cannot be shut down.  Threads and processes started in the block inherit the
    blocked signal; their parent ends them.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set a handler
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # if started later, it would unblock the signal
    received: list[int] = []
    previous_handler = signal.signal(signal.SIGINT, lambda number, _: received.append(number))  # also in other threads
    previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)
        signal.signal(signal.SIGINT, previous_handler)
    if received:
        signal.raise_signal(signal.SIGINT)
