"""Imported first by the process that workers fork from, and by nothing else: who started it ends it, at any moment.

Ctrl-C at the terminal is not for it: it is started with the signal blocked, else Ctrl-C within its imports would end
it with a traceback.  A worker that begins when its pool has gone already ends without one, too.
"""

from __future__ import annotations

import signal
import sys
from types import TracebackType

_GONE = (FileNotFoundError, EOFError, ConnectionError)


def _told(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if not issubclass(kind, _GONE):
        sys.__excepthook__(kind, error, trace)


sys.excepthook = _told
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
