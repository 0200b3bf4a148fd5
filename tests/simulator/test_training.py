"""Training loops on the simulated device give the numbers of the CPU, bit for bit."""

from __future__ import annotations

import copy
import inspect
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # everybody calls it so

from devfix.simulator import Simulator, unsupported_used
from devfix.simulator.install import work_done

Losses = list[float]


def _train(
    model: nn.Module, inputs: torch.Tensor, targets: torch.Tensor, device: str, make: Callable[..., Any], **options: Any
) -> Losses:
    model.to(device)
    optimizer = make(model.parameters(), **options)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        out = model(inputs.to(device))
        loss = F.cross_entropy(out.flatten(0, -2), targets.to(device).flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.lstm, self.head = (
            nn.Embedding(7, 8),
            nn.LSTM(8, 8, 2, dropout=0.1, batch_first=True),
            nn.Linear(8, 7),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(self.embed(x))[0])


class Attentive(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(7, 8)
        self.register_buffer("position", torch.randn(1, 5, 8))
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.encoder, self.head = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False), nn.Linear(8, 7)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        causal = nn.Transformer.generate_square_subsequent_mask(x.shape[1], device=x.device)
        return self.head(self.encoder(self.embed(x) + self.position, mask=causal, is_causal=True))


def _recurrent() -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    return Recurrent(), torch.randint(7, (3, 5)), torch.randint(7, (3, 5))


def _attentive() -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    return Attentive(), torch.randint(7, (3, 5)), torch.randint(7, (3, 5))


def _convolutional() -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Dropout2d(0.2),
        nn.Flatten(),
        nn.Linear(36, 3),
    )
    return model, torch.randn(4, 1, 8, 8), torch.randint(3, (4,))


@pytest.mark.parametrize("make", [_recurrent, _attentive, _convolutional])
def test_models_train_as_on_the_cpu(make: Callable[[], Any]) -> None:
    def once(device: str) -> Losses:
        torch.manual_seed(0)
        return _train(*make(), device, torch.optim.SGD, lr=0.1, momentum=0.9)

    expected = once("cpu")
    with Simulator(shared_random=True):
        assert once("cuda") == expected


OPTIMIZERS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "SGD": (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    "Adam": (torch.optim.Adam, {"weight_decay": 0.01}),
    "AdamW amsgrad": (torch.optim.AdamW, {"amsgrad": True}),
    "NAdam": (torch.optim.NAdam, {}),
    "RAdam": (torch.optim.RAdam, {}),
    "Adamax": (torch.optim.Adamax, {}),
    "Adagrad": (torch.optim.Adagrad, {}),
    "Adadelta": (torch.optim.Adadelta, {}),
    "RMSprop": (torch.optim.RMSprop, {"momentum": 0.9, "centered": True}),
    "Rprop": (torch.optim.Rprop, {}),
    "ASGD": (torch.optim.ASGD, {}),
    "Adam, fused": (torch.optim.Adam, {"fused": True}),
    "AdamW, fused": (torch.optim.AdamW, {"fused": True}),
    "SGD, fused": (torch.optim.SGD, {"lr": 0.1, "fused": True}),
    "Adagrad, fused": (torch.optim.Adagrad, {"fused": True}),
    "Adam, for-loop": (torch.optim.Adam, {"foreach": False}),
    "Adam, tensor learning rate": (torch.optim.Adam, {"lr": torch.tensor(1e-3), "foreach": False}),
}


@pytest.mark.parametrize(
    "make", [lambda: nn.LazyLinear(3), nn.LazyBatchNorm1d, lambda: nn.LazyLinear(3, device="cuda")]
)
def test_a_lazy_module_makes_its_weights_where_it_was_moved(make: Callable[[], nn.Module], sim: Simulator) -> None:
    module = make().cuda()
    assert module(torch.rand(2, 5, device="cuda")).is_cuda
    assert all(value.is_cuda for value in (*module.parameters(), *module.buffers()))
    assert not module.cpu()(torch.rand(2, 5)).is_cuda


