"""The simulated machine: ``torch.cuda``, several devices, random streams, threads, features that are not modelled."""

# ruff: noqa: E501
from __future__ import annotations

import inspect
import io
import os
import re
import subprocess
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # everybody calls it so

from conformance.words import elsewhere
from devfix.simulator import Simulator, unsupported_used, work_done


def test_queries(sim: Simulator) -> None:
    assert torch.cuda.is_available() and torch.cuda.device_count() == 1 and torch.cuda.current_device() == 0
    assert torch.cuda.get_device_name(0) and torch.cuda.get_device_capability() >= (7, 0)
    assert torch.cuda.get_device_properties("cuda").total_memory > 0
    assert torch.cuda.mem_get_info()[1] > 0 and torch.cuda.memory_allocated() >= 0
    torch.cuda.empty_cache()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.is_bf16_supported() and torch.version.cuda and torch.cuda.memory_summary()
    assert torch.backends.cudnn.version() and torch.backends.cudnn.is_available()


#: Classes and functions of torch.cuda with effects, which are not questions.
UNMODELLED = {"CUDAGraph", "ExternalStream", "MemPool", "graph", "graph_pool_handle", "make_graphed_callables"}


def test_every_question_without_arguments_has_an_answer(sim: Simulator) -> None:
    asked = 0
    for name in sorted({*torch.cuda.__all__, *torch.cuda.memory.__all__} - UNMODELLED):
        function = getattr(torch.cuda, name)
        if not callable(function) or inspect.isclass(function):
            continue
        parameters = inspect.signature(function).parameters.values()
        if any(each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD for each in parameters):
            continue
        function()
        asked += 1
    assert asked > 40 and unsupported_used() == []


def test_no_graph_is_being_captured(sim: Simulator) -> None:
    assert torch.cuda.is_current_stream_capturing() is False


def test_the_accelerator_interface(sim: Simulator) -> None:
    if not hasattr(torch, "accelerator"):
        pytest.skip("torch.accelerator came with 2.6")
    assert torch.accelerator.is_available() and torch.accelerator.current_accelerator() == torch.device("cuda")
    assert torch.accelerator.device_count() == 1
    torch.accelerator.synchronize()


def test_streams_and_events(sim: Simulator) -> None:
    stream, start, end = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    with torch.cuda.stream(stream):
        assert torch.cuda.current_stream() is stream
        x = torch.ones(2, device="cuda")
        x.record_stream(torch.cuda.current_stream())
    torch.cuda.current_stream().wait_stream(stream)
    end.record()
    torch.cuda.synchronize()
    assert start.elapsed_time(end) >= 0.0


def test_a_device_that_is_not_there(sim: Simulator) -> None:
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.ones(1).to("cuda:1")


def test_two_devices_do_not_mix(two: Simulator) -> None:
    x, y = torch.ones(2, device="cuda:0"), torch.ones(2, device="cuda:1")
    with pytest.raises(RuntimeError, match="found at least two devices, cuda:0 and cuda:1!"):
        x + y
    with pytest.raises(RuntimeError, match="found at least two devices, cuda:0 and cuda:1!"):
        x + y.sum()  # only a CPU number is exempt
    assert str((x + y.to(x.device)).device) == "cuda:0"


def test_the_current_device(two: Simulator) -> None:
    torch.cuda.set_device(1)
    assert str(torch.ones(1).cuda().device) == "cuda:1"
    with torch.cuda.device(0):
        assert str(torch.ones(1, device="cuda").device) == "cuda:0"
    assert torch.cuda.current_device() == 1


def test_model_parallel_training(two: Simulator) -> None:
    first, second = nn.Linear(2, 2).to("cuda:0"), nn.Linear(2, 1).to("cuda:1")
    optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()])
    before = first.weight.detach().clone()
    loss = second(first(torch.ones(3, 2, device="cuda:0")).to("cuda:1")).sum()
    loss.backward()
    nn.utils.clip_grad_norm_([*first.parameters(), *second.parameters()], 1.0)
    optimizer.step()
    assert str(first.weight.grad.device) == "cuda:0" and str(second.weight.grad.device) == "cuda:1"
    assert not torch.equal(before, first.weight)


