"""Benchmark of repair: CPU time of ``devfix apply --diff -j 1`` against that of ``devfix check -j 1``.

Whole processes without a cache, alternating; the medians are compared.  A repair scans each program that reads an
edited file once more, so it takes about twice as long if all first fixes hold.  Exits with 1 where the ratio is above
the limit.  Run: ``python benchmarks/apply.py PATH [rounds]``.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys

LIMIT = 3.0


def seconds(command: str, path: str, *options: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call = [sys.executable, "-m", "devfix", command, path, "-j", "1", "-q", "--no-cache", "--isolated", *options]
    ended = subprocess.run(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert ended.returncode in (0, 1), ended.returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    path = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    times = [(seconds("check", path), seconds("apply", path, "--diff")) for _ in range(rounds)]
    check, apply = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"check {check:.2f} s, apply {apply:.2f} s: {apply / check:.2f} times (limit {LIMIT})")
    return int(apply / check > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