def test_a_lazy_module_on_the_accelerator_refuses_an_input_on_the_cpu(sim: Simulator) -> None:
    module = nn.LazyLinear(3).cuda()
    with pytest.raises(RuntimeError, match="same device"):
        module(torch.rand(2, 5))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_step_as_on_the_cpu(name: str) -> None:
    make, options = OPTIMIZERS[name]
    if options.get("fused") and "Not support CUDA yet" in inspect.getsource(make):
        pytest.skip(f"{name}: this PyTorch has it for the CPU only")
    if "foreach" not in options and "fused" not in options:
        options = {**options, "foreach": True}  # the accelerators' default, for the CPU as well

    def once(device: str) -> Losses:
        torch.manual_seed(0)
        return _train(*_convolutional(), device, make, **options)

    expected = once("cpu")
    with Simulator(shared_random=True):
        assert once("cuda") == expected


def test_capturable_state_lives_on_the_accelerator(sim: Simulator) -> None:
    layer = nn.Linear(2, 2).cuda()
    optimizer = torch.optim.Adam(layer.parameters(), capturable=True)
    layer(torch.ones(1, 2, device="cuda")).sum().backward()
    optimizer.step()
    assert optimizer.state[layer.weight]["step"].is_cuda


def test_adagrad_built_before_the_move_fails_at_the_step(sim: Simulator) -> None:
    layer = nn.Linear(2, 2)
    optimizer = torch.optim.Adagrad(layer.parameters())
    layer.cuda()
    layer(torch.ones(1, 2, device="cuda")).sum().backward()
    with pytest.raises(RuntimeError, match="found at least two devices, cuda:0 and cpu!"):
        optimizer.step()


def test_adam_built_before_the_move_works(sim: Simulator) -> None:
    layer = nn.Linear(2, 2)
    optimizer = torch.optim.Adam(layer.parameters())
    layer.cuda()
    layer(torch.ones(1, 2, device="cuda")).sum().backward()
    optimizer.step()
    assert optimizer.state[layer.weight]["exp_avg"].is_cuda
    assert not optimizer.state[layer.weight]["step"].is_cuda