def test_data_parallel_on_one_device_moves_module_and_inputs(sim: Simulator) -> None:
    model = nn.DataParallel(nn.Linear(2, 2))
    out = model(torch.ones(3, 2))
    assert out.is_cuda
    with pytest.raises(RuntimeError, match=re.escape(elsewhere("target", "cpu", "cuda:0"))):
        F.cross_entropy(out, torch.zeros(3, dtype=torch.long))


def test_data_parallel_on_two_devices(two: Simulator) -> None:
    layer = nn.Linear(2, 2)
    expected = layer(torch.arange(8.0).reshape(4, 2))
    model = nn.DataParallel(layer).cuda()
    out = model(torch.arange(8.0).reshape(4, 2).cuda())
    assert str(out.device) == "cuda:0" and torch.equal(out.cpu(), expected)
    out.sum().backward()
    assert layer.weight.grad is not None and str(layer.weight.grad.device) == "cuda:0"


def test_data_parallel_names_the_parameter_that_is_elsewhere(two: Simulator) -> None:
    model = nn.DataParallel(nn.Linear(2, 2))
    with pytest.raises(
        RuntimeError,
        match=r"module must have its parameters and buffers on device cuda:0 \(device_ids\[0\]\) but found one of them on device: cpu",
    ):
        model(torch.ones(4, 2).cuda())


def test_a_stream_of_its_own() -> None:
    with Simulator():
        torch.manual_seed(0)
        device_first = torch.randn(3, device="cuda").tolist()
        host_after = torch.randn(3).tolist()
        torch.manual_seed(0)
        assert torch.randn(3).tolist() == host_after != device_first
        torch.manual_seed(0)
        assert torch.randn(3, device="cuda").tolist() == device_first
        state = torch.cuda.get_rng_state()
        again = torch.rand(2, device="cuda").tolist()
        torch.cuda.set_rng_state(state)
        assert torch.rand(2, device="cuda").tolist() == again
        torch.cuda.manual_seed_all(5)
        dropped = F.dropout(torch.ones(100, device="cuda")).tolist()
        torch.cuda.manual_seed_all(5)
        assert F.dropout(torch.ones(100, device="cuda")).tolist() == dropped


def test_a_seed_may_be_a_number_of_numpy(sim: Simulator) -> None:
    torch.cuda.manual_seed(np.uint32(3))
    first = torch.rand(3, device="cuda").tolist()
    torch.cuda.manual_seed_all(np.int64(3))
    assert torch.rand(3, device="cuda").tolist() == first


def test_a_shared_stream_gives_the_numbers_of_the_cpu() -> None:
    torch.manual_seed(0)
    expected = [torch.randn(3).tolist(), F.dropout(torch.ones(50)).tolist()]
    with Simulator(shared_random=True):
        torch.manual_seed(0)
        torch.cuda.manual_seed_all(1)
        assert [torch.randn(3, device="cuda").tolist(), F.dropout(torch.ones(50).cuda()).tolist()] == expected


def test_generators(sim: Simulator) -> None:
    generator = torch.Generator(device="cuda").manual_seed(1)
    first = torch.rand(3, device="cuda", generator=generator)
    generator.manual_seed(1)
    assert torch.equal(torch.rand(3, device="cuda", generator=generator), first)
    assert generator.device.type == "cuda" and torch.Generator().device.type == "cpu"
    assert isinstance(torch.default_generator, torch.Generator) and isinstance(generator, torch.Generator)
    state = generator.get_state()
    assert state.device.type == "cpu" and generator.set_state(state) is not None


def test_threads_see_the_device(sim: Simulator) -> None:
    seen: list[str] = []

    def look() -> None:
        seen.append(str((torch.ones(1, device="cuda") + 1).device))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == ["cuda:0"]


def test_a_thread_beside_a_backward_pass_says_nothing_about_its_tensors(sim: Simulator) -> None:
    started, ended = threading.Event(), threading.Event()

    def wait(value: float) -> float:
        started.set()
        assert ended.wait(20)
        return value

    loader = threading.Thread(target=lambda: torch.ones(1).apply_(wait))
    loader.start()
    assert started.wait(20)
    x = torch.randn(2, 4, device="cuda", requires_grad=True)
    try:
        x.cummax(1)[0].sum().backward()
    finally:
        ended.set()
        loader.join()

    assert x.grad is not None and x.grad.is_cuda


