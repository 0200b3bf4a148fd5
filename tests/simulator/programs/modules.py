"""Modules whose weights come late, are computed, or are read by other code."""

from __future__ import annotations

import copy
import io
from typing import Any

import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize, prune
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


def _trained(model: nn.Module, *given: Any, steps: int = 2) -> Any:
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        output = model(*given)
        loss = (output[0] if isinstance(output, tuple) else output).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses, model.state_dict()


def lazy_linear(device: str) -> Any:
    model = nn.Sequential(nn.LazyLinear(5), nn.ReLU(), nn.LazyLinear(2)).to(device)
    model(torch.randn(3, 4).to(device))
    assert {each.device.type for each in model.parameters()} == {device}
    return _trained(model, torch.randn(3, 4).to(device))


def lazy_convolutions(device: str) -> Any:
    model = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2))
    model = model.to(device)
    model(torch.randn(2, 3, 8, 8, device=device))
    return _trained(model, torch.randn(2, 3, 8, 8).to(device))


def lazy_weights_from_a_checkpoint(device: str) -> Any:
    given = {"weight": torch.randn(3, 4), "bias": torch.randn(3)}
    model = nn.LazyLinear(3).to(device)
    model.load_state_dict(given)
    return model(torch.randn(2, 4).to(device)), model.weight


def weights_from_meta(device: str) -> Any:
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    model = model.to_empty(device=device)
    for layer in model:
        layer.reset_parameters()
    return _trained(model, torch.randn(6, 4).to(device))


def weights_assigned_to_meta(device: str) -> Any:
    state = nn.Linear(4, 3).to(device).state_dict()
    with torch.device("meta"):
        model = nn.Linear(4, 3)
    model.load_state_dict(state, assign=True)
    assert model.weight.device.type == device
    return _trained(model, torch.randn(2, 4).to(device))


def weights_that_are_not_initialized(device: str) -> Any:
    model = nn.utils.skip_init(nn.Linear, 4, 3, device=device)
    nn.init.kaiming_uniform_(model.weight)
    nn.init.zeros_(model.bias)
    return _trained(model, torch.randn(2, 4).to(device))


def normalized_weights(device: str) -> Any:
    model = nn.Sequential(
        parametrizations.weight_norm(nn.Linear(4, 4)), parametrizations.spectral_norm(nn.Linear(4, 3))
    )
    return _trained(model.to(device), torch.randn(2, 4).to(device))


def orthogonal_weights(device: str) -> Any:
    model = parametrizations.orthogonal(nn.Linear(4, 4)).to(device)
    return _trained(model, torch.randn(2, 4).to(device))


class _Symmetric(nn.Module):
    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        return weight.triu() + weight.triu(1).transpose(-1, -2)

    def right_inverse(self, weight: torch.Tensor) -> torch.Tensor:
        return weight.triu()


def parametrized_weights(device: str) -> Any:
    model = nn.Linear(4, 4).to(device)
    parametrize.register_parametrization(model, "weight", _Symmetric())
    model.weight = torch.ones(4, 4, device=device)
    found = _trained(model, torch.randn(2, 4).to(device))
    parametrize.remove_parametrizations(model, "weight")
    return found, model.weight


def pruned_weights(device: str) -> Any:
    model = nn.Linear(6, 4).to(device)
    prune.l1_unstructured(model, "weight", amount=0.5)
    found = _trained(model, torch.randn(2, 6).to(device))
    prune.remove(model, "weight")
    return found, model.weight


def averaged_weights(device: str) -> Any:
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)).to(device)
    average = AveragedModel(model, device=torch.device(device), multi_avg_fn=get_ema_multi_avg_fn(0.9))
    for _ in range(3):
        _trained(model, torch.randn(5, 4).to(device), steps=1)
        average.update_parameters(model)
    torch.optim.swa_utils.update_bn([torch.randn(5, 4) for _ in range(2)], average, device=torch.device(device))
    return average.state_dict()


def copies_and_checkpoints(device: str) -> Any:
    model = nn.Linear(4, 3).to(device)
    other = copy.deepcopy(model)
    buffer = io.BytesIO()
    torch.save({"model": model.state_dict(), "whole": other}, buffer)
    buffer.seek(0)
    loaded = torch.load(buffer, weights_only=False)
    assert loaded["whole"].weight.device.type == device
    buffer.seek(0)
    on_cpu = torch.load(buffer, map_location="cpu", weights_only=False)
    assert on_cpu["model"]["weight"].device.type == "cpu"
    return loaded["whole"](torch.ones(2, 4, device=device)), on_cpu["model"]


