import copy
from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class SimCLRConfig:
    feature_dim: int = 16
    proj_dim: int = 8
    temperature: float = 0.2
    steps: int = 4
    batch_size: int = 10
    lr: float = 0.02
    device: torch.device = field(
        default_factory=lambda: torch.device("cuda" if torch.cuda.is_available() else "cpu"))


def augment(x, gen):
    return x + 0.1 * torch.randn(x.shape, generator=gen)


class SimCLR:
    """Contrastive pretraining of any encoder that is an nn.Sequential."""

    def __init__(self, encoder, config):
        self.config = config
        self.encoder = encoder.to(config.device)
        self.encoder.add_module("projection", nn.Sequential(
            nn.Linear(config.feature_dim, config.feature_dim),
            nn.ReLU(),
            nn.Linear(config.feature_dim, config.proj_dim),
        ))
        self.encoder.to(config.device)
        self.optimizer = torch.optim.SGD(self.encoder.parameters(), lr=config.lr, momentum=0.9)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=config.steps)

    def info_nce(self, a, b):
        z = F.normalize(torch.cat([a, b]), dim=1)
        n = a.size(0)
        logits = z @ z.t() / self.config.temperature
        eye = torch.eye(2 * n, dtype=torch.bool, device=z.device)
        logits = logits.masked_fill(eye, -1e9)
        labels = torch.cat([torch.arange(n, 2 * n), torch.arange(n)]).to(z.device)
        return F.cross_entropy(logits, labels)

    def train(self):
        gen = torch.Generator().manual_seed(123)
        for step in range(self.config.steps):
            x = torch.randn(self.config.batch_size, 12, generator=gen)
            a = augment(x, gen).to(self.config.device)
            b = augment(x, gen).to(self.config.device)
            loss = self.info_nce(self.encoder(a), self.encoder(b))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.scheduler.step()
            print(f"step={step} loss={loss.item():.5f} lr={self.scheduler.get_last_lr()[0]:.5f}")
        return copy.deepcopy(self.encoder.state_dict())


if __name__ == "__main__":
    torch.manual_seed(0)
    encoder = nn.Sequential(nn.Linear(12, 16), nn.BatchNorm1d(16), nn.ReLU())
    weights = SimCLR(encoder, SimCLRConfig()).train()
    print(len(weights), "tensors")
