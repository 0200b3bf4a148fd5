"""Benchmark of start-up: ``devfix --version`` and ``devfix explain`` against ``python -c "import click"``.

The three commands alternate, so that what else the machine does falls on all of them; the medians are compared.  Exits
with 1 where a ratio is above the limit.  Run: ``python benchmarks/startup.py [rounds]``.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

LIMIT = 1.5
BASE = "import click"
DEVFIX = "from devfix.cli import main; main(sys.argv[1:])"


def commands() -> dict[str, list[str]]:
    """Return the commands, as the console script starts them."""
    return {
        BASE: [sys.executable, "-c", "import click"],
        "devfix --version": [sys.executable, "-c", f"import sys; {DEVFIX}", "--version"],
        "devfix explain": [sys.executable, "-c", f"import sys; {DEVFIX}", "explain", "DEV101"],
    }


def seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    every = commands()
    for command in every.values():
        seconds(command)  # bytecode is written once
    taken: dict[str, list[float]] = {name: [] for name in every}
    for _ in range(rounds):
        for name, command in every.items():
            taken[name].append(seconds(command))
    medians = {name: statistics.median(times) for name, times in taken.items()}
    base = medians.pop(BASE)
    print(f"{BASE:<18} {base * 1000:6.1f} ms")
    for name, median in medians.items():
        print(f"{name:<18} {median * 1000:6.1f} ms  {median / base:.2f} times (limit {LIMIT})")
    return int(any(median / base > LIMIT for median in medians.values()))


if __name__ == "__main__":
    sys.exit(main())
