"""Runs that are held get the same time of day and the same random seeds."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from devfix.verify import run

SEEDS = """\
import datetime, pickle, random, secrets, time, uuid
import numpy as np
import torch

print(time.time_ns(), time.time() > 1.7e9, time.strftime("%Y-%m-%d %H"), datetime.datetime.now(), datetime.date.today())
print(torch.seed(), torch.initial_seed(), torch.rand(2).tolist())
random.seed()
np.random.seed()
print(random.random(), random.SystemRandom().random(), secrets.token_hex(8), uuid.uuid4())
print(np.random.rand(), np.random.default_rng().random())
if torch.cuda.is_available():
    torch.cuda.seed()
"""

CALENDAR = """\
import datetime, pickle

class Stamp(datetime.datetime):
    pass

moment = datetime.datetime(2020, 2, 3, 4)
print(repr(moment), isinstance(moment, datetime.datetime), isinstance(moment, datetime.date))
print(pickle.loads(pickle.dumps([moment, moment.date()])) == [moment, datetime.date(2020, 2, 3)])
print(type(Stamp(2020, 2, 3)) is Stamp, datetime.datetime.strptime("2020", "%Y").year, issubclass(Stamp, datetime.date))
"""

WAITING = """\
import time
began = time.time()
while time.time() - began < 0.1:
    pass
print(1 / (time.time() - began) < 11)
"""


def printed(folder: Path, source: str, device: str = "cpu", **options: bool) -> str:
    (folder / "seeds.py").write_text(source, encoding="utf-8")
    found = run("seeds.py", [], device, folder, **options)
    assert found.ok, found.outcome
    assert found.held == options.get("held", False)
    return found.output


def test_seeds_are_the_same_in_each_run_that_is_held_and_no_other(tmp_path: Path) -> None:
    held = printed(tmp_path, SEEDS, held=True)

    assert printed(tmp_path, SEEDS, held=True) == held
    assert printed(tmp_path, SEEDS, "sim", held=True) == held
    free = printed(tmp_path, SEEDS), printed(tmp_path, SEEDS)
    assert all(one != other for one, other in zip(free[0].splitlines(), free[1].splitlines(), strict=True))


def test_faster_clocks_keep_the_seeds_of_a_held_run(tmp_path: Path) -> None:
    source = "import random, time\nprint(int(time.time()), time.time(), random.SystemRandom().random())\n"

    seconds, moment, drawn = printed(tmp_path, source, held=True).split()
    faster = printed(tmp_path, source, held=True, fast_clocks=True).split()

    assert (seconds, drawn) == (faster[0], faster[2])
    assert moment != faster[1]


def test_held_dates_are_ordinary_objects(tmp_path: Path) -> None:
    assert printed(tmp_path, CALENDAR, held=True) == printed(tmp_path, CALENDAR)


def test_a_loop_that_waits_for_a_held_clock_ends(tmp_path: Path) -> None:
    assert printed(tmp_path, WAITING, held=True) == "True\n"
