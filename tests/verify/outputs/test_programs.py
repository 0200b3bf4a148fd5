"""Ordinary training scripts: right ones produce the same on the simulated accelerator, spoilt ones do not.

A sample runs with the suite; ``DEVFIX_ALL_OUTPUTS`` selects all (``nox -s outputs``).
"""

from __future__ import annotations

import os
import tempfile
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("numpy")

from devfix.verify import Run, run
from devfix.verify.outputs import Difference, differences

from ..scripts import project
from .programs import NEEDS, REPORTS, SPOILT_EVALUATION, SPOILT_REPORTS, script, spoilt

ALL = "DEVFIX_ALL_OUTPUTS" in os.environ

SPOILT = [*((report, edit) for report in REPORTS for edit in SPOILT_EVALUATION), *SPOILT_REPORTS]

_SAMPLE = ("prints", "best-and-last", "wandb-like", "rotating-checkpoints", "yaml-and-source")
_SPOILT_SAMPLE = [
    ("csv", "swallowed"),
    ("dated-folder", "in-training-mode"),
    ("ema", "zeroed"),
    ("ema", "not-averaged"),
]


def made(source: str, device: str) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        done = run("train.py", cwd=project(Path(folder), source), device=device)
    assert done.ok, done.output
    return done


@lru_cache(maxsize=2)
def reference(report: str) -> tuple[Run, Run]:
    if report in NEEDS and find_spec(NEEDS[report]) is None:
        pytest.skip(f"needs {NEEDS[report]}")
    return made(script(report), "cpu"), made(script(report), "cpu")


def compared(report: str, source: str) -> tuple[Difference, ...]:
    theirs, again = reference(report)
    ours = made(source, "sim")
    return differences(ours.outputs, theirs.outputs, again.outputs, True)


@pytest.mark.sample(2)
@pytest.mark.parametrize("report", REPORTS if ALL else _SAMPLE)
def test_a_right_script_produces_the_same_on_the_accelerator(report):
    assert compared(report, "# a line that a patch adds\n" + script(report)) == ()


@pytest.mark.parametrize(("report", "edit"), SPOILT if ALL else _SPOILT_SAMPLE)
def test_what_a_loss_does_not_show_is_a_difference(report, edit):
    missed = [difference for difference in compared(report, spoilt(report, edit)) if difference.theirs is not None]

    assert missed
