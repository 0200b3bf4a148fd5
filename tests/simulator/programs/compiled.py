"""``torch.compile``, TorchScript, ``torch.export`` and flexible attention."""

from __future__ import annotations

import io
import os
import tempfile
from typing import Any

import torch
from torch import nn


class _Positions(nn.Module):
    """A module that asks for devices when it runs."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(3, 2)
        self.register_buffer("scale", torch.full((2,), 2.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        places = torch.arange(x.shape[0], device=x.device).to(x.dtype).unsqueeze(1)
        return self.inner(x) * self.scale + places


def _used(model: Any, device: str) -> Any:
    y = model(torch.ones(4, 3, device=device))
    assert y.device.type == device
    return y


def compiled_module(device: str) -> Any:
    model = _Positions().to(device)
    fast = torch.compile(model, mode="reduce-overhead")
    _used(fast, device).sum().backward()
    keys = list(fast.state_dict())
    assert all(key.startswith("_orig_mod.") for key in keys) and fast._orig_mod is model
    assert fast.inner is model.inner and len(list(fast.parameters())) == 2
    fast.eval()
    assert not model.training
    return model.inner.weight.grad, model.state_dict()


def compiled_function(device: str) -> Any:
    fast = torch.compile(lambda x: torch.sin(x) + torch.ones(3, device=x.device), fullgraph=True, dynamic=True)

    @torch.compile
    def norm(x: torch.Tensor) -> torch.Tensor:
        return x / x.norm()

    @torch.compile(backend="inductor")
    def step(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    torch.compiler.cudagraph_mark_step_begin()
    return (
        fast(torch.arange(3.0, device=device)),
        step(torch.ones(2, device=device)),
        norm(torch.ones(2, device=device)),
    )


def compilers_that_are_reset(device: str) -> Any:
    fast = torch.compile(lambda x: x * 2)
    first = fast(torch.ones(2, device=device))
    torch._dynamo.reset()
    torch.compiler.reset()
    return first, fast(torch.ones(2, device=device))


def control_flow(device: str) -> Any:
    from torch._higher_order_ops.scan import scan

    x = torch.arange(4.0, device=device)
    chosen = torch.cond(x.sum() > 0, lambda t: t.sin(), lambda t: t.cos(), (x,))
    _, sums = scan(lambda total, t: (total + t, total + t), torch.zeros((), device=device), x)
    assert chosen.device.type == sums.device.type == device
    return chosen, sums + torch.ones(4, device=device)


def compiled_in_place(device: str) -> Any:
    model = _Positions().to(device)
    model.compile(dynamic=False)
    assert "inner.weight" in model.state_dict()
    return _used(model, device)


def compiled_and_saved(device: str) -> Any:
    fast = torch.compile(_Positions().to(device))
    buffer = io.BytesIO()
    torch.save(fast.state_dict(), buffer)
    buffer.seek(0)
    other = torch.compile(_Positions().to(device))
    other.load_state_dict(torch.load(buffer, weights_only=True))
    return _used(other, device), _used(fast, device)


def scripted_function(device: str) -> Any:
    @torch.jit.script
    def step(x: torch.Tensor, times: int) -> torch.Tensor:
        for _ in range(times):
            x = x + torch.ones(x.shape[0], device=x.device)
        return x

    return step(torch.zeros(3, device=device), 4)


def scripted_module_that_is_saved(device: str) -> Any:
    model = torch.jit.script(_Positions().to(device))
    first = _used(model, device)
    assert "def forward" in model.code and model.graph is not None
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.pt")
        model.save(path)
        again = torch.jit.load(path)
        on_cpu = torch.jit.load(path, map_location="cpu")
        there = torch.jit.load(path, map_location=device)
    assert on_cpu.scale.device.type == "cpu"
    return first, _used(again, device), _used(on_cpu, "cpu"), _used(there, device)


def traced_module_that_is_saved(device: str) -> Any:
    model = _Positions().to(device).eval()
    traced = torch.jit.trace(model, torch.ones(4, 3, device=device))
    buffer = io.BytesIO()
    torch.jit.save(traced, buffer)
    buffer.seek(0)
    return _used(traced, device), _used(torch.jit.load(buffer), device)


def traced_function(device: str) -> Any:
    traced = torch.jit.trace(lambda x: x.relu() + x.sum(), (torch.randn(3, device=device),))
    return traced(torch.ones(3, device=device))


def frozen_script(device: str) -> Any:
    model = torch.jit.script(_Positions().to(device).eval())
    frozen = torch.jit.optimize_for_inference(torch.jit.freeze(model)) if device == "cpu" else torch.jit.freeze(model)
    with torch.no_grad():
        return _used(frozen, device)


def script_in_training(device: str) -> Any:
    model = torch.jit.script(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.ones(2, 3, device=device)).sum().backward()
        optimizer.step()
    return model.state_dict()


def exported_program(device: str) -> Any:
    model = _Positions().to(device).eval()
    exported = torch.export.export(model, (torch.ones(4, 3, device=device),))
    assert len(exported.graph.nodes) > 3 and "inner.weight" in exported.state_dict
    return _used(exported.module(), device)


def exported_program_that_is_saved(device: str) -> Any:
    model = _Positions().to(device).eval()
    buffer = io.BytesIO()
    torch.export.save(torch.export.export(model, (torch.ones(4, 3, device=device),)), buffer)
    buffer.seek(0)
    return _used(torch.export.load(buffer).module(), device)


def exported_program_that_is_decomposed(device: str) -> Any:
    model = _Positions().to(device).eval()
    exported = torch.export.export(model, (torch.ones(4, 3, device=device),))
    return _used(exported.run_decompositions().module(), device)


def flexible_attention(device: str) -> Any:
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    def causal(batch: Any, head: Any, query: Any, key: Any) -> Any:
        return query >= key

    def nearer(score: torch.Tensor, batch: Any, head: Any, query: Any, key: Any) -> torch.Tensor:
        return score - slopes[head] * (query - key)

    slopes = torch.tensor([0.5, 0.25], device=device)
    q, k, v = (torch.randn(1, 2, 128, 16).to(device) for _ in range(3))
    mask = create_block_mask(causal, None, None, 128, 128, device=device)
    assert mask.kv_indices.device.type == device
    return flex_attention(q, k, v, block_mask=mask), flex_attention(q, k, v, score_mod=nearer)


def graph_module_of_a_function(device: str) -> Any:
    from torch.fx.experimental.proxy_tensor import make_fx

    def run(x: torch.Tensor) -> torch.Tensor:
        return (x @ x.t()).softmax(-1) + 1

    x = torch.randn(3, 2).to(device)
    return make_fx(run)(x)(x)


def graph_module_that_creates_tensors(device: str) -> Any:
    from torch.fx.experimental.proxy_tensor import make_fx

    def run(x: torch.Tensor) -> torch.Tensor:
        return x + torch.ones(3, device=x.device) + torch.zeros_like(x) + x.new_full((3,), 2.0)

    return make_fx(run)(torch.randn(3, device=device))(torch.arange(3.0, device=device))
