"""Generators, states of random numbers, and default devices."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F  # noqa: N812  # everybody calls it so
from torch.utils.data import DataLoader, RandomSampler, TensorDataset, random_split


def generators(device: str) -> Any:
    generator = torch.Generator(device=device).manual_seed(3)
    found = [
        torch.randn(4, device=device, generator=generator),
        torch.randperm(5, device=device, generator=generator),
        torch.randint(9, (3,), device=device, generator=generator),
        torch.empty(3, device=device).normal_(generator=generator),
        torch.empty(3, device=device).uniform_(generator=generator),
        torch.bernoulli(torch.full((5,), 0.5, device=device), generator=generator),
        torch.multinomial(torch.ones(6, device=device), 2, generator=generator),
    ]
    assert generator.device.type == device and all(each.device.type == device for each in found)
    kept = generator.get_state()
    first = torch.rand(2, device=device, generator=generator)
    generator.set_state(kept)
    assert torch.equal(first, torch.rand(2, device=device, generator=generator))
    copied = generator.clone_state() if hasattr(generator, "clone_state") else None
    assert copied is None or copied.device.type == device
    return found, generator.initial_seed()


def states(device: str) -> Any:
    module = torch.cuda if device == "cuda" else torch
    kept = module.get_rng_state()
    assert kept.device.type == "cpu" and kept.dtype == torch.uint8
    first = torch.rand(3, device=device)
    module.set_rng_state(kept)
    second = torch.rand(3, device=device)
    assert torch.equal(first, second)
    if device == "cuda":
        everything = torch.cuda.get_rng_state_all()
        torch.rand(3, device=device)
        torch.cuda.set_rng_state_all(everything)
        return torch.rand(3, device=device)
    torch.rand(3)
    torch.set_rng_state(kept)
    torch.rand(3)
    return torch.rand(3)


def forked_states(device: str) -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(11)
        inside = F.dropout(torch.ones(8, device=device))
    after = torch.rand(2, device=device)
    with torch.random.fork_rng(devices=[0] if device == "cuda" else []):
        torch.rand(5, device=device)
    return inside, after, torch.rand(2, device=device)


def seeds(device: str) -> Any:
    torch.manual_seed(5)
    if device == "cuda":
        torch.cuda.manual_seed(5)
        torch.cuda.manual_seed_all(5)
        assert torch.cuda.initial_seed() == 5
    return torch.rand(3, device=device)


def default_device(device: str) -> Any:
    torch.set_default_device(device)
    try:
        assert torch.get_default_device().type == device
        x = torch.randn(3)
        layer = torch.nn.Linear(3, 2)
        numbers = torch.tensor([1.0, 2.0]), torch.arange(3), torch.from_numpy(x.cpu().numpy())
        assert x.device.type == layer.weight.device.type == numbers[0].device.type == device
        assert numbers[2].device.type == "cpu" and torch.ones(1, device="cpu").device.type == "cpu"
        with torch.device("cpu"):
            assert torch.zeros(1).device.type == "cpu"
        return layer(x), numbers
    finally:
        torch.set_default_device(None)


def device_as_a_context(device: str) -> Any:
    with torch.device(device):
        model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3))
        assert {each.device.type for each in model.state_dict().values()} == {device}
        return model(torch.randn(4, 3))


def samplers(device: str) -> Any:
    data = TensorDataset(torch.arange(8.0))
    first, second = random_split(data, [6, 2], generator=torch.Generator().manual_seed(1))
    sampler = RandomSampler(first, generator=torch.Generator().manual_seed(2))
    return [batch.to(device) for (batch,) in DataLoader(first, 3, sampler=sampler)], [each[0] for each in second]


def distributions(device: str) -> Any:
    mean = torch.zeros(3, device=device, requires_grad=True)
    normal = torch.distributions.Normal(mean, torch.ones(3, device=device))
    sample = normal.rsample((2,))
    choice = torch.distributions.Categorical(logits=torch.zeros(4, device=device)).sample((5,))
    gamma = torch.distributions.Dirichlet(torch.ones(3, device=device)).sample()
    joint = torch.distributions.MultivariateNormal(mean.detach(), torch.eye(3, device=device)).sample()
    assert sample.device.type == choice.device.type == gamma.device.type == joint.device.type == device
    normal.log_prob(sample).sum().backward()
    return sample, choice, gamma, joint, mean.grad, torch.distributions.kl_divergence(normal, normal)


def devices_of_arguments(device: str) -> Any:
    x = torch.zeros(2, device=torch.device(device, 0) if device == "cuda" else device)
    with torch.cuda.device(0 if device == "cuda" else -1):
        pass
    assert str(torch.device(device)) == device and x.device == torch.device(x.device)
    others = [
        x.new_ones(2),
        torch.ones_like(x),
        torch.empty_like(x).fill_(1),
        x.clone(),
        x.to(x),
        x.type(torch.float64),
    ]
    assert {each.device for each in others} == {x.device} and others[5].dtype == torch.float64
    return others
