"""Losses that leave their tolerance on a real device are computed once more in float64, and then it is decided."""

from __future__ import annotations

import importlib
from array import array
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import numpy
import torch
from torch import nn

from devfix.verify import Verdict, prove, run
from devfix.verify.loss_comparison import agree, in_float64, match, same_direction, step_of, tolerance
from devfix.verify.probe.float64 import Float64Mode
from devfix.verify.records import Failure, Run

from .scripts import FIXED, edited, project

#: A stand-in for an accelerator: what makes a real device comparable is switched on, and nothing else tells it apart.
#: A variable tells it apart as well, because a run on a real device needs a process that imports torch again.
DOUBLE = """\
import os, torch
there = torch.are_deterministic_algorithms_enabled() or "DOUBLE" in os.environ
wide = torch.ones(1).dtype == torch.float64
if there and {broken}:
    raise RuntimeError("Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!")
noise = ({narrow} if not wide else {wide}) if there else 0.0
"""


#: Steps so small that the losses do not tell which way they go.
SLOW = edited("lr=1e-2", "lr=1e-7")


def losses(*values: float, device: str = "cuda", **more: Any) -> Run:
    return Run(device, losses=values, steps=len(values), parameters=4, digest=str(values), **more)


def program(broken: bool, narrow: float, wide: float, training: str = FIXED) -> str:
    shaken = edited("head(model(x)), y)", "head(model(x)), y) * (1 + noise)", training)
    here = edited('"cuda" if torch.cuda.is_available() else "cpu"', '"cpu"', shaken)
    return DOUBLE.format(broken=broken, narrow=narrow, wide=wide) + here


def run_on_double(script: str, args: Sequence[str], device: str, *rest: Any, **more: Any) -> Run:
    """Make a run on the device as one on the CPU that is told apart."""
    if device != "cuda":
        return run(script, args, device, *rest, **more)
    found = run(script, args, "cpu", *rest, **(more | {"env": {"DOUBLE": ""}, "setup_device": "cpu"}))
    return replace(found, device="cuda")