def test_what_is_not_modelled_is_remembered(sim: Simulator) -> None:
    assert unsupported_used() == []
    with pytest.raises(AttributeError):
        _ = torch.ones(1, device="cuda").__cuda_array_interface__
    assert unsupported_used() == ["__cuda_array_interface__"]


def test_work_is_counted(sim: Simulator) -> None:
    torch.ones(2) + 1
    before = work_done()
    torch.ones(2, device="cuda") + 1
    assert all(work_done()[name] > before[name] for name in ("device_operations", "all_operations"))


def test_without_checks_everything_is_one_memory() -> None:
    with Simulator(checks=False):
        assert (torch.ones(2).cuda() @ torch.ones(2)).item() == 2.0
        assert torch.ones(2).cuda().numpy().tolist() == [1.0, 1.0]
        assert nn.LSTM(2, 2).cuda()(torch.ones(1, 1, 2))[0].is_cuda
        assert (torch.ones(2).to("cuda:3") + 1).is_cuda  # a machine with one accelerator


def _gradient_of_the_output() -> Any:
    x = torch.ones(3, device="cuda", requires_grad=True)
    (x * 2).backward(torch.ones(3))
    return torch.autograd.grad(x * 2, x, torch.ones(3))[0]


def _mixed_precision_of_a_module_on_the_cpu() -> Any:
    layer, norm = nn.Linear(3, 2), nn.LayerNorm(2)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        low = layer(torch.ones(2, 3, device="cuda"))
        assert low.dtype == torch.bfloat16
        assert layer(torch.ones(2, 3)).dtype == torch.float32
        return norm(low)


def _lengths_of_a_packed_sequence() -> Any:
    packed = nn.utils.rnn.pack_padded_sequence(torch.ones(2, 3, 1).cuda(), torch.tensor([3, 2]).cuda(), True)
    assert packed.batch_sizes.device.type == "cpu"
    return nn.GRU(1, 2).cuda()(packed)[0].data


def _pinned_memory() -> Any:
    return torch.ones(2, device="cuda").pin_memory()


def _a_checkpoint_of_another_device() -> Any:
    file = io.BytesIO()
    torch.save(torch.ones(2, device="cuda"), file)
    file.seek(0)
    return torch.load(file, map_location="cuda:1")


def _collective_of_a_cpu_tensor() -> Any:
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("nccl", store=store, rank=0, world_size=1)
    try:
        numbers = torch.ones(2)
        torch.distributed.all_reduce(numbers)
        return numbers.cuda()
    finally:
        torch.distributed.destroy_process_group()


@pytest.mark.parametrize(
    "program",
    [
        _gradient_of_the_output,
        _mixed_precision_of_a_module_on_the_cpu,
        _lengths_of_a_packed_sequence,
        _pinned_memory,
        _a_checkpoint_of_another_device,
        _collective_of_a_cpu_tensor,
    ],
)
def test_without_checks_no_device_error_occurs(program: Callable[[], Any]) -> None:
    with Simulator(), pytest.raises(RuntimeError):
        program()
    with Simulator(checks=False):
        assert program().is_cuda


def test_hooks_and_custom_functions_see_devices(sim: Simulator) -> None:
    seen: list[str] = []

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            seen.append(str(x.device))
            return x * torch.full((1,), 2.0, device=x.device)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            seen.append(str(grad.device))
            return grad * torch.full((1,), 2.0, device=grad.device)

    x = torch.ones(2, device="cuda", requires_grad=True)
    x.register_hook(lambda grad: seen.append(str(grad.device)))
    Double.apply(x).sum().backward()
    assert seen == ["cuda:0"] * 3


def test_zeros_that_the_engine_makes_fit_any_device(sim: Simulator) -> None:
    seen: list[bool] = []

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1, x * 2

        @staticmethod
        def backward(ctx: Any, first: Any, second: Any) -> Any:
            total = first + second  # the second is made of nothing, by C++ code
            seen.append(total.is_cuda)
            return total

    x = torch.ones(2, device="cuda", requires_grad=True)
    Twice.apply(x)[0].sum().backward()
    assert seen == [True]