@pytest.mark.parametrize("fused", [False, True])
def test_state_loaded_before_the_move_fails_at_the_step(fused: bool, sim: Simulator) -> None:
    def stepped() -> Any:
        layer = nn.Linear(2, 2)
        optimizer = torch.optim.Adam(layer.parameters())
        layer(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        return optimizer.state_dict()

    layer = nn.Linear(2, 2)
    optimizer = torch.optim.Adam(layer.parameters(), fused=fused)
    optimizer.load_state_dict(stepped())
    layer.cuda()
    layer(torch.ones(1, 2, device="cuda")).sum().backward()
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        optimizer.step()


def test_state_loaded_after_the_move_works(sim: Simulator) -> None:
    layer = nn.Linear(2, 2)
    optimizer = torch.optim.Adam(layer.parameters())
    layer(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    saved = optimizer.state_dict()
    layer.cuda()
    optimizer.load_state_dict(saved)
    layer(torch.ones(1, 2, device="cuda")).sum().backward()
    optimizer.step()


def test_autocast_changes_dtypes_and_scaling_keeps_the_losses(sim: Simulator) -> None:
    torch.manual_seed(0)  # other inputs may overflow at the initial scale
    layer = nn.Linear(4, 4).cuda()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    x = torch.randn(3, 4, device="cuda")
    for _ in range(3):
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            out = layer(x)
            assert out.dtype == torch.float16 and out.is_cuda
            loss = out.float().pow(2).mean()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    assert scaler.is_enabled() and scaler.get_scale() == 65536.0
    assert layer(x).dtype == torch.float32
    with torch.autocast("cuda", enabled=False):
        assert layer(x).dtype == torch.float32
    with (
        torch.cuda.amp.autocast(dtype=torch.bfloat16)
        if hasattr(torch.cuda.amp, "autocast")
        else torch.autocast("cuda", dtype=torch.bfloat16)
    ):
        assert layer(x).dtype == torch.bfloat16


test_autocast_changes_dtypes_and_scaling_keeps_the_losses = pytest.mark.filterwarnings("ignore")(
    test_autocast_changes_dtypes_and_scaling_keeps_the_losses
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", ["nccl", "gloo"])
def test_distributed_training_in_one_process(
    backend: str, sim: Simulator, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch.distributed as distributed
    from torch.nn.parallel import DistributedDataParallel

    if not distributed.is_available():
        pytest.skip("PyTorch was built without torch.distributed")
    distributed.init_process_group(backend, init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        torch.cuda.set_device(0)
        model = DistributedDataParallel(nn.Linear(3, 2).cuda(), device_ids=[0])
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.ones(4, 3)).sum().backward()  # inputs are moved to the device
            optimizer.step()
        total = torch.ones(1, device="cuda")
        distributed.all_reduce(total)
        assert total.is_cuda and model.module.weight.grad.is_cuda
    finally:
        distributed.destroy_process_group()
    assert unsupported_used() == [] and os.environ is not None


@pytest.fixture
def nccl(sim: Simulator, tmp_path: Any) -> Iterator[Any]:
    """A process group of one process that has NCCL alone."""
    import torch.distributed as distributed

    if not distributed.is_available():
        pytest.skip("PyTorch was built without torch.distributed")
    distributed.init_process_group("nccl", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    yield distributed
    distributed.destroy_process_group()


def test_nccl_has_no_backend_for_the_cpu(nccl: Any) -> None:
    there = torch.ones(2, device="cuda")
    nccl.all_reduce(there)
    nccl.all_gather_object([None], {"mean": 1.0})

    for collective in (
        lambda: nccl.all_reduce(torch.ones(2)),
        lambda: nccl.broadcast(tensor=torch.ones(2), src=0),
        lambda: nccl.all_gather([torch.ones(2)], there),
    ):
        with pytest.raises(RuntimeError, match="No backend type associated with device type cpu"):
            collective()


def test_a_module_of_the_cpu_cannot_be_wrapped_for_nccl(nccl: Any) -> None:
    from torch.nn.parallel import DistributedDataParallel

    with pytest.raises(RuntimeError, match="No backend type associated with device type cpu"):
        DistributedDataParallel(nn.Linear(3, 2))
    with pytest.raises(ValueError, match="device_ids and output_device arguments only work with"):
        DistributedDataParallel(nn.Linear(3, 2), device_ids=[0])


def test_an_optimizers_count_of_its_steps_is_no_work() -> None:
    with Simulator():
        count = torch.tensor(0.0)
        count += 1
        count.item()
        before = work_done()
        torch.ones(3, device="cuda") * count
        after = work_done()
    names = ("device_operations", "all_operations")
    assert [after[name] - before[name] for name in names] == [2, 2]


def test_work_is_counted_by_the_phase_of_the_training() -> None:
    """Weighed in floating-point operations of a matrix product, and in elements of everything else."""
    with Simulator():
        x = torch.rand(6, 3)[torch.randperm(6)[:4]].to("cuda")
        (x * 2).mean(0).cpu().numpy()
        model = nn.Linear(3, 2).to("cuda")
        before = copy.deepcopy(work_done()["work"])
        model(x).pow(2).mean().backward()
        with torch.no_grad():
            model(x)
            model.weight.mul_(0.5)
        (model.weight.detach().cpu().abs() + 1).mean(0).tolist()
        after = work_done()
    work = {phase: [a - b for a, b in zip(both, before[phase], strict=True)] for phase, both in after["work"].items()}

    assert [before[phase] for phase in ("forward", "backward", "evaluation")] == [[0, 0]] * 3
    assert work["evaluation"] == [2 * 4 * 3 * 2, 0]
    assert work["update"] == [6, 3 * 6]  # what is computed from parameters is an update, as an average is
    assert work["forward"][0] > work["evaluation"][0]
    assert work["backward"][0] > 2 * 4 * 3 * 2
    assert work["forward"][1] == work["backward"][1] == 0
    assert before["other"][1] > 0
    assert after["backward"]["mm"] == [1, 0]