def weights_as_one_vector(device: str) -> Any:
    model = nn.Linear(4, 3).to(device)
    vector = nn.utils.parameters_to_vector(model.parameters())
    nn.utils.vector_to_parameters(vector * 2, model.parameters())
    total = nn.utils.get_total_norm(model.parameters())
    return vector, model.weight, total


def recurrent_layers_on_packed_sequences(device: str) -> Any:
    model = nn.LSTM(3, 4, num_layers=2, bidirectional=True, batch_first=True).to(device)
    x, lengths = torch.randn(3, 6, 3).to(device), torch.tensor([6, 4, 2])
    output, (hidden, _) = model(pack_padded_sequence(x, lengths, batch_first=True))
    padded, found = pad_packed_sequence(output, batch_first=True)
    assert found.device.type == "cpu" and padded.device.type == device
    (padded.sum() + hidden.sum()).backward()
    return padded, found, [each.grad for each in model.parameters()]


def attention(device: str) -> Any:
    model = nn.MultiheadAttention(8, 2, batch_first=True).to(device)
    x = torch.randn(2, 5, 8).to(device)
    mask = nn.Transformer.generate_square_subsequent_mask(5, device=torch.device(device))
    ignored = torch.tensor([[False] * 5, [False] * 3 + [True] * 2], device=device)
    return model(x, x, x, attn_mask=mask, key_padding_mask=ignored.float().masked_fill(ignored, -1e9))


def encoder_in_evaluation(device: str) -> Any:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    model = nn.TransformerEncoder(layer, 2).to(device).eval()
    ignored = torch.tensor([[False] * 5, [False] * 3 + [True] * 2], device=device)
    with torch.no_grad():
        return model(torch.randn(2, 5, 8).to(device), src_key_padding_mask=ignored)[:, :3]


def bags_of_embeddings(device: str) -> Any:
    model = nn.EmbeddingBag(10, 3, mode="mean").to(device)
    words, offsets = torch.randint(10, (7,), device=device), torch.tensor([0, 3], device=device)
    return _trained(model, words, offsets)


def temporal_classification(device: str) -> Any:
    scores = torch.randn(12, 2, 5).to(device).requires_grad_()
    loss = nn.CTCLoss()(
        scores.log_softmax(-1),
        torch.randint(1, 5, (2, 4)).to(device),
        torch.full((2,), 12, dtype=torch.long),
        torch.full((2,), 4, dtype=torch.long),
    )
    loss.backward()
    return loss, scores.grad


def fused_batch_norm(device: str) -> Any:
    model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3)).to(device).eval()
    fused = nn.utils.fusion.fuse_conv_bn_eval(model[0], model[1])
    return fused(torch.randn(1, 2, 6, 6).to(device))


def optimizers_of_many_kinds(device: str) -> Any:
    found = []
    for kind in (torch.optim.Adam, torch.optim.RMSprop, torch.optim.Adagrad, torch.optim.Adadelta, torch.optim.NAdam):
        model = nn.Linear(3, 2).to(device)
        x = torch.randn(4, 3).to(device)
        optimizer = kind(model.parameters(), lr=0.01, foreach=True)

        def loss(model: nn.Module = model, x: torch.Tensor = x, optimizer: Any = optimizer) -> torch.Tensor:
            optimizer.zero_grad()
            value = model(x).square().mean()
            value.backward()
            return value

        for _ in range(2):
            optimizer.step(loss)
        state = copy.deepcopy(optimizer.state_dict())
        optimizer.load_state_dict(state)
        optimizer.step(loss)
        found.append(list(model.parameters()))
    return found


def capturable_optimizer(device: str) -> Any:
    model = nn.Linear(3, 2).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, capturable=device == "cuda")
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.ones(4, 3, device=device)).square().mean().backward()
        optimizer.step()
    assert optimizer.state[model.weight]["step"].device.type == device
    return [each.detach().mul(1e4).round() for each in model.parameters()]  # the step's arithmetic is another