@pytest.mark.parametrize("kind", ["xpu", "mps"])
def test_another_name_for_the_accelerator(kind: str) -> None:
    with Simulator(kind=kind):
        x = nn.Linear(2, 2).to(kind)(torch.ones(1, 2, device=kind))
        assert x.device == torch.device(kind, 0)
        placeholder = "Placeholder storage has not been allocated on MPS device!"
        words = placeholder if kind == "mps" else elsewhere("mat2", "cpu", f"{kind}:0")
        with pytest.raises(RuntimeError, match=re.escape(words)):
            x @ torch.ones(2, 1)


NPU = """
import torch
from torch import nn
from devfix.simulator import Simulator

with Simulator(kind="npu"):
    import torch_npu
    model = nn.Linear(2, 2).npu()
    x = torch.ones(1, 2, device="npu")
    torch.npu.synchronize()
    print(model(x).device, x.is_npu, x.is_cuda, torch_npu.npu.get_device_name(), torch.get_device_module().__name__)
    with torch.autocast("npu", dtype=torch.bfloat16):
        print(model(x).dtype)
    try:
        model(torch.ones(1, 2))
    except RuntimeError as error:
        print(error)
"""


def test_an_npu_has_the_names_of_its_package() -> None:
    done = subprocess.run([sys.executable, "-c", NPU], capture_output=True, text=True, check=True)  # names stay

    placed, autocast, error = done.stdout.splitlines()
    assert placed == "npu:0 True False Ascend910B1 torch.npu"
    assert autocast == "torch.bfloat16"
    assert "npu:0" in error
    assert "wrapper_NPU" in error


def test_mps_has_no_float64() -> None:
    with Simulator(kind="mps"):
        refused = [
            lambda: torch.ones(2, dtype=torch.float64).to("mps"),
            lambda: torch.zeros(2, dtype=torch.float64, device="mps"),
            lambda: torch.ones(2, device="mps").double(),
            lambda: nn.Linear(2, 2).double().to("mps"),
        ]
        for call in refused:
            with pytest.raises(TypeError, match="the MPS framework doesn't support float64"):
                call()
        assert torch.ones(2, dtype=torch.float64).to("mps", torch.float32).device.type == "mps"
        assert torch.ones(2, device="mps").cpu().double().dtype == torch.float64


def test_operators_that_mps_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    with Simulator(kind="mps"):
        x = torch.eye(3, device="mps")
        with pytest.raises(NotImplementedError, match="'aten::linalg_eig' is not currently implemented for the MPS"):
            torch.linalg.eig(x)
        for call in (
            lambda: torch.frexp(x),
            lambda: x.mode(),
            lambda: x.put(x.long(), x),
            lambda: torch.linalg.lstsq(x, x),
        ):
            with pytest.raises(NotImplementedError, match="is not currently implemented for the MPS"):
                call()
        assert torch.linalg.inv(x).device.type == "mps"
        assert torch.linalg.svdvals(x).device.type == "mps"  # MPSFallback.mm sends linalg_svd to the CPU
        monkeypatch.setenv("PYTORCH_ENABLE_MPS_FALLBACK", "1")
        assert torch.linalg.eig(x)[0].device.type == "mps"


def test_convolutions_on_mps_name_its_types() -> None:
    words = r"Input type \(torch.FloatTensor\) and weight type \(MPSFloatType\) should be the same"
    with Simulator(kind="mps"), pytest.raises(RuntimeError, match=words):
        nn.Conv2d(1, 1, 1).to("mps")(torch.ones(1, 1, 2, 2))


def test_the_card_of_another_kind() -> None:
    with Simulator(kind="xpu"):
        properties = torch.xpu.get_device_properties(0)
        assert torch.xpu.get_device_name(0) == properties.name == "Intel(R) Data Center GPU Max 1550"
        assert torch.xpu.get_device_capability()["has_fp64"]
        assert torch.xpu.memory_allocated() > 0
    with Simulator(kind="mps"):
        assert torch.mps.recommended_max_memory() > torch.mps.current_allocated_memory() > 0


def test_exports_of_device_memory_are_remembered(sim: Simulator) -> None:
    torch.utils.dlpack.to_dlpack(torch.ones(2))
    assert unsupported_used() == []
    torch.utils.dlpack.to_dlpack(torch.ones(2).cuda())
    assert unsupported_used() == ["DLPack of device memory"]


