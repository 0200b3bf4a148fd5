"""Pinned memory, streams and events, and questions about memory and the card."""

from __future__ import annotations

import os
import pickle
import tempfile
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def pinned_factories(device: str) -> Any:
    on = device == "cuda"
    buffers = [
        torch.empty(4, pin_memory=on),
        torch.zeros(4, pin_memory=on),
        torch.randn(4, pin_memory=on),
        torch.tensor([1.0, 2.0], pin_memory=on),
        torch.full((2,), 3.0, pin_memory=on),
        torch.arange(4, pin_memory=on),
        torch.empty_like(torch.ones(3), pin_memory=on),
        torch.ones(2).new_zeros(3, pin_memory=on),
    ]
    assert all(each.is_pinned() == on and each.device.type == "cpu" for each in buffers)
    buffers[0].copy_(torch.arange(4.0))
    return [
        each.to(device, non_blocking=True) for each in buffers if each.dtype != torch.float or each is not buffers[6]
    ]


def pinned_copies(device: str) -> Any:
    x = torch.randn(4)
    if device == "cuda":
        assert not x.is_pinned()
        x = x.pin_memory()
        assert x.is_pinned() and x[1:].is_pinned() and x.pin_memory() is x
        assert not (x + 1).is_pinned() and not x.to(device).is_pinned()
    moved = x.to(device, non_blocking=True)
    back = torch.empty(4, pin_memory=device == "cuda")
    back.copy_(moved, non_blocking=True)
    return moved, back


def pinned_batches(device: str) -> Any:
    data = TensorDataset(torch.arange(12.0).reshape(6, 2), torch.arange(6))
    found = []
    for x, y in DataLoader(data, batch_size=3, pin_memory=device == "cuda"):
        assert x.is_pinned() == (device == "cuda")
        found.append((x.to(device, non_blocking=True), y.to(device, non_blocking=True)))
    return found


class _Batch:
    def __init__(self, x: torch.Tensor) -> None:
        self.x = x

    def pin_memory(self) -> _Batch:
        self.x = self.x.pin_memory()
        return self


def pinned_batches_of_a_class(device: str) -> Any:
    loader = DataLoader(
        torch.arange(4.0), 2, collate_fn=lambda rows: _Batch(torch.stack(rows)), pin_memory=device == "cuda"
    )
    return [batch.x.to(device) for batch in loader]


def side_stream(device: str) -> Any:
    x = torch.randn(64, 64)
    if device == "cpu":
        return x @ x
    stream, done = torch.cuda.Stream(), torch.cuda.Event()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        moved = x.pin_memory().to(device, non_blocking=True)
        done.record(stream)
    torch.cuda.current_stream().wait_event(done)
    moved.record_stream(torch.cuda.current_stream())
    return moved @ moved


class _Prefetcher:
    def __init__(self, loader: Any, device: str) -> None:
        self.loader, self.device = iter(loader), device
        self.stream = torch.cuda.Stream() if device == "cuda" else None
        self.fetch()

    def fetch(self) -> None:
        batch = next(self.loader, None)
        if batch is None or self.stream is None:
            self.batch = batch
            return
        with torch.cuda.stream(self.stream):
            self.batch = batch.to(self.device, non_blocking=True)

    def next(self) -> Any:
        if self.stream is not None:
            torch.cuda.current_stream().wait_stream(self.stream)
        batch = self.batch
        self.fetch()
        return batch


def prefetched_batches(device: str) -> Any:
    source = _Prefetcher(torch.arange(12.0).split(4), device)
    found = []
    while (batch := source.next()) is not None:
        assert batch.device.type == device
        found.append(batch * 2)
    return found


def timed_steps(device: str) -> Any:
    x = torch.randn(8, 8).to(device)
    if device == "cuda":
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        y = x @ x
        end.record()
        torch.cuda.synchronize()
        assert start.elapsed_time(end) >= 0 and end.query()
        return y
    return x @ x


