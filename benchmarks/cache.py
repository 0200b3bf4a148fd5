"""Benchmark of the cache: ``devfix check -j 1`` of an unchanged tree, with and without cached results.

Whole processes, alternating; the medians are compared.  The run that fills the cache is timed, too: it must not be
slower than one without.  Exits with 1 where the ratio is below the limit.  Run: ``python benchmarks/cache.py PATH``.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

LIMIT = 10.0
ROUNDS = 3


def seconds(path: str, folder: str, *options: str) -> float:
    environment = {**os.environ, "DEVFIX_CACHE_DIR": folder}
    command = [sys.executable, "-m", "devfix", "check", path, "-j", "1", "-q", *options]
    start = time.perf_counter()
    ended = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert ended.returncode in (0, 1), ended.returncode
    return time.perf_counter() - start


def main() -> int:
    path = sys.argv[1]
    times = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            without, first = seconds(path, folder, "--no-cache"), seconds(path, folder)
            times.append((without, first, seconds(path, folder)))
    without, first, second = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"without {without:.2f} s; filling the cache {first:.2f} s ({first / without:.2f} times)")
    print(f"with it {second:.2f} s: {without / second:.1f} times faster (limit {LIMIT})")
    return int(without / second < LIMIT)


if __name__ == "__main__":
    sys.exit(main())
