"""Sparse tensors of all layouts."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


def _matrix(device: str) -> torch.Tensor:
    index = torch.tensor([[0, 1, 1, 2], [2, 0, 2, 1]], device=device)
    return torch.sparse_coo_tensor(index, torch.tensor([1.0, 2.0, 3.0, 4.0], device=device), (3, 3))


def coordinates(device: str) -> Any:
    x = _matrix(device).coalesce()
    assert x.device.type == x.indices().device.type == x.values().device.type == device
    assert x.is_cuda == (device == "cuda")
    y = (x + x).coalesce()
    return y.to_dense(), y.indices(), y.values(), y.t().to_dense(), torch.sparse.sum(x, 0).to_dense()


def coordinates_that_move(device: str) -> Any:
    x = _matrix("cpu").to(device)
    assert x.device.type == x._values().device.type == device and x.cpu().device.type == "cpu"
    return x.to_dense(), x.cpu().to_dense()


def coordinates_from_the_cpu(device: str) -> Any:
    index, values = torch.tensor([[0, 1], [1, 0]]), torch.tensor([1.0, 2.0])
    x = torch.sparse_coo_tensor(index, values, (2, 2), device=device)
    assert x.device.type == device and x.coalesce().values().device.type == device
    return x @ torch.ones(2, 2, device=device)


def products_with_gradients(device: str) -> Any:
    x, weight = _matrix(device).requires_grad_(), torch.randn(3, 2).to(device).requires_grad_()
    y = torch.sparse.mm(x, weight)
    assert y.device.type == device
    y.square().sum().backward()
    return y, x.grad.to_dense(), weight.grad


def graph_convolution(device: str) -> Any:
    adjacency, layer = _matrix("cpu").coalesce().to(device), nn.Linear(4, 2).to(device)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.1)
    features = torch.randn(3, 4).to(device)
    for _ in range(3):
        optimizer.zero_grad()
        torch.spmm(adjacency, layer(features)).square().sum().backward()
        optimizer.step()
    return list(layer.parameters())


def compressed_rows(device: str) -> Any:
    x = _matrix(device).to_sparse_csr()
    assert x.device.type == x.values().device.type == x.crow_indices().device.type == device
    made = torch.sparse_csr_tensor(
        torch.tensor([0, 1, 2]), torch.tensor([1, 0]), torch.tensor([3.0, 4.0]), (2, 2), device=device
    )
    assert made.device.type == device
    return x @ torch.ones(3, device=device), made.to_dense(), x.to("cpu").values(), made.crow_indices()


def compressed_rows_that_move(device: str) -> Any:
    x = torch.eye(4).to_sparse_csr().to(device)
    assert x.device.type == x.col_indices().device.type == device
    return x.matmul(torch.arange(8.0, device=device).reshape(4, 2)), x.cpu().to_dense()


def compressed_blocks(device: str) -> Any:
    x = torch.arange(16.0).reshape(4, 4).to(device).to_sparse_bsr((2, 2))
    assert x.device.type == device
    return x.to_dense(), x.values(), x.to_dense() @ torch.ones(4, 1, device=device)


def compressed_columns(device: str) -> Any:
    x = torch.eye(3, device=device).to_sparse_csc()
    assert x.ccol_indices().device.type == device
    return x.to_dense()


def from_dense_and_back(device: str) -> Any:
    x = torch.tensor([[0.0, 1.0], [2.0, 0.0]], device=device, requires_grad=True)
    (x.to_sparse().to_dense() * torch.ones(2, 2, device=device)).sum().backward()
    mask = x.detach().to_sparse().coalesce()
    return x.grad, (x.detach() * 3).sparse_mask(mask).to_dense(), torch.sparse.softmax(mask, 1).to_dense()


def gradients_of_embeddings(device: str) -> Any:
    model = nn.Embedding(10, 3, sparse=True).to(device)
    optimizer = torch.optim.SparseAdam(model.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.tensor([1, 4, 4], device=device)).square().sum().backward()
        assert model.weight.grad.is_sparse and model.weight.grad.device.type == device
        optimizer.step()
    return model.weight


def copies(device: str) -> Any:
    import copy
    import io

    x = _matrix(device)
    buffer = io.BytesIO()
    torch.save(x, buffer)
    buffer.seek(0)
    loaded = torch.load(buffer)
    others = [copy.deepcopy(x), x.clone(), loaded, torch.zeros_like(x) + x, x * 2, x.detach(), x.double()]
    assert {each.device.type for each in others} == {device}
    return [each.to_dense() for each in others]
