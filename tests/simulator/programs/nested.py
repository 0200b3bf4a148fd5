"""Nested tensors, strided and jagged."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # everybody calls it so


def strided(device: str) -> Any:
    x = torch.nested.nested_tensor([torch.arange(3.0), torch.arange(2.0)], device=device)
    assert x.device.type == device and x.is_nested and all(each.device.type == device for each in x.unbind())
    return torch.nested.to_padded_tensor(x, 0.0), [each * 2 for each in x.unbind()]


def strided_of_matrices(device: str) -> Any:
    x = torch.nested.nested_tensor([torch.ones(2, 6), torch.ones(3, 6)], device=device)
    assert x.device.type == device
    return x.to_padded_tensor(0.0) + torch.ones(6, device=device)


def strided_from_tensors(device: str) -> Any:
    parts = [torch.randn(2, 4).to(device).requires_grad_(), torch.randn(3, 4).to(device).requires_grad_()]
    x = torch.nested.as_nested_tensor(parts)
    layer = nn.Linear(4, 2).to(device)
    y = layer(x)
    assert y.device.type == device
    torch.nested.to_padded_tensor(y, 0.0).sum().backward()
    return [each.grad for each in parts], layer.weight.grad


def strided_that_moves(device: str) -> Any:
    x = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(1, 3)]).to(device)
    assert x.device.type == device
    return (x + x).to_padded_tensor(0.0), x.cpu().to_padded_tensor(0.0)


def jagged(device: str) -> Any:
    parts = [torch.randn(2, 4), torch.randn(3, 4)]
    x = torch.nested.nested_tensor(parts, layout=torch.jagged, device=device, requires_grad=True)
    assert x.device.type == x.values().device.type == x.offsets().device.type == device
    layer = nn.Linear(4, 2).to(device)
    y = F.relu(layer(x))
    assert y.device.type == device
    y.values().sum().backward()
    return y.values(), x.offsets(), layer.weight.grad, x.to_padded_tensor(0.0)


def jagged_from_values(device: str) -> Any:
    values, offsets = torch.randn(5, 3).to(device), torch.tensor([0, 2, 5], device=device)
    x = torch.nested.nested_tensor_from_jagged(values, offsets)
    assert x.device.type == device
    return [each.sum() for each in x.unbind()], (x * 2).values(), x.sum(dim=1) if x.dim() == 3 else None


def jagged_that_moves(device: str) -> Any:
    x = torch.nested.as_nested_tensor([torch.ones(2, 3), torch.ones(1, 3)], layout=torch.jagged).to(device)
    assert x.device.type == x.values().device.type == device
    return (x + 1).values(), x.offsets()


def attention_over_jagged(device: str) -> Any:
    parts = [torch.randn(2, 8), torch.randn(3, 8)]
    x = torch.nested.nested_tensor(parts, layout=torch.jagged, device=device)
    heads = x.unflatten(-1, [2, 4]).transpose(1, 2)
    found = F.scaled_dot_product_attention(heads, heads, heads)
    assert found.device.type == device
    return found.transpose(1, 2).flatten(-2).values()


def narrowed(device: str) -> Any:
    x = torch.arange(12.0).reshape(2, 6).to(device)
    lengths = torch.tensor([2, 4], device=device)
    y = torch.nested.narrow(x, 1, torch.zeros(2, dtype=torch.long, device=device), lengths, layout=torch.jagged)
    assert y.device.type == device
    return [each * 2 for each in y.unbind()]
