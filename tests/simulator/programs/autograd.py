"""Hooks, custom functions, checkpointing, and what is done to saved tensors."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.autograd.graph import register_multi_grad_hook, save_on_cpu, saved_tensors_hooks
from torch.nn import functional as F  # noqa: N812  # everybody calls it so
from torch.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    checkpoint_sequential,
    create_selective_checkpoint_contexts,
)


class _Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x, by)
        return x * by

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> Any:
        x, by = ctx.saved_tensors
        assert slope.device == x.device
        return slope * by, (slope * x).sum().reshape(by.shape)


class _Cube(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: torch.Tensor) -> Any:
        return x**3, 3 * x**2

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0], output[1])
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor, _: Any) -> torch.Tensor:
        return slope * ctx.saved_tensors[1]


def _layers(device: str) -> nn.Sequential:
    return nn.Sequential(nn.Linear(6, 6), nn.Dropout(0.3), nn.GELU(), nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 2)).to(
        device
    )


def _slopes(model: nn.Module) -> list[Any]:
    return [each.grad for each in model.parameters()]


def hooks_of_tensors(device: str) -> Any:
    seen: list[torch.Tensor] = []
    x = torch.randn(3).to(device).requires_grad_()
    y = x * 2
    y.register_hook(lambda slope: slope * torch.arange(3.0, device=slope.device))
    y.retain_grad()
    x.register_hook(seen.append)
    y.square().sum().backward()
    assert seen[0].device.type == device
    return seen, x.grad, y.grad


def hooks_of_modules(device: str) -> Any:
    model, seen = _layers(device).eval(), []
    model[0].register_forward_hook(lambda module, given, output: output + 1)
    model[3].register_forward_pre_hook(lambda module, given: (given[0] * 2,))
    model[5].register_full_backward_hook(lambda module, into, out: seen.extend([*into, *out]))
    model(torch.randn(4, 6).to(device)).sum().backward()
    return seen, _slopes(model)


def hooks_after_accumulation(device: str) -> Any:
    model = _layers(device).eval()
    optimizers = {each: torch.optim.SGD([each], lr=0.1) for each in model.parameters()}

    def step(parameter: torch.Tensor) -> None:
        optimizers[parameter].step()
        optimizers[parameter].zero_grad()

    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(step)
    for _ in range(3):
        model(torch.ones(4, 6, device=device)).square().sum().backward()
    return list(model.parameters())


def hook_of_several_gradients(device: str) -> Any:
    a, b = (torch.randn(3).to(device).requires_grad_() for _ in range(2))
    seen: list[Any] = []
    register_multi_grad_hook((a, b), seen.extend)
    (a * b).sum().backward()
    return seen


def function_with_saved_tensors(device: str) -> Any:
    x, by = torch.randn(4, 3).to(device).requires_grad_(), torch.tensor([2.0], device=device, requires_grad=True)
    _Scale.apply(x, by).square().sum().backward()
    return x.grad, by.grad


def function_under_vmap(device: str) -> Any:
    x = torch.randn(5).to(device)
    return torch.func.vmap(torch.func.grad(lambda each: _Cube.apply(each)[0]))(x)


def second_derivative_of_a_function(device: str) -> Any:
    x = torch.randn(4).to(device).requires_grad_()
    (slope,) = torch.autograd.grad(_Scale.apply(x, x.new_ones(1)).pow(3).sum(), x, create_graph=True)
    return torch.autograd.grad(slope.sum(), x)


def gradient_penalty(device: str) -> Any:
    critic = nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(), nn.Linear(8, 1)).to(device)
    real, fake = torch.randn(5, 3).to(device), torch.randn(5, 3).to(device)
    mixed = torch.lerp(real, fake, torch.rand(5, 1, device=device)).requires_grad_()
    output = critic(mixed)
    (slope,) = torch.autograd.grad(output, mixed, torch.ones_like(output), create_graph=True)
    (slope.norm(2, dim=1) - 1).square().mean().backward()
    return [each.grad for each in critic.parameters()]


def checkpoint_without_reentry(device: str) -> Any:
    model = _layers(device)
    checkpoint(model, torch.randn(4, 6).to(device), use_reentrant=False).sum().backward()
    return _slopes(model)


def checkpoint_with_reentry(device: str) -> Any:
    model = _layers(device)
    x = torch.randn(4, 6).to(device).requires_grad_()
    checkpoint(model, x, use_reentrant=True).sum().backward()
    return x.grad, _slopes(model)


def checkpoint_in_segments(device: str) -> Any:
    model = _layers(device)
    x = torch.randn(4, 6).to(device).requires_grad_()
    checkpoint_sequential(model, 3, x, use_reentrant=False).sum().backward()
    return x.grad, _slopes(model)


def checkpoint_that_keeps_some_results(device: str) -> Any:
    def policy(ctx: Any, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
        keep = op in (torch.ops.aten.addmm.default, torch.ops.aten.mm.default)
        return CheckpointPolicy.MUST_SAVE if keep else CheckpointPolicy.PREFER_RECOMPUTE

    model = _layers(device)
    x = torch.randn(4, 6).to(device).requires_grad_()
    context = lambda: create_selective_checkpoint_contexts(policy)  # noqa: E731  # as the documentation writes it
    checkpoint(model, x, use_reentrant=False, context_fn=context).sum().backward()
    return x.grad, _slopes(model)


def saved_tensors_on_the_cpu(device: str) -> Any:
    model = _layers(device)
    with save_on_cpu(pin_memory=device == "cuda"):
        output = model(torch.randn(4, 6).to(device))
    output.sum().backward()
    return [each.mul(1e4).round() for each in _slopes(model)]  # a pinned copy is contiguous, and rounds otherwise


def hooks_of_saved_tensors(device: str) -> Any:
    x = torch.randn(3, 3).to(device).requires_grad_()
    packed: list[str] = []

    def pack(tensor: torch.Tensor) -> Any:
        packed.append(tensor.device.type)
        return tensor.device, tensor.cpu()

    with saved_tensors_hooks(pack, lambda kept: kept[1].to(kept[0])):
        y = (x @ x).exp().sum()
    y.backward()
    assert set(packed) == {device}
    return x.grad


def gradcheck(device: str) -> Any:
    x = torch.randn(3, dtype=torch.double).to(device).requires_grad_()
    by = torch.full((1,), 1.5, dtype=torch.double, device=device, requires_grad=True)
    return torch.autograd.gradcheck(_Scale.apply, (x, by)), torch.autograd.gradgradcheck(_Scale.apply, (x, by))


def anomaly_detection(device: str) -> Any:
    with torch.autograd.detect_anomaly(check_nan=True):
        x = torch.randn(3).to(device).requires_grad_()
        x.exp().sum().backward()
    return x.grad


def backward_into_chosen_inputs(device: str) -> Any:
    a, b = (torch.randn(3).to(device).requires_grad_() for _ in range(2))
    (a * b).sum().backward(inputs=[a])
    assert b.grad is None
    return a.grad


def gradients_across_devices(device: str) -> Any:
    weight = torch.randn(3, requires_grad=True)
    (weight.to(device) * torch.arange(3.0, device=device)).sum().backward()
    assert weight.grad is not None and weight.grad.device.type == "cpu"
    return weight.grad


def inference_mode(device: str) -> Any:
    model = _layers(device).eval()
    with torch.inference_mode():
        output = model(torch.randn(4, 6).to(device))
        output = output.reshape(-1)[output.argmax() :]
        assert output.device.type == device
        return output.clone()


def straight_through_estimator(device: str) -> Any:
    logits = torch.randn(4, 5).to(device).requires_grad_()
    hard = F.gumbel_softmax(logits, hard=True)
    (hard * torch.arange(5.0, device=device)).sum().backward()
    return hard, logits.grad
