"""What makes a real device comparable, as far as a machine without one can show."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from devfix.simulator import Simulator, WorkLedger, work_done
from devfix.verify import Verdict, judge, run
from devfix.verify.loss_comparison import agree, first_disagreement, tolerance
from devfix.verify.probe import accelerator
from devfix.verify.probe.accelerator import CpuRandomMode
from devfix.verify.records import Failure, Run
from devfix.verify.verdict import VERDICTS

from .draws import drawn
from .scripts import FIXED, project


def test_drawing_on_the_cpu_gives_the_numbers_of_the_cpu() -> None:
    plain = drawn("cpu")
    with CpuRandomMode("cpu", WorkLedger()):
        found = drawn("cpu")

    assert plain.keys() == found.keys()
    assert [name for name, value in plain.items() if not torch.equal(value, found[name])] == []


def test_draws_on_a_device_take_from_the_cpus_stream() -> None:
    def program(device: str) -> object:
        torch.manual_seed(5)
        nn.Linear(4, 4, device=device)
        torch.randn(3, 4, device=device)
        torch.rand(7, device="cpu")
        torch.empty(3, device=device).normal_()
        torch.rand_like(torch.empty(5, device=device))
        return torch.rand(3)

    with CpuRandomMode("meta", WorkLedger()):
        found = program("meta")

    assert torch.equal(found, program("cpu"))


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 1.0])
def test_the_kernel_for_dropout_of_accelerators_is_replaced_by_that_of_the_cpu(p: float) -> None:
    x = torch.randn(6, 5, requires_grad=True)
    torch.manual_seed(2)
    expected = nn.functional.dropout(x, p)
    (slope,) = torch.autograd.grad(expected.sum(), x)
    torch.manual_seed(2)
    with CpuRandomMode("cpu", WorkLedger()):
        found, mask = torch.native_dropout(x, p, True)
        (other_slope,) = torch.autograd.grad(found.sum(), x)

    assert torch.equal(found, expected)
    assert torch.allclose(other_slope, slope)
    assert mask.dtype == torch.bool


def test_work_and_precision_are_noted() -> None:
    with CpuRandomMode("meta", WorkLedger()) as here:
        x = torch.ones(2, 2, device="meta")
        (x @ x).bfloat16()
        torch.ones(3) + 1

    assert 3 <= here.ledger.device_operations < here.ledger.all_operations
    assert here.precision == "bfloat16"


@pytest.mark.parametrize(("p", "remembered"), [(0.0, []), (0.5, ["_scaled_dot_product_flash_attention"])])
def test_attention_that_draws_by_itself_is_remembered(p: float, remembered: list[str]) -> None:
    name = "_scaled_dot_product_flash_attention"
    if not torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", "Meta"):
        pytest.skip(f"this PyTorch cannot run {name} on meta tensors")
    q = torch.randn(1, 2, 4, 8, device="meta")
    with CpuRandomMode("meta", WorkLedger()) as here:
        torch.ops.aten._scaled_dot_product_flash_attention(q, q, q, p)

    assert here.unmatched == remembered


@pytest.fixture
def settled() -> Iterator[None]:
    """What a run on a real device is set to, in this process, and everything as it was afterwards."""
    kept = {name: getattr(torch._VF, name) for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")}
    switches = [getattr(torch.backends.cuda, f"{name}_sdp_enabled")() for name in ("flash", "mem_efficient", "cudnn")]
    before = torch.backends.cudnn.deterministic, torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32
    accelerator.make_deterministic()
    yield
    torch.use_deterministic_algorithms(False)
    torch.backends.cudnn.deterministic, torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32 = before
    for name, enabled in zip(("flash", "mem_efficient", "cudnn"), switches, strict=True):
        getattr(torch.backends.cuda, f"enable_{name}_sdp")(enabled)
    for name, value in kept.items():
        setattr(torch._VF, name, value)


@pytest.mark.usefixtures("settled")
def test_a_real_device_is_settled() -> None:
    assert not torch.backends.cuda.matmul.allow_tf32
    assert not torch.backends.cudnn.allow_tf32
    assert (torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic) == (False, True)
    assert torch.are_deterministic_algorithms_enabled()
    assert torch.is_deterministic_algorithms_warn_only_enabled()
    assert torch.backends.cuda.math_sdp_enabled()
    assert not torch.backends.cuda.flash_sdp_enabled()
    assert not torch.backends.cuda.mem_efficient_sdp_enabled()


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize(("dropout", "enabled"), [(0.4, False), (0.0, True)])
def test_dropout_between_recurrent_layers_is_left_to_operators_that_are_seen(
    kind: type[nn.Module], dropout: float, enabled: bool
) -> None:
    layer: Any = kind(4, 4, 2, dropout=dropout)
    name = {"RNN": "rnn_tanh"}.get(kind.__name__, kind.__name__.lower())
    seen = []
    real = getattr(torch._C._VariableFunctions, name)

    def watched(*args: object) -> object:
        seen.append(torch.backends.cudnn.enabled)
        return real(*args)

    setattr(torch._VF, name, accelerator._without_cudnn(watched))
    x = torch.randn(5, 3, 4)
    torch.manual_seed(1)
    expected = real(x, *_states(layer), *_settings(layer))[0]
    torch.manual_seed(1)
    with CpuRandomMode("cpu", WorkLedger()):
        found, _ = layer(x)
        layer(nn.utils.rnn.pack_padded_sequence(x, torch.tensor([5, 4, 2])))

    assert torch.equal(found, expected)
    assert seen == [enabled, enabled]
    assert torch.backends.cudnn.enabled


def _states(layer: Any) -> tuple[object, object]:
    zeros = torch.zeros(2, 3, 4)
    return ((zeros, zeros) if layer.mode == "LSTM" else zeros), layer._flat_weights


def _settings(layer: Any) -> tuple[object, ...]:
    return True, 2, layer.dropout, True, False, False


# --- the run, in a fresh interpreter ----------------------------------------------------------------------------------
def test_a_run_on_a_real_device_keeps_every_promise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "hunter2")
    source = "import os, sys\nassert 'hunter2' not in str(os.environ)\nprint(sys.argv, os.getpgid(0) == os.getpid())\n"
    folder = project(tmp_path / "project", source + FIXED)

    found = run("train.py", ["--lr", "1"], "cuda", folder)

    assert found.ok, found.output
    assert "['train.py', '--lr', '1'] True" in found.output
    assert (found.device, len(found.losses), found.steps) == ("cuda", 4, 4)
    assert found.offline == run("train.py", [], "cpu", folder).offline
    assert found.all_operations > 0


@pytest.mark.thorough
def test_a_run_on_a_real_device_that_hangs_is_stopped(tmp_path: Path) -> None:
    started = time.monotonic()
    found = run("train.py", [], "cuda", project(tmp_path, "import time\ntime.sleep(600)\n"), timeout=8.0)

    assert (found.timed_out, time.monotonic() - started < 40) == (True, True)


# --- tolerance --------------------------------------------------------------------------------------------------------
def losses(*values: float, device: str = "cuda", **more: Any) -> Run:
    return Run(device, losses=values, steps=len(values), parameters=4, digest=str(values), **more)


def test_the_tolerance_grows_with_the_steps_and_with_low_precision() -> None:
    assert tolerance(1, 1.0) == tolerance(5, -1.0) == pytest.approx(1.1e-4)
    assert tolerance(6, 1.0) == tolerance(20, 1.0) == tolerance(500, 1.0) == pytest.approx(1.01e-3)
    assert tolerance(1, 1.0, "bfloat16") == pytest.approx(1.601e-2)


def test_runs_on_a_real_device_agree_within_the_tolerance_and_others_bit_for_bit() -> None:
    here = losses(1.0, 0.5, device="cpu")

    assert agree(losses(1.00005, 0.50004), here)
    assert first_disagreement(losses(1.0, 0.5002), here) == 1
    assert agree(losses(1.0, 0.5002, precision="float16"), here)
    assert first_disagreement(losses(1.0), here) == 1
    assert first_disagreement(losses(1.0, float("nan")), here) == 1
    assert not agree(losses(1.0, 0.5 + 1e-12, device="sim"), here)


#: Work on the accelerator and elsewhere of a run as it should be.
WORK = {"forward": (100, 0), "backward": (200, 0), "evaluation": (60, 0), "update": (50, 0), "other": (20, 30)}

BACKWARD = {"mm": (8, 0), "nll_loss_backward": (4, 0)}


def verdict(**changed: Run) -> Verdict:
    """The verdict on a repaired script on a real device; ``changed`` replaces runs by name."""
    values = (1.0, 0.9, 0.8, 0.7)
    died = Failure("RuntimeError", "two devices", "same-device", "train.py", 3, "", "")
    work = {"work": WORK}
    runs = {
        "original/cpu": losses(*values, device="cpu"),
        "original/device": Run("cuda", failure=died),
        "original/unchecked": losses(*values, device="unchecked", **work),
        "patched/cpu": losses(*values, device="cpu"),
        "patched/device": losses(*(value + 1e-5 for value in values), **work),
    }
    found = judge(runs | {name.replace("_", "/"): each for name, each in changed.items()})
    assert found.status in VERDICTS
    return found


def test_a_repair_is_fixed_on_a_real_device_within_the_tolerance() -> None:
    found = verdict()

    assert (found.status, found.reference) == ("fixed", "original/cpu")
    assert "match original/cpu (computed in float32; largest difference 1e-05)" in found.reason


def test_a_tolerance_does_not_hide_what_the_cpu_shows() -> None:
    assert verdict(patched_cpu=losses(1.0, 0.9, 0.8, 0.70001, device="cpu")).status == "loss-differs"


@pytest.mark.parametrize(
    ("work", "status"),
    [
        ({"other": (0, 900)}, "fixed"),  # metrics and batches may be anywhere
        ({"update": (48, 2)}, "fixed"),
        ({"update": (40, 10)}, "moved-to-cpu"),  # an average of the parameters on the CPU
        ({"forward": (98, 2)}, "fixed"),
        ({"forward": (80, 20)}, "moved-to-cpu"),
        ({"forward": (100, 100)}, "moved-to-cpu"),  # as much as before on the accelerator, and a copy on the CPU
        ({"backward": (0, 200)}, "moved-to-cpu"),
        ({"evaluation": (0, 60)}, "moved-to-cpu"),
        ({"update": (0, 50)}, "moved-to-cpu"),
    ],
)
def test_the_model_is_to_stay_on_the_accelerator(work: dict[str, tuple[int, int]], status: str) -> None:
    assert verdict(patched_device=losses(1.0, 0.9, 0.8, 0.7, work=WORK | work)).status == status


def test_a_small_operator_of_the_backward_pass_is_to_stay_on_the_accelerator() -> None:
    found = verdict(
        original_unchecked=losses(1.0, 0.9, 0.8, 0.7, device="unchecked", work=WORK, backward=BACKWARD),
        patched_device=losses(1.0, 0.9, 0.8, 0.7, work=WORK, backward=BACKWARD | {"nll_loss_backward": (0, 4)}),
    )

    assert found.status == "moved-to-cpu"
    assert found.reason == "the backward pass of nll_loss runs on the CPU instead of on the accelerator"


@pytest.mark.parametrize(
    ("calls", "status"),
    [
        ((9, 0), "fixed"),
        ((8, 1), "fixed"),  # a result, once
        ((5, 4), "moved-to-cpu"),  # a part of each step
        ((9, 4), "fixed"),  # an addition of the patch
    ],
)
def test_a_small_update_at_every_step_is_to_stay_on_the_accelerator(calls: tuple[int, int], status: str) -> None:
    found = verdict(
        original_unchecked=losses(
            1.0, 0.9, 0.8, 0.7, device="unchecked", work=WORK, updates={"mul": (9, 0), "add_": (40, 0)}
        ),
        patched_device=losses(1.0, 0.9, 0.8, 0.7, work=WORK, updates={"mul": calls, "add_": (40, 0)}),
    )

    assert found.status == status
    if status != "fixed":
        assert "the number of calls of mul there is 4 more than in the original" in found.reason


def test_every_operation_counts_in_a_script_without_a_model() -> None:
    meant = {"device_operations": 60, "all_operations": 100}
    unchecked = losses(1.0, 0.9, 0.8, 0.7, device="unchecked", **meant)
    stays, leaves = (losses(1.0, 0.9, 0.8, 0.7, device_operations=n, all_operations=100) for n in (60, 50))

    assert verdict(original_unchecked=unchecked, patched_device=stays).status == "fixed"
    assert verdict(original_unchecked=unchecked, patched_device=leaves).status == "moved-to-cpu"


def test_the_simulator_and_a_real_device_count_alike() -> None:
    def train(model: nn.Module, device: str) -> None:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=False)
        loss = nn.functional.cross_entropy(model(torch.rand(5, 4, device=device)), torch.ones(5, device=device).long())
        loss.backward()
        optimizer.step()

    def made() -> nn.Module:
        return nn.Sequential(nn.Linear(4, 3), nn.LayerNorm(3), nn.ReLU(), nn.Linear(3, 2))

    with CpuRandomMode("cpu", WorkLedger()) as real:
        model = made()
        before = copy.deepcopy(real.ledger.work)
        train(model, "cpu")
        counted = {phase: sum(both) - sum(before[phase]) for phase, both in real.ledger.work.items()}
    with Simulator():
        model = made().to("cuda")
        moved = copy.deepcopy(work_done()["work"])
        train(model, "cuda")
        simulated = {
            phase: [a - b for a, b in zip(both, moved[phase], strict=True)]
            for phase, both in work_done()["work"].items()
        }

    for one in (counted, sums := {phase: sum(both) for phase, both in simulated.items()}):
        one["other"] += one.pop("update")  # the simulator knows gradients, which are no parameters
    assert sums == counted
    assert all(simulated[phase][0] > simulated[phase][1] == 0 for phase in ("forward", "backward", "update"))


def test_layers_under_inference_mode_are_evaluation_on_both_devices() -> None:
    def evaluate(device: str) -> None:
        convolution, norm = nn.Conv2d(2, 4, 3).to(device), nn.BatchNorm2d(4).to(device).eval()
        images = torch.rand(3, 2, 8, 8, device=device)
        with torch.inference_mode():
            flat = norm(convolution(images)).flatten(1)
            torch.einsum("id,jd->ij", flat, flat) + flat @ flat.T + torch.cdist(flat, flat)

    with CpuRandomMode("cpu", WorkLedger()) as real:
        evaluate("cpu")
    with Simulator():
        evaluate("cuda")
        simulated = work_done()["work"]["evaluation"]

    convolved, products = 2 * 3 * 4 * 36 * 2 * 9, 3 * (2 * 9 * 4 * 36)
    assert real.ledger.work["evaluation"] == simulated == [convolved + 3 * 4 * 36 + products, 0]


def test_products_outside_of_a_phase_are_evaluation() -> None:
    with Simulator():
        queries = torch.rand(5, 4, device="cuda")
        torch.linalg.inv(queries.T @ queries)
        torch.fft.rfft(queries.cpu())
        on, off = work_done()["work"]["evaluation"]

    assert (on, off) == (2 * 16 * 5 + 16 * 4, 5 * 20 * 2)


def test_wrong_repairs_are_refused_on_a_real_device() -> None:
    work = {"work": WORK}
    moved = losses(1.0, 0.9, 0.8, 0.7, work=WORK | {"forward": (0, 100)})
    died = Run("cuda", failure=Failure("NameError", "x", None, None, None, None, ""))

    assert verdict(patched_device=losses(1.0, 0.9, 0.8, 0.71, **work)).status == "loss-differs"
    assert verdict(patched_device=moved).status == "moved-to-cpu"
    assert verdict(patched_device=died).status == "broken"
    assert verdict(patched_device=losses(1.0, 0.9, 0.8, 0.7, unsupported=("x",), **work)).status == "inconclusive"