def test_the_profiler_looks_at_the_cpu_only(sim: Simulator, capfd: pytest.CaptureFixture[str]) -> None:
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        torch.ones(2).cuda() + 1
    assert len(profile.key_averages()) > 0
    assert "Failed to record" not in capfd.readouterr().err


def _work_on_the_device() -> None:
    torch.ones(2, device="cuda") + 1


def _train() -> None:
    nn.Linear(2, 2)(torch.ones(1, 2)).sum().backward()


@pytest.mark.parametrize(
    ("work", "remembered"), [(int, []), (_work_on_the_device, ["child processes"]), (_train, ["child processes"])]
)
def test_child_processes_that_work_are_remembered(work: Any, remembered: list[str], sim: Simulator) -> None:
    import multiprocessing

    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    child.join()
    assert unsupported_used() == remembered


def test_a_module_that_is_imported_between_two_simulators_is_patched_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    with Simulator():
        pass
    late: Any = types.ModuleType("torch.late")
    late.check = original = torch.overrides.has_torch_function
    monkeypatch.setitem(sys.modules, "torch.late", late)

    with Simulator():
        assert late.check is torch.overrides.has_torch_function is not original
    assert late.check is torch.overrides.has_torch_function is original


def test_two_simulators_at_once_are_refused(sim: Simulator) -> None:
    with pytest.raises(RuntimeError, match="already active"), Simulator():
        pass


@pytest.mark.parametrize("call", [torch.fft.fft, lambda x: torch.linalg.lu(x.float(), pivot=False)], ids=["fft", "lu"])
def test_a_kernel_that_only_the_cpu_lacks_is_unsupported(call: Callable[[torch.Tensor], object]) -> None:
    with Simulator():
        with pytest.raises(RuntimeError):
            call(torch.eye(4).half())
        assert unsupported_used() == []  # the program's own error
        with pytest.raises(RuntimeError):
            call(torch.eye(4, device="cuda").half())
        (feature,) = unsupported_used()
    assert feature.startswith(("fft_fft (", "linalg_lu ("))


@pytest.mark.parametrize("arguments", [(), (0,), (1, True)], ids=str)
def test_gradients_of_products_have_the_rounding_errors_of_the_cpu(arguments: tuple[Any, ...]) -> None:
    torch.manual_seed(0)
    x = torch.rand(5, 5, requires_grad=True)
    (expected,) = torch.autograd.grad(torch.prod(x, *arguments).square().sum(), x)
    with Simulator():
        on_device = x.detach().cuda().requires_grad_()
        (found,) = torch.autograd.grad(on_device.prod(*arguments).square().sum(), on_device)
        assert torch.equal(found.cpu(), expected)


def test_another_python_program_is_unsupported(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("")
    with Simulator():
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        subprocess.run(["true"], check=True)
        assert unsupported_used() == []
        os.system(f"{sys.executable} {script}")
        assert unsupported_used() == ["a Python program in a child process"]
    with Simulator():
        assert unsupported_used() == []
        subprocess.run([sys.executable, str(script)], check=True)
        assert unsupported_used() == ["a Python program in a child process"]


def test_branches_of_cond_are_checked(sim: Simulator) -> None:
    x, other = torch.ones(2, device="cuda"), torch.ones(2)
    with pytest.raises(RuntimeError, match="found at least two devices, cuda:0 and cpu!"):
        torch.cond(x.sum() > 0, lambda t: t + other, lambda t: t - other, (x,))


def test_a_device_mesh_starts_a_process_group(sim: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0", "RANK": "0", "WORLD_SIZE": "1"}.items():
        monkeypatch.setenv(name, value)
    mesh = torch.distributed.device_mesh.init_device_mesh("cuda", (1,))
    assert (mesh.device_type, torch.distributed.get_world_size()) == ("cuda", 1)
    torch.distributed.destroy_process_group()


def test_the_learning_rate_of_a_fused_optimizer_may_be_on_the_cpu() -> None:
    with Simulator():
        model = nn.Linear(2, 2).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=torch.tensor(0.1), fused=True)
        model(torch.ones(1, 2, device="cuda")).sum().backward()
        before = model.bias.detach().cpu()
        optimizer.step()
        assert torch.allclose(model.bias.detach().cpu(), before - 0.1)
