"""Denoising diffusion on points, exported from a notebook."""

# %%
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
T = 20

# %% noise schedule
betas = torch.linspace(1e-4, 0.02, T, device=device)
alphas = 1.0 - betas
alphas_cumprod = torch.cumprod(alphas, dim=0)
sqrt_alphas_cumprod = torch.sqrt(alphas_cumprod)
sqrt_one_minus = torch.sqrt(1.0 - alphas_cumprod)


def q_sample(x0, t, noise):
    a = sqrt_alphas_cumprod[t].view(-1, 1)
    b = sqrt_one_minus[t].view(-1, 1)
    return a * x0 + b * noise


# %% model
class Denoiser(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.dim = dim
        self.net = nn.Sequential(nn.Linear(2 + dim, 32), nn.SiLU(), nn.Linear(32, 2))

    def embed(self, t):
        half = self.dim // 2
        freqs = torch.exp(-torch.arange(half, device=t.device) / half)
        angles = t[:, None].float() * freqs[None]
        return torch.cat([angles.sin(), angles.cos()], dim=1)

    def forward(self, x, t):
        return self.net(torch.cat([x, self.embed(t)], dim=1))


# %% training
model = Denoiser().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
points = torch.randn(64, 2)

for step in range(4):
    x0 = points[torch.randperm(len(points))[:16]].to(device)
    t = torch.randint(0, T, (x0.shape[0],), device="cpu").to(device)
    noise = torch.randn(x0.shape).to(device)
    loss = F.mse_loss(model(q_sample(x0, t, noise), t), noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