def figures_of_memory(device: str) -> Any:
    x = torch.zeros(1024, 1024).to(device)
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        peak = torch.cuda.max_memory_allocated()
        assert peak >= torch.cuda.memory_allocated() and torch.cuda.memory_reserved() >= torch.cuda.memory_allocated()
        statistics = torch.cuda.memory_stats()
        assert statistics["num_ooms"] == 0 and statistics["num_alloc_retries"] == 0
        assert statistics["allocated_bytes.all.peak"] == peak and statistics["active_bytes.all.current"] > 0
        free, total = torch.cuda.mem_get_info()
        assert 0 < free < total == torch.cuda.get_device_properties(0).total_memory
        assert "CUDA" in torch.cuda.memory_summary()
    return x


def history_of_memory(device: str) -> Any:
    x = torch.randn(4).to(device)
    if device == "cuda":
        torch.cuda.memory._record_memory_history(max_entries=1000)
        y = x + 1
        snapshot = torch.cuda.memory._snapshot()
        assert {"segments", "device_traces"} <= snapshot.keys()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "snapshot.pickle")
            torch.cuda.memory._dump_snapshot(path)
            with open(path, "rb") as source:
                assert "segments" in pickle.load(source)
        torch.cuda.memory._record_memory_history(enabled=None)
        return y
    return x + 1


def the_card(device: str) -> Any:
    if device == "cuda":
        properties = torch.cuda.get_device_properties(0)
        assert torch.cuda.get_device_name(0) == properties.name and "imulat" not in repr(properties)
        assert (properties.major, properties.minor) == torch.cuda.get_device_capability() >= (7, 0)
        assert properties.total_memory > 2**33 and properties.multi_processor_count > 20
        assert f"sm_{properties.major}{properties.minor}" in torch.cuda.get_arch_list()
        assert str(properties.uuid).count("-") == 4
    return 0


def private_pool(device: str) -> Any:
    if device == "cpu":
        return torch.ones(3) + 1
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        x = torch.ones(3, device=device)
    return x + 1


def stream_of_another_library(device: str) -> Any:
    if device == "cpu":
        return torch.ones(3) + 1
    stream = torch.cuda.ExternalStream(torch.cuda.Stream().cuda_stream)
    with torch.cuda.stream(stream):
        x = torch.ones(3, device=device) + 1
    stream.synchronize()
    return x


def profiled_steps(device: str) -> Any:
    model = nn.Linear(4, 4).to(device)
    kinds = [torch.profiler.ProfilerActivity.CPU] + [torch.profiler.ProfilerActivity.CUDA] * (device == "cuda")
    plan = torch.profiler.schedule(wait=0, warmup=1, active=1)
    with torch.profiler.profile(activities=kinds, schedule=plan, record_shapes=True, profile_memory=True) as profile:
        for _ in range(2):
            y = model(torch.ones(2, 4, device=device))
            profile.step()
    assert profile.key_averages().table(sort_by="cpu_time_total") is not None
    return y


def shared_between_threads(device: str) -> Any:
    from concurrent.futures import ThreadPoolExecutor

    x = torch.randn(8, 4).to(device)
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda row: (row * torch.arange(4, device=device)).sum(), x))


def exchange_with_the_host(device: str) -> Any:
    x = torch.randn(4).to(device)
    numbers = x.cpu().numpy()
    again = torch.from_numpy(numbers).to(device)
    assert torch.equal(x, again)
    return x.tolist(), x.sum().item(), float(x[0]), torch.as_tensor(numbers, device=device), x.numpy(force=True).sum()


def exchange_by_dlpack(device: str) -> Any:
    x = torch.arange(4.0, device=device)
    y = torch.from_dlpack(x)
    assert y.device == x.device
    y.add_(1)
    z = torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x))
    assert z.device == x.device
    return x, z


def limits_of_libraries(device: str) -> Any:
    if device == "cuda":
        plans = torch.backends.cuda.cufft_plan_cache
        plans.max_size = 16
        plans.clear()
        assert plans.size == 0 and len(torch.cuda.nccl.version()) == 3
        torch.cuda.seed()
    return torch.fft.fft(torch.ones(4, device=device)).real
