"""Benchmark of scanning: ``devfix check -j 1`` against ``ast.parse`` of the same files, in one process.

Both read and decode the files; they alternate, and the medians are compared.  Says how many files devfix parsed at
all, and that LibCST stayed out unless a file is changed.  Exits with 1 where the ratio is above the limit.
Run: ``python benchmarks/scan.py PATH [rounds]``.
"""

from __future__ import annotations

import ast
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from unittest import mock

from devfix import config, sources
from devfix.engine import fixpoint
from devfix.model import Outcome
from devfix.rules.registry import all_rules

LIMIT = 4.0


def parse_all(path: str) -> int:
    """Parse each file under ``path`` once, and return the number of lines."""
    files, _ = sources.load([path])
    lines = 0
    for file in files:
        lines += file.text.count("\n")
        try:
            ast.parse(file.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            print(f"does not parse: {file.path}")
    return lines


def check_all(path: str) -> Outcome:
    known = {rule.code: rule.name for rule in all_rules()}
    settings = config.load([path], known, isolated=True)
    files, _ = sources.load([path])
    return fixpoint.check(files, settings, 1)


def seconds(work: Callable[[str], object], path: str) -> float:
    start = time.perf_counter()
    work(path)
    return time.perf_counter() - start


def main() -> int:
    path, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    warnings.simplefilter("ignore")  # invalid escapes in other people's strings
    lines = parse_all(path)
    with mock.patch("ast.parse", wraps=ast.parse) as parsed:
        outcome = check_all(path)
    print(
        f"{outcome.checked} files, {lines} lines, {len(outcome.resolutions)} findings, {len(outcome.problems)} problems"
    )
    print(f"ast.parse was called {parsed.call_count} times; libcst imported: {'libcst' in sys.modules}", flush=True)
    assert "libcst" not in sys.modules, "check changes nothing, so it needs no LibCST"
    times = [(seconds(parse_all, path), seconds(check_all, path)) for _ in range(rounds)]
    parse, check = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"ast.parse {parse:.2f} s, devfix check -j 1 {check:.2f} s: {check / parse:.2f} times (limit {LIMIT})")
    return int(check / parse > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
