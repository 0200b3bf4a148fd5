"""Freed memory goes back to the operating system if there is much of it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from devfix.sources import freed_memory

PROGRAM = """
from devfix.sources.freed_memory import resident_bytes, return_freed

return_freed()
before = resident_bytes()
made = [bytearray(5_000) for _ in range(20_000)]
kept, made = made[::50], None
full = resident_bytes()
return_freed()
print(full - before, resident_bytes() - before, len(kept))
"""


@pytest.mark.skipif(freed_memory._malloc_trim() is None, reason="needs glibc")
def test_freed_memory_between_blocks_in_use_is_returned() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    full, after, _ = map(int, done.stdout.split())

    assert full > 48 << 20, "without it, the freed blocks stay"
    assert after < full / 2


def test_a_small_process_is_left_alone(monkeypatch) -> None:
    monkeypatch.setattr(freed_memory, "_resident_before", freed_memory.resident_bytes())
    monkeypatch.setattr(freed_memory.gc, "collect", lambda: pytest.fail("it was collected"))

    freed_memory.return_freed()


def test_without_glibc_nothing_happens(monkeypatch) -> None:
    monkeypatch.setattr(freed_memory, "_malloc_trim", lambda: None)
    monkeypatch.setattr(freed_memory, "_resident_before", 0)
    monkeypatch.setattr(freed_memory.gc, "collect", lambda: pytest.fail("it was collected"))

    freed_memory.return_freed()


@pytest.mark.parametrize(("garbage", "growth"), [(0, 2), (10**9, 1)])
def test_after_a_collection_that_finds_little_the_next_one_waits_longer(monkeypatch, garbage, growth) -> None:
    monkeypatch.setattr(freed_memory, "_malloc_trim", lambda: lambda _: None)
    monkeypatch.setattr(freed_memory, "_resident_before", -(1 << 40))
    monkeypatch.setattr(freed_memory, "_growth", freed_memory._MIN_GROWTH)
    monkeypatch.setattr(freed_memory.gc, "collect", lambda: garbage)
    monkeypatch.setattr(freed_memory.gc, "freeze", lambda: None)
    monkeypatch.setattr(freed_memory.gc, "get_count", lambda: (1000, 0, 0))

    freed_memory.return_freed()

    assert freed_memory._growth == growth * freed_memory._MIN_GROWTH
