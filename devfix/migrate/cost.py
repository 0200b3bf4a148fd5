"""CPU time and memory of one repository."""

from __future__ import annotations

import os
import resource
import sys
from contextlib import suppress

__all__ = ["Meter"]

_RESET_PEAK = b"5"  # proc(5), /proc/pid/clear_refs
_MAXRSS_PER_MB = 1 << 20 if sys.platform == "darwin" else 1 << 10  # getrusage(2): bytes on macOS, else kilobytes


class Meter:
    """Measures from its creation on; a worker has one at a time."""

    def __init__(self) -> None:
        self._started = _cpu_s()
        with suppress(OSError), open("/proc/self/clear_refs", "wb") as file:
            file.write(_RESET_PEAK)

    @property
    def cpu_s(self) -> float:
        """The CPU time of this process and of those that it ran, git and scripts, in seconds."""
        return round(_cpu_s() - self._started, 3)

    @property
    def memory_mb(self) -> float:
        """The peak resident memory of this process in MB since the creation; since its start if unknown."""
        with suppress(OSError, StopIteration), open("/proc/self/status", encoding="ascii") as file:
            line = next(line for line in file if line.startswith("VmHWM:"))
            return round(int(line.split()[1]) / 1024, 1)
        return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MAXRSS_PER_MB, 1)


def _cpu_s() -> float:
    return sum(os.times()[:4])
