"""Benchmark of scanning: ``devfix check -j 1`` against ``ast.parse`` of the files that name torch.

Each runs in a process of its own, because a big heap makes the parser several times slower; CPU times are compared,
without the start of the process.  Both read and decode the files; they alternate, and the medians are compared.  Says
how many files devfix parsed at all, and that LibCST stayed out unless a file is changed.  Exits with 1 where the ratio
is above the limit.
Run: ``python benchmarks/scan.py PATH [rounds]``.
"""

from __future__ import annotations

import ast
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from unittest import mock

from devfix import config, sources
from devfix.engine import fixpoint
from devfix.model import Outcome
from devfix.rules.registry import all_rules

LIMIT = 6.0


def parse_all(path: str) -> int:
    """Parse each file under ``path`` that names torch, and return the number of lines."""
    files, _ = sources.load([path])
    lines = 0
    for file in files:
        if b"torch" not in file.raw:
            continue
        lines += file.text.count("\n")
        try:
            ast.parse(file.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            print(f"does not parse: {file.path}", file=sys.stderr)
    return lines


def check_all(path: str) -> Outcome:
    known = {rule.code: rule.name for rule in all_rules()}
    settings = config.load([path], known, isolated=True)
    files, _ = sources.load([path])
    return fixpoint.check(files, settings, 1)


WORK: dict[str, Callable[[str], object]] = {"parse": parse_all, "check": check_all}


def seconds(work: str, path: str) -> float:
    """Return the CPU time of a piece of work in a new process."""
    command = [sys.executable, "-W", "ignore", __file__, path, f"--{work}"]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def main() -> int:
    path = sys.argv[1]
    warnings.simplefilter("ignore")  # invalid escapes in other people's strings
    if sys.argv[-1].startswith("--"):
        start = time.process_time()
        WORK[sys.argv[-1].removeprefix("--")](path)
        print(time.process_time() - start)
        return 0
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    lines = parse_all(path)
    with mock.patch("ast.parse", wraps=ast.parse) as parsed:
        outcome = check_all(path)
    print(
        f"{outcome.checked} files, {lines} lines, {len(outcome.resolutions)} findings, {len(outcome.problems)} problems"
    )
    print(f"ast.parse was called {parsed.call_count} times; libcst imported: {'libcst' in sys.modules}", flush=True)
    assert "libcst" not in sys.modules, "check changes nothing, so it needs no LibCST"
    times = [(seconds("parse", path), seconds("check", path)) for _ in range(rounds)]
    parse, check = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"ast.parse {parse:.2f} s, devfix check -j 1 {check:.2f} s: {check / parse:.2f} times (limit {LIMIT})")
    return int(check / parse > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
