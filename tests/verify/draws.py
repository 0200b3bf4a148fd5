"""A program that draws random numbers in every way that PyTorch has, on a device."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

__all__ = ["drawn"]


def drawn(device: str) -> dict[str, Any]:
    """What each way draws, by its name, as tensors on the CPU; last the state of the CPU's generator."""
    torch.manual_seed(5)
    found = {**_factories(device), **_in_place(device), **_samples(device), **_layers(device), **_initial(device)}
    return {name: value.detach().cpu() for name, value in found.items()} | {"state": torch.get_rng_state()}


def _factories(device: str) -> dict[str, Any]:
    x = torch.randn(3, 4, device=device)
    generator = torch.Generator(device).manual_seed(1)
    return {
        "randn": x,
        "rand": torch.rand(2, device=device),
        "randint": torch.randint(9, (5,), device=device),
        "randperm": torch.randperm(6, device=device),
        "normal": torch.normal(0.0, 1.0, (3,), device=device),
        "rand_like": torch.rand_like(x),
        "randn_like": torch.randn_like(x),
        "randint_like": torch.randint_like(x, 7),
        "float64": torch.randn(2, dtype=torch.float64, device=device),
        "half": torch.randn(20, dtype=torch.float16, device=device),
        "out": torch.randn(3, out=torch.empty(3, device=device)),
        "generator": torch.randn(2, generator=generator, device=device),
        "the same generator": torch.rand(2, generator=generator, device=device),
    }


def _in_place(device: str) -> dict[str, Any]:
    empty = torch.ones(3, 4, device=device)
    found = {"bernoulli_ by tensor": empty.clone().bernoulli_(torch.full((3, 4), 0.5, device=device))}
    ways = {"normal": (), "uniform": (-1, 1), "bernoulli": (0.3,), "exponential": (), "random": (9,)}
    ways |= {"cauchy": (), "log_normal": (), "geometric": (0.5,)}
    for name, arguments in ways.items():
        found[f"{name}_"] = getattr(empty.clone(), f"{name}_")(*arguments)
        found[f"{name}_ of a view"] = getattr(empty.clone().T, f"{name}_")(*arguments)
    return found


def _samples(device: str) -> dict[str, Any]:
    x = torch.linspace(0.1, 0.9, 12, device=device).reshape(3, 4)
    return {
        "bernoulli": torch.bernoulli(x),
        "normal by tensor": torch.normal(x, 1.0),
        "multinomial": torch.multinomial(x, 3),
        "multinomial with replacement": torch.multinomial(x, 9, replacement=True),
        "poisson": torch.poisson(x),
        "binomial": torch.binomial(torch.full_like(x, 9.0), x),
        "gamma": torch.distributions.Gamma(x, 1.0).sample(),
        "dirichlet": torch.distributions.Dirichlet(x).sample(),
        "categorical": torch.distributions.Categorical(x).sample(),
    }


def _layers(device: str) -> dict[str, Any]:
    x = torch.linspace(-1, 1, 60, device=device).reshape(5, 3, 4).requires_grad_()
    image = torch.ones(2, 3, 6, 6, device=device)
    found = {
        "dropout": functional.dropout(x, 0.5),
        "dropout of a view": functional.dropout(x.transpose(0, 1), 0.5),
        "dropout without gradient": functional.dropout(image, 0.2),
        "dropout in place": functional.dropout(image.clone(), 0.2, inplace=True),
        "Dropout": nn.Dropout(0.3)(x),
        "Dropout2d": nn.Dropout2d(0.5)(image),
        "alpha_dropout": functional.alpha_dropout(x, 0.5, training=True),
        "feature_alpha_dropout": functional.feature_alpha_dropout(image, 0.5, training=True),
        "rrelu": functional.rrelu(x, training=True),
        "gumbel_softmax": functional.gumbel_softmax(x),
        "fractional_max_pool": nn.FractionalMaxPool2d(2, output_size=2)(image),
        "attention": functional.scaled_dot_product_attention(x, x, x, dropout_p=0.3),
        "MultiheadAttention": nn.MultiheadAttention(4, 2, dropout=0.5, device=device)(x, x, x)[0],
        "TransformerEncoderLayer": nn.TransformerEncoderLayer(4, 2, 8, dropout=0.4, device=device)(x),
    }
    for kind in (nn.LSTM, nn.GRU, nn.RNN):
        found[kind.__name__] = kind(4, 4, 2, dropout=0.5, device=device)(x)[0]
    return found


def _initial(device: str) -> dict[str, Any]:
    weight = torch.empty(3, 4, device=device)
    ways = ("kaiming_normal_", "kaiming_uniform_", "xavier_normal_", "orthogonal_", "trunc_normal_")
    found = {name: getattr(nn.init, name)(weight.clone()) for name in ways}
    layers = (nn.Linear(4, 4, device=device), nn.Conv2d(2, 3, 3, device=device), nn.Embedding(5, 4, device=device))
    return found | {type(layer).__name__: layer.weight for layer in layers}
