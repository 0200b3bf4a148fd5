"""Preloaded by the forkserver to ignore SIGINT; the parent shuts it down.

The forkserver starts with SIGINT blocked, because Ctrl-C during its imports would end it with a traceback.  A worker
that starts after its pool has ended exits without a traceback as well.
"""

from __future__ import annotations

import signal
import sys
from types import TracebackType

_PARENT_EXITED = (FileNotFoundError, EOFError, ConnectionError)


def _report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if not issubclass(kind, _PARENT_EXITED):
        sys.__excepthook__(kind, error, trace)


sys.excepthook = _report
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