Proved = Callable[..., Verdict]


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the runs on the device without processes that import torch again."""
    monkeypatch.setattr(importlib.import_module("devfix.verify.proof"), "run", run_on_double)


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> Proved:
    """Prove a training with some noise; the original has none where it runs, and its runs are made once."""
    known: dict[str, dict[str, Run]] = {}

    def prove_it(narrow: float, wide: float, training: str = FIXED, change: tuple[str, str] = ("", "")) -> Verdict:
        folder = tmp_path_factory.mktemp("proved")
        changed = edited(*change, training) if change[0] else training
        found = prove(
            project(folder / "a", program(True, narrow, wide, training)),
            project(folder / "b", program(False, narrow, wide, changed)),
            "train.py",
            run_on="cuda",
            known=known.get(training),
        )
        originals = {name: each for name, each in found.runs.items() if name.startswith("original/")}
        known[training] = known.get(training, {}) | originals
        return found

    return prove_it


# --- the whole way: once as on a real device -------------------------------------------------------------------------
@pytest.mark.usefixtures("cheap")
def test_what_is_within_the_tolerance_needs_no_second_look(proved: Proved) -> None:
    found = proved(1e-6, 0.0)

    assert (found.status, found.reference) == ("fixed", "original/cpu"), found.reason
    assert not [name for name in found.runs if "float64" in name]


@pytest.mark.thorough
def test_a_difference_that_float64_takes_away_was_rounding(proved: Proved) -> None:
    found = proved(1e-3, 1e-9)

    assert found.status == "fixed", found.reason
    assert (
        "match original/cpu in float64, relative difference at most 1e-06 (in float32 rounding errors" in found.reason
    )
    assert found.runs["patched/device in float64"].losses != found.runs["patched/device"].losses
    assert found.runs["original/cpu in float64"].device == "cpu"


@pytest.mark.usefixtures("cheap")
def test_a_difference_that_float64_shows_too_is_refused(proved: Proved) -> None:
    found = proved(1e-3, 1e-3)

    assert found.status == "loss-differs"
    assert found.reason.startswith("the losses differ from original/cpu from loss 1 on: ")
    assert "in float64 the losses also differ, from loss 1 on" in found.reason


@pytest.mark.usefixtures("cheap")
def test_a_script_that_insists_on_an_accelerator_is_held_to_the_run_without_checks(tmp_path: Path) -> None:
    """The tolerance of a real device must not hide a change that the simulator shows bit for bit."""
    insists = "if not (torch.cuda.is_available() or there):\n    raise SystemExit(1)\n"
    original = program(True, 1e-6, 0.0).replace("noise =", insists + "noise =", 1)
    wrong = edited("lr=1e-2", "lr=1.0001e-2", original).replace("if there and True", "if there and False")

    found = prove(project(tmp_path / "a", original), project(tmp_path / "b", wrong), "train.py", run_on="cuda")

    assert (found.status, found.reference) == ("loss-differs", "original/unchecked"), found.reason
    assert agree(found.runs["patched/device"], found.runs["original/unchecked"])  # the device alone would not tell


@pytest.mark.usefixtures("cheap")
def test_a_way_that_float64_brings_back_was_rounding(proved: Proved) -> None:
    """A gradient that is nothing but rounding goes anywhere, and Adam goes as far with it as with any other."""
    drifting = "    if there and not wide: model[0].weight.grad.neg_()\n    optimizer.step()"
    found = proved(0.0, 0.0, SLOW, ("    optimizer.step()", drifting))

    assert not same_direction(found.runs["patched/device"], found.runs["original/cpu"])
    assert found.status == "fixed", found.reason
    assert "match original/cpu, and in float64 the parameter updates match" in found.reason


@pytest.mark.usefixtures("cheap")
def test_another_way_of_the_parameters_is_refused_though_the_losses_agree(proved: Proved) -> None:
    turned = "    if there: model[0].weight.grad.neg_()\n    optimizer.step()"
    found = proved(0.0, 0.0, SLOW, ("    optimizer.step()", turned))

    assert found.status == "loss-differs"
    assert (
        "although the recorded losses do not: the parameter updates differ: the cosine similarity of the"
        in found.reason
    )
    assert "in float64 the parameter updates also differ" in found.reason


# --- float64 ----------------------------------------------------------------------------------------------------------
def trained() -> list[float]:
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 6))
    words, recurrent = nn.Embedding(9, 6), nn.LSTM(6, 6, 2, dropout=0.4, batch_first=True)
    attention = nn.TransformerEncoderLayer(6, 2, 8, batch_first=True)
    parameters = [p for part in (model, words, recurrent, attention) for p in part.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=1e-3)
    fixed = torch.from_numpy(numpy.linspace(-1, 1, 60, dtype=numpy.float32).reshape(10, 6))
    numbers, classes = torch.randint(9, (10, 4)), torch.tensor([0, 1, 2, 3, 4, 5, 0, 1, 2, 3])
    found = []
    for _ in range(4):
        x = (fixed + torch.randn(10, 6)).half().float() + recurrent(words(numbers))[0][:, -1]
        loss = nn.functional.cross_entropy(model(x + attention(words(numbers)).mean(1)), classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
        assert model[0].weight.grad is not None
        assert model[0].weight.grad.dtype == loss.dtype == x.dtype == model[0].weight.dtype
    return found


@pytest.mark.thorough
def test_float64_is_the_same_training_with_other_rounding() -> None:
    narrow = trained()
    with Float64Mode():
        wide = trained()
        assert torch.ones(2, dtype=torch.bfloat16).dtype == torch.float64

    assert narrow != wide
    assert narrow == pytest.approx(wide, rel=1e-3)  # one rounding to half precision on the way is left out


def test_what_is_no_floating_point_stays_what_it_is() -> None:
    with Float64Mode():
        assert torch.arange(3).dtype == torch.tensor([1]).dtype == torch.int64
        assert (torch.ones(2) > 0).dtype == torch.bool
        buffer = torch.from_numpy(numpy.zeros(3, dtype=numpy.float32))
        buffer.view(3, 1)[0] = 2.0

    assert buffer[0] == 2.0  # a view of what came from outside still is one


def test_a_run_in_float64_says_so(tmp_path: Path) -> None:
    folder = project(tmp_path, FIXED)
    narrow, wide = run("train.py", [], "cpu", folder), run("train.py", [], "cpu", folder, float64=True)

    assert wide.ok, wide.outcome
    assert narrow.losses == pytest.approx(wide.losses, rel=1e-6)
    assert narrow.losses != wide.losses


# --- the decision -----------------------------------------------------------------------------------------------------
def decided(one: Run, other: Run, wide: Run, wide_other: Run) -> tuple[bool, str]:
    names = ("patched/device", "original/cpu", in_float64("patched/device"), in_float64("original/cpu"))
    return match(dict(zip(names, (one, other, wide, wide_other), strict=True)), "patched/device", "original/cpu")


LONG = [1.0 - 0.01 * step for step in range(40)]
CPU = losses(*LONG, device="cpu")


def drifted(by: float, since: int = 30, **more: Any) -> Run:
    return losses(*(loss + (by if at >= since else 0.0) for at, loss in enumerate(LONG)), **more)


def test_a_run_as_close_to_float64_as_its_reference_is_accepted() -> None:
    """The rule of PyTorch's benchmarks, where float64 drifts apart as well."""
    good, words = decided(drifted(0.004), CPU, drifted(-0.002), drifted(0.002, device="cpu"))

    assert good, words
    assert "are as close to float64 as original/cpu (RMS error 0.001, reference 0.001" in words


