"""A denoiser whose noise must not depend on the rest of the program."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=4)
args = parser.parse_args()

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(args.seed)
generator = torch.Generator().manual_seed(args.seed)

model = nn.Sequential(nn.Linear(3, 16), nn.SiLU(), nn.Linear(16, 2)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
clean = torch.randn(16, 2, generator=generator).to(device)

for step in range(args.steps):
    noise = torch.randn(clean.shape, generator=generator).to(device)
    level = torch.rand(16, 1, generator=generator).to(device)
    noisy = (1 - level) * clean + level * noise
    loss = F.mse_loss(model(torch.cat([noisy, level], dim=1)), noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
