"""VAE with gradient accumulation and an averaged copy of the weights."""
import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader


class VAE(nn.Module):
    def __init__(self, n=14, h=20, z=3):
        super().__init__()
        self.enc = nn.Linear(n, h)
        self.mu = nn.Linear(h, z)
        self.logvar = nn.Linear(h, z)
        self.dec = nn.Sequential(nn.Linear(z, h), nn.ReLU(), nn.Linear(h, n))

    def forward(self, x, noise):
        h = F.relu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + noise * torch.exp(0.5 * logvar)
        return self.dec(z), mu, logvar


def elbo(recon, x, mu, logvar):
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1)
    return (F.mse_loss(recon, x, reduction="none").sum(1) + 0.1 * kld).mean()


def update_ema(ema, model, decay=0.9):
    with torch.no_grad():
        for e, p in zip(ema.parameters(), model.parameters()):
            e.mul_(decay).add_(p, alpha=1 - decay)


def main():
    torch.manual_seed(66)
    device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")
    use_amp = False

    data = torch.randn(48, 14) @ torch.randn(14, 14) * 0.3
    train_loader = DataLoader(data[:32], batch_size=8, shuffle=True, pin_memory=device.type == "cuda")
    eval_loader = DataLoader(data[32:], batch_size=8)

    model = VAE().to(device)
    ema = copy.deepcopy(model).eval().requires_grad_(False)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    scaler = torch.amp.GradScaler(device.type, enabled=use_amp)
    accumulate = 2

    for epoch in range(2):
        for i, x in enumerate(train_loader):
            x = x.to(device, non_blocking=True)
            noise = torch.randn(len(x), 3).to(device)
            with torch.autocast(device.type, enabled=use_amp):
                recon, mu, logvar = model(x, noise)
                loss = elbo(recon, x, mu, logvar) / accumulate
            scaler.scale(loss).backward()
            if (i + 1) % accumulate == 0:
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad(set_to_none=True)
                update_ema(ema, model)
            print(f"epoch {epoch} it {i} loss {loss.item() * accumulate:.5f}")

        with torch.no_grad():
            total = 0.0
            for x in eval_loader:
                x = x.to(device, non_blocking=True)
                recon, mu, logvar = ema(x, torch.zeros(len(x), 3, device=device))
                total += elbo(recon, x, mu, logvar).item()
        print(f"epoch {epoch} eval {total / len(eval_loader):.5f}")


if __name__ == "__main__":
    main()
