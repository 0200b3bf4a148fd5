from __future__ import annotations

import numpy as np
import torch
from torch import nn

from apps.pes import Potential


class PairNet(nn.Module):
    def __init__(self, n_elements: int = 4, dim: int = 8):
        super().__init__()
        self.embed = nn.Embedding(n_elements, dim)
        self.out = nn.Sequential(nn.Linear(2 * dim + 1, 16), nn.SiLU(), nn.Linear(16, 1))

    def forward(self, z, pos):
        delta = pos[:, :, None] - pos[:, None]
        r2 = (delta**2).sum(-1, keepdim=True)
        e = self.embed(z)
        n = z.shape[1]
        pairs = torch.cat((e[:, :, None].expand(-1, -1, n, -1), e[:, None].expand(-1, n, -1, -1), torch.exp(-r2)), -1)
        return self.out(pairs).sum((1, 2, 3))


class PotentialTrainer:
    def __init__(self, model, element_refs, data_mean, data_std, force_weight=1.0, lr=1e-3, device="cpu"):
        self.device = torch.device(device)
        self.model = Potential(model=model, element_refs=element_refs, data_mean=data_mean, data_std=data_std)
        self.model.to(self.device)
        self.force_weight = force_weight
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)

    def training_step(self, batch):
        z, pos, energies, forces = (x.to(self.device) for x in batch)
        e, f = self.model(z, pos)
        loss = nn.functional.mse_loss(e, energies) + self.force_weight * nn.functional.mse_loss(f, forces)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


if __name__ == "__main__":
    torch.manual_seed(133)
    data = []
    for _ in range(4):
        z, pos = torch.randint(4, (3, 5)), torch.randn(3, 5, 3)
        data.append((z, pos, z.sum(1).float() - 2.0, -0.1 * pos))
    energies = torch.cat([d[2] for d in data])
    trainer = PotentialTrainer(
        PairNet(),
        element_refs=np.linspace(0.0, 1.0, 4),
        data_mean=energies.mean(),
        data_std=energies.std().reshape(1),
        device="cuda" if torch.cuda.is_available() else "cpu",
    )
    for n, batch in enumerate(data):
        print(f"step {n}: Total_Loss={trainer.training_step(batch):.4f}")
