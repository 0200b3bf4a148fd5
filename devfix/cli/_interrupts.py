"""Handling of Ctrl-C, which the terminal sends to devfix and its worker processes."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

__all__ = ["interruptible"]

_RESEND_DELAY = 0.05  # seconds until a lost signal is sent again


@contextmanager
def interruptible() -> Iterator[None]:
    """Terminate worker processes on SIGINT, and raise ``KeyboardInterrupt`` in this process.

    A forked worker inherits the handler and ignores the signal, because the parent terminates it; otherwise, each
    worker would print a traceback, and a pool would wait for the remaining workers.

    The exception can get lost: Python discards it in finalizers, turns it into a ``RuntimeError`` in
    ``__set_name__`` (before 3.12), and libraries swallow exceptions.  In these cases, the signal is sent again.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set a handler
        yield
        return
    owner = os.getpid()
    raised: list[weakref.ref[_Stop]] = []
    is_done = False

    def stop(signal_number: int, frame: FrameType | None) -> None:
        if os.getpid() != owner:
            return
        if "multiprocessing" in sys.modules:
            import multiprocessing

            with suppress(Exception):  # workers may exit at the same time
                for worker in multiprocessing.active_children():
                    worker.terminate()
        raise tracked()  # no reference stays here, so that the exception is collected when it is discarded

    def tracked() -> _Stop:
        exception = _Stop()
        raised.append(weakref.ref(exception, on_collected))
        return exception

    def on_collected(_: weakref.ref[_Stop]) -> None:
        if not is_done:
            _thread.start_new_thread(send_again, ())  # ``threading`` takes locks, which may be held here

    def send_again() -> None:
        time.sleep(_RESEND_DELAY)
        if not is_done:
            os.kill(owner, signal.SIGINT)

    def unraisable_hook(unraisable: sys.UnraisableHookArgs) -> None:
        if not isinstance(unraisable.exc_value, _Stop):
            previous_hook(unraisable)

    previous_hook, sys.unraisablehook = sys.unraisablehook, unraisable_hook
    previous_handler = signal.signal(signal.SIGINT, stop)
    try:
        yield
    except Exception as error:
        if raised:
            raise KeyboardInterrupt from error
        raise
    finally:
        is_done = True
        signal.signal(signal.SIGINT, previous_handler)
        sys.unraisablehook = previous_hook


class _Stop(KeyboardInterrupt):
    """A ``KeyboardInterrupt`` that supports weak references."""
