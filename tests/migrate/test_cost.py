"""CPU time and memory of one repository."""

from __future__ import annotations

import subprocess
import sys

import pytest

from devfix.migrate.cost import Meter

BUSY = "import time\nwhile time.process_time() < 0.3: pass"


def test_the_time_of_processes_that_have_ended_counts():
    meter = Meter()
    subprocess.run([sys.executable, "-c", BUSY], check=True)

    assert 0.2 <= meter.cpu_s < 5


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can reset the peak")
def test_memory_that_an_earlier_repository_took_does_not_count():
    earlier = bytearray(b"x" * (100 << 20))
    peak = Meter().memory_mb
    del earlier

    assert Meter().memory_mb < peak - 50


def test_memory_that_is_freed_counts():
    meter = Meter()
    before = meter.memory_mb
    taken = bytearray(b"x" * (100 << 20))
    del taken

    assert meter.memory_mb > before + 50
