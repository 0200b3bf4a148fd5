"""Ctrl-C reaches the whole process group: this process stops, and it ends its workers."""

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

_PAUSE = 0.05  # seconds until a forgotten signal is sent again


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGINT end the worker processes and raise ``KeyboardInterrupt`` here.

    A forked worker inherits the handler and ignores the signal, as its parent ends it: otherwise every worker
    prints a traceback of its own, and a pool waits for those that are left.

    Python forgets what is raised within a finalizer, turns what meets the making of a class into a ``RuntimeError``
    (before 3.12), and libraries let go of errors that they expect: a signal that came to nothing is sent once more.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set a handler
        yield
        return
    owner = os.getpid()
    sent: list[weakref.ref[_Stop]] = []
    over = False

    def stop(signal_number: int, frame: FrameType | None) -> None:
        if os.getpid() != owner:
            return
        if "multiprocessing" in sys.modules:
            import multiprocessing

            with suppress(Exception):  # they may end, and be forgotten, at the same moment
                for worker in multiprocessing.active_children():
                    worker.terminate()
        raise watched()  # no name here holds it: it has to go when nobody handles it any more

    def watched() -> _Stop:
        made = _Stop()
        sent.append(weakref.ref(made, forgotten))
        return made

    def forgotten(_: weakref.ref[_Stop]) -> None:
        if not over:
            _thread.start_new_thread(send_again, ())  # without the locks of threading, which may be held just now

    def send_again() -> None:
        time.sleep(_PAUSE)
        if not over:
            os.kill(owner, signal.SIGINT)

    def tell(found: sys.UnraisableHookArgs) -> None:
        if not isinstance(found.exc_value, _Stop):
            told(found)

    told, sys.unraisablehook = sys.unraisablehook, tell
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    except Exception as error:
        if sent:
            raise KeyboardInterrupt from error
        raise
    finally:
        over = True
        signal.signal(signal.SIGINT, before)
        sys.unraisablehook = told


class _Stop(KeyboardInterrupt):
    """Can be watched, as exceptions of Python itself cannot."""
