import torch
from torch import nn

from engine import Trainer


def build_model(hidden):
    layers = [nn.Linear(9, hidden), nn.ELU(), nn.Linear(hidden, 3)]
    return nn.Sequential(*layers)


torch.manual_seed(17)
batches = [(torch.randn(8, 9), torch.randint(0, 3, (8,))) for _ in range(4)]
trainer = Trainer(build_model(10), lr=0.03)
trainer.fit(batches, epochs=2)
