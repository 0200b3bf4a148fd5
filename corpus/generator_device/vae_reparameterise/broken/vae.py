from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class VAE(nn.Module):
    def __init__(self, dim: int = 6, latent: int = 2):
        super().__init__()
        self.encoder = nn.Linear(dim, 2 * latent)
        self.decoder = nn.Linear(latent, dim)

    def reparameterize(self, mu: Tensor, logvar: Tensor, rng: torch.Generator) -> Tensor:
        std = torch.exp(0.5 * logvar)
        eps = torch.empty_like(std).normal_(generator=rng)
        return mu + eps * std

    def forward(self, x: Tensor, rng: torch.Generator):
        mu, logvar = self.encoder(x).chunk(2, dim=1)
        return self.decoder(self.reparameterize(mu, logvar, rng)), mu, logvar


class Trainer:
    def __init__(self, model: nn.Module, device: torch.device, seed: int = 1):
        self.device = device
        self.model = model.to(device)
        self.rng = torch.Generator()
        self.rng.manual_seed(seed)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-2)

    def step(self, x: Tensor) -> float:
        x = x.to(self.device)
        out, mu, logvar = self.model(x, self.rng)
        kld = -0.5 * torch.mean(1 + logvar - mu.pow(2) - logvar.exp())
        loss = F.mse_loss(out, x) + kld
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main() -> None:
    torch.manual_seed(4)
    trainer = Trainer(VAE(), torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    data = torch.randn(8, 6)
    for i in range(4):
        print(f"step {i}: {trainer.step(data):.6f}")


main()
