import torch
from torch import nn

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
net = nn.Linear(5, 1).to(device)
opt = torch.optim.Adam(net.parameters(), 1e-2)
history = []
for it in range(4):
    x = torch.randn(16, 5)
    raw = x
    x = x.to(device)
    loss = net(x).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    history.append(raw.numpy().mean())
    print(loss.item(), history[-1])
