import torch
from torch import nn

torch.manual_seed(9)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

beta = torch.tensor(0.1)
log_floor = torch.tensor(1e-6)
enc = nn.Linear(8, 4).to(device)
dec = nn.Linear(2, 8).to(device)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=1e-2)
total = torch.tensor(0.0)

for step in range(5):
    x = torch.rand(16, 8).to(device)
    mu, raw = enc(x).chunk(2, dim=1)
    var = nn.functional.softplus(raw) + log_floor
    z = mu + var.sqrt() * torch.randn(16, 2).to(device)
    kl = 0.5 * (mu.pow(2) + var - var.log() - 1).sum(1).mean()
    anneal = torch.tensor(step / 5)
    loss = (dec(z) - x).pow(2).sum(1).mean() + beta * anneal * kl
    opt.zero_grad()
    loss.backward()
    opt.step()
    total = total + loss.detach()
    print(step, loss.item())
print("mean", (total / 5).item())
