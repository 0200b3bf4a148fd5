"""Normalise measurements, compute features of them on the accelerator, and write both."""
import json

import numpy as np
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def measurements(count=120, size=12):
    generator = np.random.default_rng(15)
    return torch.from_numpy(generator.normal(3.0, 2.0, size=(count, size))).float()


def normalised(values):
    mean = values.mean(0)
    spread = values.std(0)
    return ((values - mean) / spread).clamp(-3, 3)


def features(values, basis):
    projected = values @ basis
    return torch.cat([projected.sin(), projected.cos()], 1).mean(1)


values = normalised(measurements())
generator = torch.Generator().manual_seed(15)
basis = torch.randn(12, 40, generator=generator).to(device)
found = features(values, basis)
np.save("normalised.npy", values.cpu().numpy())
np.save("features.npy", found.cpu().numpy())
with open("summary.json", "w") as file:
    json.dump({"mean": found.mean().item(), "spread": found.std().item()}, file)
