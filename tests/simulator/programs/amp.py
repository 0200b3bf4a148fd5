"""Mixed precision: the CPU computes what CUDA's lists of operators say, by explicit casts."""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # everybody calls it so


def _region(device: str, dtype: torch.dtype, **options: Any) -> Any:
    return torch.autocast(device, dtype, **options) if device == "cuda" else contextlib.nullcontext()


def matrix_products_are_low(device: str) -> Any:
    x, weight = torch.randn(3, 4).to(device), torch.randn(4, 2).to(device)
    for dtype in (torch.bfloat16, torch.float16):
        with torch.autocast("cuda", dtype, enabled=device == "cuda"):
            found = (
                x @ weight,
                F.linear(x, weight.t()),
                torch.einsum("ij,jk->ik", x, weight),
                torch.mv(weight.t(), x[0]),
            )
        if device == "cuda":
            assert {each.dtype for each in found} == {dtype}
    low, other = x.half(), weight.half()
    return (
        found if device == "cuda" else (low @ other, F.linear(low, other.t()), low @ other, torch.mv(other.t(), low[0]))
    )


def some_operators_are_float32(device: str) -> Any:
    x = torch.randn(3, 4).to(device).bfloat16()
    with _region(device, torch.bfloat16):
        y = x if device == "cuda" else x.float()
        found = [
            y.softmax(-1), y.log_softmax(-1), y.exp(), y.pow(2), y.sum(), y.cumsum(0), y.prod(),
            F.layer_norm(y, (4,)), F.mse_loss(y, y + 1), F.cosine_similarity(y, y), torch.norm(y), torch.logsumexp(y, 0),  # noqa: E501
            F.cross_entropy(y, torch.tensor([0, 1, 2], device=device)), F.softplus(y), torch.linalg.vector_norm(y),
        ]  # fmt: skip
    assert {each.dtype for each in found} == {torch.float32}
    return [found[0], found[2], found[4]]


def other_operators_keep_their_dtype(device: str) -> Any:
    x = torch.randn(3, 4).to(device).bfloat16()
    with _region(device, torch.bfloat16):
        found = [x.relu(), x + 1, x.mean(), x.tanh(), x.sigmoid(), F.gelu(x), x.max(), x * x]
        mixed = x + torch.ones(4, device=device)
    assert {each.dtype for each in found} == {torch.bfloat16} and mixed.dtype == torch.float32
    return found, mixed


def widest_dtype_is_taken(device: str) -> Any:
    if device == "cpu":
        return 0
    low, high = torch.ones(3, device=device).bfloat16(), torch.ones(3, device=device)
    with torch.autocast(device, torch.bfloat16):
        found = torch.dot(low, high), torch.addcmul(low, high, low), torch.cross(low, high, dim=0)
        batch = torch.stack([low, high]), torch.cat([low, high])
    assert {each.dtype for each in (*found, *batch)} == {torch.float32}
    return 0


def training_in_bfloat16(device: str) -> Any:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)).to(device)
    x, y = torch.randn(6, 4).to(device), torch.randint(3, (6,)).to(device)
    if device == "cuda":
        with torch.autocast("cuda", torch.bfloat16):
            output = model(x)
            loss = F.cross_entropy(output, y)
        assert output.dtype == torch.bfloat16 and loss.dtype == torch.float32
    else:
        first = F.linear(x.bfloat16(), model[0].weight.bfloat16(), model[0].bias.bfloat16()).relu()
        output = F.linear(first, model[2].weight.bfloat16(), model[2].bias.bfloat16())
        loss = F.nll_loss(F.log_softmax(output, -1).float(), y)  # cross_entropy_loss names the dtype of log_softmax
    loss.backward()
    assert model[0].weight.grad.dtype == torch.float32
    return loss, [each.grad for each in model.parameters()]


def training_with_scaled_gradients(device: str) -> Any:
    model = nn.Linear(4, 3).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler(device, init_scale=256.0, growth_interval=2)
    x, y = torch.randn(6, 4).to(device), torch.randint(3, (6,)).to(device)
    for _ in range(4):
        optimizer.zero_grad()
        with _region(device, torch.float16):
            output = model(x) if device == "cuda" else F.linear(x.half(), model.weight.half(), model.bias.half())
            loss = F.cross_entropy(output, y) if device == "cuda" else F.nll_loss(F.log_softmax(output, -1).float(), y)
        assert output.dtype == torch.float16
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    assert scaler.get_scale() == 1024.0
    return loss, list(model.parameters()), scaler.state_dict()["scale"]


def regions_in_regions(device: str) -> Any:
    x = torch.randn(3, 3).to(device)
    if device == "cuda":
        with torch.autocast("cuda", torch.float16):
            assert torch.is_autocast_enabled("cuda") and torch.get_autocast_dtype("cuda") == torch.float16
            low = x @ x
            with torch.autocast("cuda", enabled=False):
                high = low.float() @ x
            with torch.autocast("cuda", torch.bfloat16):
                other = x @ x
            again = x @ x
        assert [each.dtype for each in (low, high, other, again)] == [
            torch.float16,
            torch.float32,
            torch.bfloat16,
            torch.float16,
        ]
        assert not torch.is_autocast_enabled("cuda") and (x @ x).dtype == torch.float32
        return low, high, other
    low = x.half() @ x.half()
    return low, low.float() @ x, x.bfloat16() @ x.bfloat16()


class _Square(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x @ x

    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    def backward(ctx: Any, slope: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return slope @ x.t() + x.t() @ slope


def functions_that_cast(device: str) -> Any:
    x = torch.randn(3, 3).to(device).half().requires_grad_()
    with _region(device, torch.float16):
        y = _Square.apply(x if device == "cuda" else x.float())
    assert y.dtype == torch.float32
    y.sum().backward()
    return y, x.grad


def the_cpus_tensors_keep_their_dtype(device: str) -> Any:
    x = torch.randn(3, 3)
    with torch.autocast("cuda", torch.float16, enabled=device == "cuda"):
        y = x @ x
    assert y.dtype == torch.float32
    return y


def convolutions_and_recurrent_layers(device: str) -> Any:
    image = torch.randn(2, 3, 8, 8).to(device)
    convolution, layer = nn.Conv2d(3, 4, 3).to(device), nn.LSTMCell(4, 4).to(device)
    if device == "cpu":
        return F.conv2d(image.bfloat16(), convolution.weight.bfloat16(), convolution.bias.bfloat16())
    with torch.autocast("cuda", torch.bfloat16):
        found = convolution(image)
        hidden, _ = layer(torch.randn(2, 4, device=device))
        normal = nn.BatchNorm2d(4).to(device)(found)
        attention = F.scaled_dot_product_attention(*[torch.ones(1, 2, 3, 4, device=device)] * 3)
    assert found.dtype == hidden.dtype == attention.dtype == normal.dtype == torch.bfloat16
    return found


def whole_model_in_bfloat16(device: str) -> Any:
    model = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.GELU(), nn.Linear(4, 2)).to(device, torch.bfloat16)
    y = model(torch.randn(3, 4).to(device, torch.bfloat16))
    y.sum().backward()
    return y, [each.grad for each in model.parameters()]