@pytest.mark.parametrize("by", [0.02, 0.1, float("nan"), float("inf")])
def test_a_run_further_from_float64_than_three_times_its_reference_is_refused(by: float) -> None:
    good, words = decided(drifted(by), CPU, drifted(by), drifted(0.002, device="cpu"))

    assert not good
    assert "in float64 the losses also differ, from loss 31 on" in words


def test_float64_that_is_another_training_excuses_nothing() -> None:
    """A reference that is far from float64 from the start would accept anything."""
    good, words = decided(drifted(0.3, 0), CPU, drifted(0.3, 0), drifted(0.5, 0, device="cpu"))

    assert (good, "original/cpu trains differently there" in words) == (False, True)


def test_another_number_of_losses_or_steps_needs_no_second_look() -> None:
    shorter = losses(*LONG[:-1])

    assert decided(shorter, CPU, CPU, CPU) == (False, "")
    assert not decided(drifted(0.1), CPU, shorter, CPU)[0]
    died = Run("cuda", failure=Failure("TypeError", "no", None, None, None, None, ""))
    text = decided(drifted(0.1), CPU, died, CPU)[1]
    assert "the patched script failed when repeated in float64: TypeError: no" in text


def way(*numbers: float) -> str:
    return b64encode(array("f", numbers).tobytes()).decode()


@pytest.mark.parametrize(
    ("ours", "theirs", "good"),
    [
        pytest.param((1.0, 2.0, 3.0), (1.0, 2.0, 3.1), True, id="the same"),
        pytest.param((1.0, 2.0, 3.0), (1.0, 2.0, -3.0), False, id="another"),
        pytest.param((1.0, 2.0, 3.0), (1.0, 2.0), False, id="of other parameters"),
        pytest.param((0.0, 0.0), (0.0, 0.0), True, id="none at all"),
        pytest.param((0.0, 0.0), (1.0, 0.0), False, id="no longer any"),
        pytest.param((float("nan"), 0.0), (1.0, 0.0), False, id="not a number"),
    ],
)
def test_parameters_go_the_same_way_on_a_real_device(
    ours: tuple[float, ...], theirs: tuple[float, ...], good: bool
) -> None:
    assert agree(losses(1.0, update=way(*ours)), losses(1.0, device="cpu", update=way(*theirs))) is good


def test_the_tolerance_counts_steps_and_not_losses() -> None:
    gathered = Run("cuda", losses=tuple(LONG), steps=10)

    assert [step_of(gathered, index) for index in (0, 3, 4, 19, 20, 39)] == [1, 1, 2, 5, 6, 10]
    assert step_of(Run("cuda", losses=(1.0, 2.0), steps=4), 1) == 2
    assert tolerance(5, 1.0) < tolerance(6, 1.0)
