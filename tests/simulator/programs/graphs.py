"""CUDA graphs: warm-up, capture and replay; the CPU runs the same steps."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # everybody calls it so


def captured_inference(device: str) -> Any:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to(device).eval()
    batches = [torch.randn(3, 4) for _ in range(3)]
    with torch.no_grad():
        if device == "cpu":
            return [model(batch) for batch in batches]
        given = torch.zeros(3, 4, device=device)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(2):
                model(given)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            assert torch.cuda.is_current_stream_capturing()
            output = model(given)
        found = []
        for batch in batches:
            given.copy_(batch)
            graph.replay()
            found.append(output.clone())
        return found


def captured_training(device: str) -> Any:
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    batches = [(torch.randn(6, 4), torch.randn(6, 2)) for _ in range(4)]
    losses = []
    if device == "cpu":
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        return losses, list(model.parameters())
    given, target = torch.zeros(6, 4, device=device), torch.zeros(6, 2, device=device)

    def copy_in(batch: Any) -> None:
        given.copy_(batch[0])
        target.copy_(batch[1])

    def step() -> torch.Tensor:
        loss = F.mse_loss(model(given), target)
        loss.backward()
        optimizer.step()
        return loss

    copy_in(batches[0])
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):  # the first step is the warm-up
        optimizer.zero_grad(set_to_none=True)
        losses.append(step().detach().clone())
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        loss = step()
    for batch in batches[1:]:
        copy_in(batch)
        graph.replay()
        losses.append(loss.detach().clone())
    return losses, list(model.parameters())


def captured_random_numbers(device: str) -> Any:
    if device == "cpu":
        return [F.dropout(torch.ones(20)) for _ in range(3)]
    graph, x = torch.cuda.CUDAGraph(), torch.ones(20, device=device)
    with torch.cuda.graph(graph):
        y = F.dropout(x)
    found = []
    for _ in range(3):
        graph.replay()
        found.append(y.clone())
    return found


def captured_in_place(device: str) -> Any:
    total, step = torch.zeros(3, device=device), torch.ones(3, device=device)
    if device == "cpu":
        return total + 3 * step
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        total += step
        view = total[1:]
        view.mul_(1)
    torch.cuda.synchronize()
    assert total.sum().item() == 0  # captured, not run
    for _ in range(3):
        graph.replay()
    return total


def graphed_modules(device: str) -> Any:
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU()).to(device)
    x = torch.randn(3, 4).to(device)
    if device == "cuda":
        model = torch.cuda.make_graphed_callables(model, (torch.ones(3, 4, device=device),))
    y = model(x)
    y.sum().backward()
    return y, [each.grad for each in model.parameters()]


def graphs_with_one_pool(device: str) -> Any:
    x = torch.ones(3, device=device)
    if device == "cpu":
        return x * 2, x * 2 + 1
    pool = torch.cuda.graph_pool_handle()
    first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(first, pool=pool):
        y = x * 2
    with torch.cuda.graph(second, pool=first.pool()):
        z = y + 1
    first.replay()
    second.replay()
    first.reset()
    return y.clone(), z.clone()


def captured_by_hand(device: str) -> Any:
    x = torch.ones(3, device=device)
    if device == "cpu":
        return x.exp()
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        graph.capture_begin()
        y = x.exp()
        graph.capture_end()
    torch.cuda.current_stream().wait_stream(stream)
    graph.replay()
    return y
