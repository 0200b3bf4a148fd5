import torch
from torch import nn, optim

torch.manual_seed(3)
pair = torch.cuda.device_count() > 1
g_dev = torch.device("cuda:0") if pair else torch.device("cpu")
d_dev = torch.device("cuda:1") if pair else torch.device("cpu")

G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2)).to(g_dev)
D = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1)).to(d_dev)
opt_g = optim.Adam(G.parameters(), lr=1e-3)
opt_d = optim.Adam(D.parameters(), lr=1e-3)

for step in range(3):
    z = torch.randn(8, 4)
    real = torch.randn(8, 2).to(d_dev)
    fake = G(z.to(g_dev))

    loss_d = D(fake.detach()).mean() - D(real).mean()
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()

    loss_g = -D(fake).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    print(step, loss_d.item(), loss_g.item())
