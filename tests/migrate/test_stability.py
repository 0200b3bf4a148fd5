"""What a patch promises is checked on the written files; an edit that does not keep it costs only itself."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from devfix import sources
from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.engine.cache import MemoryCache
from devfix.migrate import stability
from devfix.migrate.stability import UnstableError, stable_outcome
from devfix.model import Status

TWO = """\
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 2).to(device)
first = torch.randn(8, 4)
print(model(first))
second = torch.randn(8, 4)
print(model(second))
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Repairs a file with two findings; returns the outcome and the arguments of the check."""
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(TWO)
    files, _ = sources.load(("train.py",))
    scans, settings = MemoryCache(), Settings(root=".")
    outcome = fixpoint.apply(files, settings, cache=scans)
    assert [item.status for item in outcome.resolutions] == [Status.FIXED] * 2
    return outcome, (files, settings, scans)


@pytest.fixture
def still_there(run, monkeypatch):
    """The check finds the first finding again as long as its line is edited."""
    check, first = fixpoint.check, run[0].resolutions[0]

    def checked(files, *given, **options):
        found = check(files, *given, **options)
        if "first = torch.randn(8, 4)\n" in files[0].text:
            return found
        again = replace(first, status=Status.FIXABLE, fix=None)
        return replace(found, resolutions=(again, *found.resolutions))

    monkeypatch.setattr(stability.fixpoint, "check", checked)


def test_a_stable_patch_stays_and_is_not_written(run):
    outcome, given = run

    assert stable_outcome(outcome, *given, may_drop=True) == outcome
    assert Path("train.py").read_text() == TWO


@pytest.mark.usefixtures("still_there")
def test_an_edit_after_which_its_finding_is_still_there_is_dropped_alone(run):
    outcome, given = run

    stable = stable_outcome(outcome, *given, may_drop=True)

    first, second = stable.resolutions
    assert (first.status, second.status) == (Status.NOT_FIXED, Status.FIXED)
    assert "still there" in first.reason
    (change,) = stable.patch.files
    assert change.old == TWO.encode() and b"first = torch.randn(8, 4)\n" in change.new
    assert Path("train.py").read_text() == TWO


@pytest.mark.usefixtures("still_there")
def test_of_a_proved_patch_nothing_is_dropped(run):
    outcome, given = run

    with pytest.raises(UnstableError, match=r"after it, 1 findings remain instead of 0: train\.py:6 "):
        stable_outcome(outcome, *given, may_drop=False)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_cannot_be_written_is_told(run):
    Path("train.py").chmod(0o400)
    Path().chmod(0o500)
    outcome, given = run

    with pytest.raises(UnstableError, match=r"train\.py"):
        stable_outcome(outcome, *given, may_drop=True)
