"""The reasons of verdicts: what happened, what was compared, and what to do; from runs that nobody had to make."""

from __future__ import annotations

from typing import Any

import pytest

from devfix.verify.outputs import Outputs
from devfix.verify.records import Failure, Phase, Run
from devfix.verify.verdict import Verdict, judge

NAMES = ("original/cpu", "original/device", "original/unchecked", "patched/cpu", "patched/device")
DEVICES = {"cpu": "cpu", "device": "sim", "unchecked": "unchecked"}
TRAINED: dict[str, Any] = {
    "losses": (0.9, 0.8, 0.7, 0.6),
    "steps": 4,
    "changed": 2,
    "digest": "a",
    "device_operations": 80,
    "all_operations": 100,
}


def judged(common: dict[str, Any], **changes: dict[str, Any]) -> Verdict:
    """Return the verdict on five runs with common fields, and changes by the run's name (``original_cpu``)."""
    return judge(
        {
            name: Run(DEVICES[name.split("/")[1]], **{**common, **changes.get(name.replace("/", "_"), {})})
            for name in NAMES
        }
    )


def raised(error: str, text: str) -> dict[str, Any]:
    return {"failure": Failure(error, text, None, "train.py", 10, None, "")}


def test_a_failure_on_the_device_that_the_original_has_as_well_is_not_the_patchs() -> None:
    failed = raised("OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.00 GiB")

    found = judged(TRAINED, original_device=failed, original_unchecked=failed, patched_device=failed)

    assert (found.status, found.reason) == (
        "inconclusive",
        (
            "the original fails in the same way: OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB at "
            "train.py:10"
        ),
    )
    other = raised("KeyError", "'lr'")
    assert judged(TRAINED, original_device=failed, patched_device=other).status == "broken"


@pytest.mark.parametrize(
    ("there", "reference"),
    [
        pytest.param((0.9, 0.80000005, 0.7, 0.6), "original/cpu", id="rounding"),
        pytest.param((0.9, 0.80001, 0.7, 0.6), "original/unchecked", id="precision"),
        pytest.param((0.9, 0.8, 0.7), "original/unchecked", id="length"),
    ],
)
def test_a_script_that_trains_differently_on_an_accelerator_is_held_to_that(
    there: tuple[float, ...], reference: str
) -> None:
    failed = raised(
        "RuntimeError", "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
    )

    found = judged(TRAINED, original_device=failed, original_unchecked={"losses": there, "digest": "b"})

    assert found.status == ("fixed" if reference == "original/cpu" else "loss-differs"), found.reason
    assert found.reference == reference


@pytest.mark.parametrize(
    ("stopped", "ending"),
    [
        ("time", "stopped by the time limit (raise the limit with --timeout)"),
        (
            "it used more than 512 MB of memory",
            "stopped because it used more than 512 MB of memory (raise the limit with --memory)",
        ),
        (
            "it wrote more than 100 MB to disk",
            "stopped because it wrote more than 100 MB to disk (raise the limit with --disk)",
        ),
    ],
)
def test_a_limit_that_stopped_a_run_is_named_with_its_option(stopped: str, ending: str) -> None:
    found = judged(TRAINED, original_cpu={"stopped": stopped})

    assert (found.status, found.reason) == ("inconclusive", f"original/cpu was {ending}")


def test_nothing_to_compare_is_not_called_training() -> None:
    assert judged({}).reason == (
        "the original runs without a device error, but nothing runs on the accelerator; nothing was compared, because "
        "there is no training and no output"
    )


def test_outputs_alone_are_not_called_training() -> None:
    assert judged({"outputs": Outputs(("hello",))}).reason == (
        "the original runs without a device error, but nothing runs on the accelerator; there is no training, and the "
        "outputs match: printed output (1 line)"
    )


def test_a_script_that_trains_on_the_cpu_only_is_told() -> None:
    assert judged({**TRAINED, "device_operations": 0}).reason == (
        "the original runs without a device error, but nothing runs on the accelerator; the patched script trains "
        "identically: 4 losses, 4 optimizer steps"
    )
    assert judged(TRAINED).reason.startswith("the original runs on the accelerator; the patched script trains")


FORWARD = {"work": {"forward": (800, 0)}, "phases": (Phase(True, True, 4, 32),)}


def test_a_patch_that_drops_an_epoch_moves_nothing_to_the_cpu() -> None:
    shorter = {
        "work": {"forward": (600, 0)},
        "phases": (Phase(True, True, 3, 24),),
        "losses": (0.9, 0.8, 0.7),
        "steps": 3,
    }

    found = judged({**TRAINED, **FORWARD}, patched_cpu=shorter, patched_device=shorter)

    assert (found.status, found.reason) == ("loss-differs", "3 losses instead of 4 in original/cpu")


def test_work_that_leaves_pytorch_is_told() -> None:
    found = judged({**TRAINED, **FORWARD}, patched_device={"work": {"forward": (640, 0)}})

    assert (found.status, found.reason) == (
        "moved-to-cpu",
        "the forward pass does 640 operations in PyTorch instead of 800",
    )


def test_an_evaluation_that_is_missing_is_told() -> None:
    training, evaluation = Phase(True, True, 4, 32), Phase(False, False, 1, 6)

    found = judged({**TRAINED, "phases": (training, evaluation)}, patched_device={"phases": (training,)})

    assert (found.status, found.reason) == (
        "output-differs",
        (
            "the losses match original/device, but the evaluation is missing: the run without device checks has 1 call "
            "of modules in evaluation mode without gradients (6 samples)"
        ),
    )


def test_one_call_is_singular() -> None:
    training, evaluation = Phase(True, True, 4, 32), Phase(False, False, 1, 6)
    inverted = (Phase(True, False, 1, 6), Phase(False, False, 2, 6))

    found = judged({**TRAINED, "phases": (training, evaluation)}, patched_device={"phases": (training, *inverted)})

    assert "there is 1 call of modules in training mode without gradients (6 samples) where" in found.reason


def test_equal_losses_are_no_contradiction_to_loss_differs() -> None:
    found = judged(TRAINED, patched_device={"digest": "b", "module_states": ()})

    assert (found.status, found.reason) == (
        "loss-differs",
        "the training differs from original/device, although the recorded losses do not: the final parameters differ",
    )
