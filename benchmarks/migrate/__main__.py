"""Migrate many small repositories, some of them malformed: measure the cost, and check that none is lost.

``python -m benchmarks.migrate [rate] [whole] [speed] [interrupted] [--repositories 200]``; all four by default.

- ``rate``: repositories a second and core, without runs: CPU time of this process and of git's, one by one.
- ``whole``: ``devfix migrate`` of all of them, where one has a script that hangs; each must end as it should, and no
  worker may take more than :data:`MOST_MEMORY_MB`, also the one that reads a file of a megabyte of data.
- ``speed``: two workers against one, wall time, the best of five runs in turn; says something on an idle machine only.
- ``interrupted``: 20 kills (SIGKILL and SIGINT) at random moments; the state at the end is that of an undisturbed run.

Exits with 1 where a limit is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.migrate.repositories import EXPECTED, generate
from devfix.migrate.progress import active_tasks
from devfix.migrate.state import State

LEAST_RATE = 20.0
MOST_MEMORY_MB = 300.0
LEAST_SPEED = 1.7
INTERRUPTIONS = 20
SPEED_RUNS = 5


class Ground:
    """The repositories, and a working folder."""

    def __init__(self, folder: Path, number: int) -> None:
        self.folder = folder
        self.all = folder / "all"
        self.kinds = generate(self.all, number)

    def command(self, out: str, *options: str, plan: str = "all") -> list[str]:
        """Return the command line of one migration."""
        return [sys.executable, "-m", "devfix", "migrate", plan, "--out", out, "-q", *options]

    def environment(self, mirrors: str) -> dict[str, str]:
        """Return its environment; each name in ``mirrors`` is a separate cache."""
        return {**os.environ, "DEVFIX_CACHE_DIR": str(self.folder / mirrors)}

    def migrate(self, out: str, *options: str, plan: str = "all", mirrors: str = "cache") -> tuple[int, float, str]:
        """Return exit code, seconds, and the last lines of output."""
        start = time.perf_counter()
        done = subprocess.run(
            self.command(out, *options, plan=plan),
            cwd=self.folder,
            env=self.environment(mirrors),
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, time.perf_counter() - start, done.stderr.strip()

    def rows(self, out: str) -> list[dict[str, Any]]:
        """Return the state without fields that differ between runs."""
        with closing(State(str(self.folder / out / "state.log"), writable=False)) as state:
            records = [json.loads(state.document(entry)) for entry in state.latest()]
        for record in records:
            for key in ("seconds", "timings", "cpu_s", "memory_mb"):
                del record[key]
        return sorted(records, key=lambda record: str(record["name"]))


# --- the four -------------------------------------------------------------------------------------------------------
def rate(ground: Ground) -> bool:
    """Measure repositories per second and core."""
    import devfix.migrate.engines.preloaded  # noqa: F401  # as in a worker
    from devfix.migrate.plan import read_plan
    from devfix.migrate.work import migrate

    made = {"mirrors": str(ground.folder / "rate"), "scratch": str(ground.folder / "rate-scratch")}
    tasks = [replace(task, **made) for task in read_plan(str(ground.all)) if task.name[0] == "r"]
    spent: defaultdict[str, float] = defaultdict(float)
    many: Counter[str] = Counter()
    for task in tasks:
        before = sum(os.times()[:4])
        migrate(task)
        kind = ground.kinds[task.name]
        spent[kind] += sum(os.times()[:4]) - before
        many[kind] += 1
    for kind in many:
        print(f"rate: {many[kind]} with {kind!r}: {1000 * spent[kind] / many[kind]:.1f} ms of CPU each")
    found = many.total() / sum(spent.values())
    print(f"rate: {found:.1f} repositories a second and core (limit {LEAST_RATE})")
    return found >= LEAST_RATE


def whole(ground: Ground) -> bool:
    """Migrate everything, including a script that hangs; return the outcomes and the memory of the workers."""
    plan = []
    for name, kind in sorted(ground.kinds.items()):
        plan.append(f'[[repository]]\npath = "all/{name}"\n')
        if kind == "hangs":
            plan.append('verify = { script = "hangs.py", device = "sim", timeout = 5 }\n')
    (ground.folder / "plan.toml").write_text("".join(plan))
    with peak_memory(ground) as peaks:
        code, seconds, told = ground.migrate("whole", "-j", "2", plan="plan.toml")
    records = {record["name"]: record for record in ground.rows("whole")}
    wrong = []
    for name, kind in ground.kinds.items():
        outcome, reason = (records[name]["outcome"], records[name]["reason"]) if name in records else ("lost", "")
        wanted, word = EXPECTED.get(kind, ("clean" if kind == "program" else "", ""))
        right = outcome == wanted if wanted else outcome in ("fixed", "not-fixed")
        if not right or word not in reason:
            wrong.append(f"{name}: {outcome} ({reason})")
    print(f"whole: {told} in {seconds:.1f} s, exit code {code}, {len(records)} of {len(ground.kinds)} accounted for")
    print(f"whole: {len(wrong)} did not end as they should" + "".join(f"\n  {each}" for each in wrong))
    most = max(peaks.values())
    print(f"whole: workers took up to {most:.0f} MB (limit {MOST_MEMORY_MB:.0f})")
    print(f"whole: the one at 'huge' took {peaks.get('huge', 0.0):.0f} MB")
    return not wrong and code == 1 and len(records) == len(ground.kinds) and most < MOST_MEMORY_MB


def speed(ground: Ground) -> bool:
    """Compare two workers with one, from fresh mirrors: the best of several alternating runs."""
    best: dict[str, float] = {}
    for number in range(SPEED_RUNS):
        for jobs in ("1", "2"):
            _, seconds, _ = ground.migrate(f"speed{jobs}-{number}", "-j", jobs, mirrors=f"speed{jobs}-{number}-cache")
            best[jobs] = min(seconds, best.get(jobs, seconds))
            shutil.rmtree(ground.folder / f"speed{jobs}-{number}-cache")
    found = best["1"] / best["2"]
    print(f"speed: one worker {best['1']:.1f} s, two {best['2']:.1f} s: {found:.2f} times (limit {LEAST_SPEED})")
    print(f"speed: load of this machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    return found >= LEAST_SPEED


def interrupted(ground: Ground) -> bool:
    """Kill the run at random times."""
    draw = random.Random(6)
    _, seconds, _ = ground.migrate("undisturbed", "-j", "2", mirrors="undisturbed-cache")
    known, kills = 0, 0
    starts = Counter[str]()
    while kills < INTERRUPTIONS:
        command = ground.command("interrupted", "-j", "2")
        running = subprocess.Popen(
            command, cwd=ground.folder, env=ground.environment("interrupted-cache"), stderr=subprocess.DEVNULL
        )
        try:
            running.wait(draw.uniform(0.05, 0.25) * seconds)
            starts["ended before"] += 1
            shutil.rmtree(ground.folder / "interrupted")  # once more from the beginning
            known = 0
            continue
        except subprocess.TimeoutExpired:
            ending = draw.choice((signal.SIGKILL, signal.SIGINT))
            running.send_signal(ending)
            running.wait()
            kills += 1
            starts[ending.name] += 1
        if (ground.folder / "interrupted" / "state.log").exists():
            now = len(ground.rows("interrupted"))
            assert now >= known, f"{known - now} repositories that were done are lost"
            known = now
    ground.migrate("interrupted", "-j", "2", mirrors="interrupted-cache")
    same = ground.rows("interrupted") == ground.rows("undisturbed")
    left = [path for path in (ground.folder / "interrupted-cache" / "worktrees").rglob("*") if path.is_file()]
    print(f"interrupted: {dict(starts)}; the state is {'the same' if same else 'another one'}; {len(left)} files left")
    return same and not left


# --- what processes take --------------------------------------------------------------------------------------------
@contextmanager
def peak_memory(ground: Ground) -> Iterator[dict[str, float]]:
    """Return the peak resident memory of a worker in MB, by kind of repository."""
    peaks: dict[str, float] = {}
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.02):
            for scratch in (ground.folder / "cache" / "worktrees").glob("*"):
                for each in active_tasks(str(scratch)):
                    with suppress(OSError, IndexError):
                        status = Path("/proc", str(each.process), "status").read_text()
                        now = int(status.partition("VmRSS:")[2].split()[0]) / 1024
                        kind = ground.kinds[each.name]
                        peaks[kind] = max(peaks.get(kind, 0.0), now)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peaks
    finally:
        ended.set()
        thread.join()


_PARTS = {"rate": rate, "whole": whole, "speed": speed, "interrupted": interrupted}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[[], *_PARTS], metavar="PART")
    parser.add_argument("--repositories", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="devfix-benchmark-") as folder:
        ground = Ground(Path(folder), given.repositories)
        print(f"{len(ground.kinds)} repositories: {dict(Counter(ground.kinds.values()))}")
        good = [_PARTS[part](ground) for part in given.parts or _PARTS]
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main())
