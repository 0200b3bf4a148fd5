import torch
from torch import nn

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
net = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1)).to(device)
opt = torch.optim.Adam(net.parameters(), 1e-2)
for it in range(5):
    x = torch.randn(16, 5)
    y = x.sum(1, keepdim=True)
    xd = x.to(device)
    yd = y.to(device)
    pred = net(xd)
    loss = ((pred - yd) ** 2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    print(it, loss.item())
