"""Child processes of the script that failed, by name."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.process import BaseProcess
from typing import Any

from .watching import Provenance

__all__ = ["Children"]

_MAX_NAME = 80
_TERMINATED = (None, 0, -signal.SIGTERM)  # still running, successful, or ended by the script


class Children:
    """The processes that the script starts with :mod:`multiprocessing`, and its Python programs in :mod:`subprocess`.

    Other programs are left out: scripts ask ``git`` or ``nvidia-smi`` and expect them to fail.

    Args:
        provenance: the recorder, which removes the patches at its exit.

    """

    def __init__(self, provenance: Provenance) -> None:
        self._started: list[tuple[str, Callable[[], int | None]]] = []
        self._process = os.getpid()
        provenance.patch(BaseProcess, "start", self._watch_start)
        provenance.patch(subprocess.Popen, "__init__", self._watch_popen)

    def _watch_start(self, real: Any) -> Any:
        def start(process: Any) -> None:
            real(process)
            self._started.append((process.name, lambda: process.exitcode))

        return start

    def _watch_popen(self, real: Any) -> Any:
        def __init__(process: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - the name of the real one
            real(process, *args, **kwargs)
            words = process.args if isinstance(process.args, (list, tuple)) else str(process.args).split()
            words = [os.fsdecode(word) for word in words]
            if words and os.path.basename(words[0]).startswith("python"):
                name = shlex.join(["python", *words[1:]])[:_MAX_NAME]
                self._started.append((name, process.poll))

        return __init__

    def failed(self) -> list[tuple[str, int]]:
        """Return name and exit code of the processes that failed; negative for a signal."""
        if os.getpid() != self._process or sys.is_finalizing():
            return []
        found = []
        for name, exit_code in self._started:
            with suppress(ValueError):  # the script closed the process
                code = exit_code()
                if code not in _TERMINATED and code is not None:
                    found.append((name, code))
        return found
