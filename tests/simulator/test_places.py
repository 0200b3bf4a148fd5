"""Where tensors and modules say they are: conversions, factories, defaults, copies, files."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from devfix.simulator import Simulator


def gpu(*shape: int) -> torch.Tensor:
    return torch.randn(*shape).cuda()


MADE: dict[str, tuple[Callable[[], Any], str]] = {
    "zeros": (lambda: torch.zeros(2, device="cuda"), "cuda:0"),
    "device as index": (lambda: torch.zeros(2, device=0), "cuda:0"),
    "device object": (lambda: torch.empty(2, device=torch.device("cuda", 0)), "cuda:0"),
    "torch.device of an index": (lambda: torch.zeros(2, device=torch.device(0)), "cuda:0"),
    "tensor": (lambda: torch.tensor([1], device="cuda"), "cuda:0"),
    "tensor of cuda numbers": (lambda: torch.tensor([gpu(1)[0]]), "cpu"),
    "tensor of a cuda tensor": (lambda: torch.tensor(gpu(1)), "cuda:0"),
    "as_tensor of a cuda tensor": (lambda: torch.as_tensor(gpu(1)), "cuda:0"),
    "as_tensor to cuda": (lambda: torch.as_tensor([1.0], device="cuda"), "cuda:0"),
    "asarray": (lambda: torch.asarray([1.0], device="cuda"), "cuda:0"),
    "from_numpy": (lambda: torch.from_numpy(torch.ones(2).numpy()), "cpu"),
    "zeros_like": (lambda: torch.zeros_like(gpu(1)), "cuda:0"),
    "zeros_like on the cpu": (lambda: torch.zeros_like(gpu(1), device="cpu"), "cpu"),
    "randn_like of the cpu, on cuda": (lambda: torch.randn_like(torch.ones(2), device="cuda"), "cuda:0"),
    "new_zeros": (lambda: gpu(1).new_zeros(2), "cuda:0"),
    "new_tensor": (lambda: gpu(1).new_tensor([1.0]), "cuda:0"),
    "new_tensor elsewhere": (lambda: gpu(1).new_tensor([1.0], device="cpu"), "cpu"),
    "new_full": (lambda: gpu(1).new_full((2,), 1.0), "cuda:0"),
    "new": (lambda: gpu(1).new(2, 3), "cuda:0"),
    "new of a list": (lambda: gpu(1).new([1.0]), "cuda:0"),
    "to": (lambda: torch.ones(1).to("cuda"), "cuda:0"),
    "to(index)": (lambda: torch.ones(1).to(0), "cuda:0"),
    "to(device, dtype)": (lambda: torch.ones(1).to("cuda", torch.float64), "cuda:0"),
    "to(other)": (lambda: torch.ones(1).to(gpu(1)), "cuda:0"),
    "to(dtype)": (lambda: gpu(1).to(torch.float64), "cuda:0"),
    "to(device=, non_blocking=)": (lambda: torch.ones(1).to(device="cuda", non_blocking=True), "cuda:0"),
    "to with memory format": (lambda: torch.ones(1, 2, 3, 3).to("cuda", memory_format=torch.channels_last), "cuda:0"),
    "cuda(index)": (lambda: torch.ones(1).cuda(0), "cuda:0"),
    "cuda(None)": (lambda: torch.ones(1).cuda(None, non_blocking=True), "cuda:0"),
    "cpu": (lambda: gpu(1).cpu(), "cpu"),
    "type by name": (lambda: torch.ones(1).type("torch.cuda.DoubleTensor"), "cuda:0"),
    "type by class": (lambda: torch.ones(1).type(torch.cuda.LongTensor), "cuda:0"),
    "type back": (lambda: gpu(1).type(torch.FloatTensor), "cpu"),
    "legacy constructor": (lambda: torch.cuda.FloatTensor(2, 3), "cuda:0"),
    "legacy constructor of data": (lambda: torch.cuda.LongTensor([1, 2]), "cuda:0"),
    "parameter": (lambda: nn.Parameter(gpu(1)), "cuda:0"),
    "module made there": (lambda: nn.Linear(2, 2, device="cuda").weight, "cuda:0"),
    "lstm made there": (lambda: nn.LSTM(2, 2, device="cuda").weight_ih_l0, "cuda:0"),
    "normal": (lambda: torch.normal(0.0, 1.0, (2,), device="cuda"), "cuda:0"),
    "normal of tensors": (lambda: torch.normal(gpu(2), torch.ones(2).cuda()), "cuda:0"),
    "detach": (lambda: gpu(1).detach(), "cuda:0"),
    "data": (lambda: gpu(1).data, "cuda:0"),
    "clone": (lambda: gpu(1).clone(), "cuda:0"),
    "transposed copy": (lambda: gpu(2, 3).t().contiguous(), "cuda:0"),
    "deepcopy": (lambda: copy.deepcopy(nn.Linear(2, 2).cuda()).weight, "cuda:0"),
    "copy.copy": (lambda: copy.copy(gpu(1)), "cuda:0"),
    "pickle": (lambda: pickle.loads(pickle.dumps(gpu(1))), "cuda:0"),
    "storage": (lambda: gpu(1).untyped_storage(), "cuda:0"),
    "typed storage": (lambda: gpu(1).storage(), "cuda:0"),
    "full of nothing": (lambda: torch.full((), 1.0, device="cuda"), "cuda:0"),
    "arange": (lambda: torch.arange(3, device="cuda"), "cuda:0"),
    "eye": (lambda: torch.eye(3, device="cuda"), "cuda:0"),
    "pinned": (lambda: torch.ones(1).pin_memory(), "cpu"),
    "to_empty": (lambda: nn.Linear(2, 2, device="meta").to_empty(device="cuda").weight, "cuda:0"),
    "ops overload": (lambda: torch.ops.aten.add(gpu(1), 1), "cuda:0"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", MADE)
def test_a_value_says_where_it_is(case: str, sim: Simulator) -> None:
    make, device = MADE[case]
    assert str(make().device) == device


def test_questions_agree(sim: Simulator) -> None:
    x, y = gpu(2), torch.ones(2)
    assert (x.is_cuda, x.is_cpu, x.get_device(), x.type()) == (True, False, 0, "torch.cuda.FloatTensor")
    assert (y.is_cuda, y.is_cpu, y.get_device(), y.type()) == (False, True, -1, "torch.FloatTensor")
    assert isinstance(x, torch.cuda.FloatTensor) and not isinstance(y, torch.cuda.FloatTensor)
    assert isinstance(y, torch.FloatTensor) and not isinstance(x, torch.FloatTensor)
    assert torch.FloatTensor(2, 3).shape == (2, 3) and torch.FloatTensor.dtype is torch.float32
    assert "device='cuda:0'" in repr(x) and "device" not in repr(y)
    assert f"{x.sum():.2f}" and x.tolist() and x.sum().item() is not None


def test_to_gives_the_same_tensor_if_there_is_nothing_to_do(sim: Simulator) -> None:
    x, y = gpu(2), torch.ones(2)
    assert x.to("cuda") is x and x.cuda() is x and y.cpu() is y and y.to("cpu") is y
    assert x.to("cuda", copy=True) is not x and x.cpu() is not x


def test_a_transfer_copies_numbers_and_gradients(sim: Simulator) -> None:
    x = torch.randn(3, requires_grad=True)
    y = x.cuda()
    assert not y.is_leaf and y.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
    (y * torch.arange(3.0, device="cuda")).sum().backward()
    assert x.grad is not None and x.grad.device == torch.device("cpu") and x.grad.tolist() == [0.0, 1.0, 2.0]


def test_a_reshape_that_copies_stays_where_it_is_without_autograd(sim: Simulator) -> None:
    with torch.inference_mode():
        x = torch.randn(2, 3, 2, 2).to("cuda")
        assert str(x.permute(0, 2, 1, 3).reshape(3, 4, 2).device) == "cuda:0"
        assert str(x.permute(0, 2, 1, 3).flatten(1).device) == "cuda:0"
        assert str(torch.randn(2, 2).t().reshape(4).device) == "cpu"


def test_second_derivatives_cross_devices(sim: Simulator) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    (first,) = torch.autograd.grad(x.cuda() ** 3, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    assert (first.device.type, second.device.type, second.item()) == ("cpu", "cpu", 12.0)


def test_the_gradient_of_a_cpu_number_comes_home(sim: Simulator) -> None:
    scale = nn.Parameter(torch.tensor(2.0))
    (gpu(4) * scale).sum().backward()
    assert scale.grad is not None and scale.grad.device == torch.device("cpu")


def test_modules_move_in_place_and_keep_their_parameters(sim: Simulator) -> None:
    module = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    before, buffer = list(module.parameters()), module[1].running_mean
    assert module.to("cuda") is module
    assert all(one is other for one, other in zip(before, module.parameters(), strict=True))
    assert all(parameter.is_cuda for parameter in before)
    assert module[1].running_mean.is_cuda and not buffer.is_cuda  # buffers are bound anew
    module.cpu()
    assert not any(parameter.is_cuda for parameter in before)
    module.to(0)
    assert all(parameter.is_cuda for parameter in before)


def test_gradients_move_with_their_parameter(sim: Simulator) -> None:
    layer = nn.Linear(2, 2)
    layer(torch.ones(1, 2)).sum().backward()
    layer.cuda()
    assert layer.weight.grad is not None and layer.weight.grad.is_cuda


def test_a_device_context_sets_the_default(sim: Simulator) -> None:
    with torch.device("cuda"):
        assert torch.zeros(2).is_cuda and nn.Linear(2, 2).weight.is_cuda and torch.tensor([1]).is_cuda
        assert (
            not torch.zeros(2, device="cpu").is_cuda
            and not torch.from_numpy(torch.ones(2, device="cpu").numpy()).is_cuda
        )
        assert torch.nn.functional.one_hot(torch.tensor([1])).is_cuda
        with torch.device("cpu"):
            assert not torch.zeros(2).is_cuda
        assert torch.zeros(2).is_cuda
    assert not torch.zeros(2).is_cuda


def test_set_default_device(sim: Simulator) -> None:
    torch.set_default_device("cuda")
    try:
        assert torch.zeros(2).is_cuda and torch.get_default_device().type == "cuda"
        with pytest.raises(RuntimeError, match="Expected a 'cuda' device type for generator but found 'cpu'"):
            next(iter(torch.utils.data.DataLoader([1, 2], shuffle=True)))
    finally:
        torch.set_default_device(None)
    assert not torch.zeros(2).is_cuda


@pytest.mark.parametrize("name", ["Tensor", "FloatTensor", "LongTensor"])
def test_memory_of_an_old_constructor_stays_on_the_cpu_when_it_is_written(name: str, sim: Simulator) -> None:
    made = getattr(torch, name)(3, 2)
    made[0] = torch.ones(2).cuda()
    made.copy_(torch.ones(3, 2).cuda())

    assert made.device.type == "cpu"
    assert made.tolist() == [[1, 1]] * 3


@pytest.mark.filterwarnings("ignore")
def test_set_default_tensor_type(sim: Simulator) -> None:
    torch.set_default_tensor_type("torch.cuda.FloatTensor")
    try:
        assert torch.zeros(2).is_cuda and nn.Linear(2, 2).weight.is_cuda
        assert all(each.is_cuda for each in (torch.Tensor([]), torch.Tensor(2, 3), torch.Tensor([1.0])))
        assert torch.cat([torch.Tensor([]), torch.ones(2)]).is_cuda
        assert not torch.FloatTensor([1.0]).is_cuda and not torch.Tensor(torch.FloatTensor([1.0])).is_cuda
    finally:
        torch.set_default_tensor_type("torch.FloatTensor")
    assert not torch.zeros(2).is_cuda and not torch.Tensor([1.0]).is_cuda


def test_checkpoints_carry_devices(sim: Simulator, tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    x = gpu(4)
    torch.save({"x": x, "view": x[1:], "host": torch.ones(1)}, path)
    found = torch.load(path, weights_only=True)
    assert found["x"].is_cuda and found["view"].is_cuda and not found["host"].is_cuda
    assert torch.equal(found["x"], x)
    found["x"][1] = 7.0
    assert found["view"][0].item() == 7.0  # still one memory


LOCATIONS: dict[str, tuple[Any, str]] = {
    "cpu": ("cpu", "cpu"),
    "device object": (torch.device("cpu"), "cpu"),
    "cuda": ("cuda", "cuda:0"),
    "cuda:0": ("cuda:0", "cuda:0"),
    "dict": ({"cuda:0": "cpu"}, "cpu"),
    "storage unchanged": (lambda storage, location: storage, "cpu"),
    "storage.cuda": (lambda storage, location: storage.cuda(0), "cuda:0"),
    "storage.cpu": (lambda storage, location: storage.cpu(), "cpu"),
    "None from a function": (lambda storage, location: None, "cuda:0"),
}


@pytest.mark.parametrize("location", LOCATIONS)
@pytest.mark.parametrize("weights_only", [True, False])
def test_map_location(location: str, weights_only: bool, sim: Simulator) -> None:
    where, device = LOCATIONS[location]
    buffer = io.BytesIO()
    torch.save(gpu(2), buffer)
    buffer.seek(0)
    assert str(torch.load(buffer, map_location=where, weights_only=weights_only).device) == device


def test_a_cuda_checkpoint_cannot_be_read_where_there_is_no_accelerator(tmp_path: Path) -> None:
    with Simulator():
        torch.save(torch.ones(1).cuda(), tmp_path / "x.pt")
    with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device"):
        torch.load(tmp_path / "x.pt", weights_only=False)
    assert torch.load(tmp_path / "x.pt", map_location="cpu", weights_only=True).device.type == "cpu"


def test_a_checkpoint_of_a_second_device_cannot_be_read_with_one(tmp_path: Path) -> None:
    with Simulator(count=2):
        torch.save(torch.ones(1).cuda(1), tmp_path / "x.pt")
    with (
        Simulator(),
        pytest.raises(
            RuntimeError,
            match=r"Attempting to deserialize object on CUDA device 1 but torch.cuda.device_count\(\) is 1",
        ),
    ):
        torch.load(tmp_path / "x.pt", weights_only=False)


def test_a_whole_module_is_saved_and_loaded(sim: Simulator, tmp_path: Path) -> None:
    torch.save(nn.Linear(2, 2).cuda(), tmp_path / "m.pt")
    assert torch.load(tmp_path / "m.pt", weights_only=False).weight.is_cuda


def test_load_state_dict_crosses_devices(sim: Simulator) -> None:
    state = nn.Linear(2, 2).state_dict()
    layer = nn.Linear(2, 2).cuda()
    layer.load_state_dict(state)
    assert layer.weight.is_cuda and torch.equal(layer.weight.cpu(), state["weight"])
    other = nn.Linear(2, 2)
    other.load_state_dict({name: value.cuda() for name, value in state.items()}, assign=True)
    assert other.weight.is_cuda


def test_nothing_is_left_behind() -> None:
    before = torch.Generator, torch.cuda.is_available(), torch.UntypedStorage.device
    with Simulator():
        torch.ones(1).cuda()
    assert (torch.Generator, torch.cuda.is_available(), torch.UntypedStorage.device) == before
    with pytest.raises((AssertionError, RuntimeError)):
        torch.ones(1).cuda()
