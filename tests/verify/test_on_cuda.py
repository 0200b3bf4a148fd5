"""On a real CUDA device: the probe, numbers drawn on the CPU, and the verdicts.  Skipped where there is none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch

from devfix.verify import prove, run

from .scripts import BROKEN, FIXED, edited, project

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here: `nox -s cuda` on one"),
]

ROOT = Path(__file__).parents[2]

#: Numbers are drawn in a process of its own: what makes a device comparable is not taken back.
DRAWING = """\
import json, sys
sys.path[:0] = [{tests!r}, {root!r}]
import torch
from draws import drawn
from devfix.simulator import WorkLedger
from devfix.verify.probe import accelerator
plain = drawn("cpu")
accelerator.make_deterministic()
with accelerator.CpuRandomMode({device!r}, WorkLedger()) as comparable:
    found = drawn({device!r})
print(json.dumps({{
    "names": len(plain),
    "different": [name for name in plain if not torch.allclose(plain[name], found[name], rtol=1e-4, atol=1e-6)],
    "unmatched": comparable.unmatched,
    "there": comparable.ledger.device_operations,
}}))
"""


def drawing(device: str) -> dict[str, object]:
    program = DRAWING.format(tests=str(Path(__file__).parent), root=str(ROOT), device=device)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_every_way_to_draw_gives_the_numbers_of_the_cpu() -> None:
    found = drawing("cuda")

    assert (found["different"], found["unmatched"]) == ([], [])
    assert found["there"]


def test_a_run_trains_as_the_cpu_does(tmp_path: Path) -> None:
    folder = project(tmp_path, FIXED)
    here, there = run("train.py", [], "cpu", folder), run("train.py", [], "cuda", folder)

    assert there.ok, there.output
    assert there.losses == pytest.approx(here.losses, rel=1e-4, abs=1e-5)
    assert (there.steps, there.parameters, there.forgotten, there.random) == (4, 6, (), here.random)
    assert there.accelerator_share > 0.5
    assert (there.precision, there.unsupported) == ("float32", ())


def test_a_run_dies_where_two_devices_meet(tmp_path: Path) -> None:
    failure = run("train.py", [], "cuda", project(tmp_path, BROKEN)).failure

    assert failure is not None
    assert (failure.family, failure.where) == ("same-device", "train.py:12")


def test_float64_is_the_same_training(tmp_path: Path) -> None:
    folder = project(tmp_path, FIXED)
    here = run("train.py", [], "cpu", folder, float64=True)
    there = run("train.py", [], "cuda", folder, float64=True)

    assert there.ok, there.output
    assert there.losses == pytest.approx(here.losses, rel=1e-9)


def test_the_right_patch_is_fixed(tmp_path: Path) -> None:
    found = prove(project(tmp_path / "a", BROKEN), project(tmp_path / "b", FIXED), "train.py", run_on="cuda")

    assert found.status == "fixed", found.reason


WRONG = {
    "flight to the cpu": ('"cuda" if torch.cuda.is_available() else "cpu"', '"cpu"', "not-fixed"),
    "another seed": ("manual_seed(3)", "manual_seed(4)", "loss-differs"),
    "no step": ("    optimizer.step()\n", "", "loss-differs"),
    "half of the repair": ("x, y = x.to(device), y.to(device)", "x = x.to(device)", "not-fixed"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_patch_is_refused(tmp_path: Path, name: str) -> None:
    old, new, word = WRONG[name]
    folders = project(tmp_path / "a", BROKEN), project(tmp_path / "b", edited(old, new))

    assert prove(*folders, "train.py", run_on="cuda").status == word
