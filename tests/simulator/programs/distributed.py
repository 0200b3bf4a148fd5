"""Process groups of one process: DTensor, FSDP2 and DistributedDataParallel."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import torch
from torch import distributed, nn


@contextlib.contextmanager
def _group(device: str) -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder:
        method = f"file://{os.path.join(folder, 'store')}"
        distributed.init_process_group("nccl" if device == "cuda" else "gloo", init_method=method, rank=0, world_size=1)
        if device == "cuda":
            torch.cuda.set_device(0)
        try:
            yield
        finally:
            time.sleep(0.01)
            distributed.destroy_process_group()


def _network(device: str) -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to(device)


def _trained(model: nn.Module, device: str) -> Any:
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(torch.arange(12.0, device=device).reshape(3, 4)).square().mean()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def distributed_tensors(device: str) -> Any:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    with _group(device):
        mesh = init_device_mesh(device, (1,))
        x = distribute_tensor(torch.randn(4, 4).to(device), mesh, [Shard(0)])
        y = distribute_tensor(torch.randn(4, 4).to(device), mesh, [Replicate()])
        z = (x @ y).relu()
        assert z.device.type == device and z.to_local().device.type == device
        return z.full_tensor(), z.redistribute(mesh, [Replicate()]).to_local()


def tensor_parallel_layers(device: str) -> Any:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    with _group(device):
        model = _network(device)
        mesh = init_device_mesh(device, (1,))
        parallelize_module(model, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
        y = model(torch.arange(12.0, device=device).reshape(3, 4))
        y.sum().backward()
        assert y.device.type == device
        return y, [each.grad.full_tensor() for each in model.parameters()]


def fully_sharded_layers(device: str) -> Any:
    from torch.distributed.fsdp import fully_shard

    with _group(device):
        model = _network(device)
        if device == "cuda":
            for layer in (model[0], model[2]):
                fully_shard(layer)
            fully_shard(model)
        losses = _trained(model, device)
        weights = [each.full_tensor() if device == "cuda" else each for each in model.parameters()]
        assert {each.device.type for each in weights} == {device}
        return losses, weights


def replicated_layers(device: str) -> Any:
    with _group(device):
        model = nn.parallel.DistributedDataParallel(_network(device), device_ids=[0] if device == "cuda" else None)
        return _trained(model, device), list(model.parameters())


def collectives(device: str) -> Any:
    with _group(device):
        total = torch.arange(3.0, device=device)
        distributed.all_reduce(total)
        found = [torch.zeros(3, device=device)]
        distributed.all_gather(found, total)
        objects: list[Any] = [None]
        distributed.all_gather_object(objects, {"a": 1})
        distributed.broadcast(total, src=0)
        distributed.barrier()
        output = torch.zeros(3, device=device)
        distributed.reduce_scatter_tensor(output, total)
        return total, found, output, distributed.get_world_size()
