import torch
from torch import nn

from resume import archive, restore

KEYS = {"SGD": "momentum_buffer"}


def make(kind, params, **kw):
    return getattr(torch.optim, kind)(params, **kw), KEYS.get(kind)


torch.manual_seed(37)
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
net = nn.Sequential(nn.Linear(3, 9), nn.Softplus(), nn.Linear(9, 1)).to(device)
optimizer, key = make("SGD", net.parameters(), lr=0.05, momentum=0.9)
if key:
    restore(optimizer, [name for name, _ in net.named_parameters()], archive(net), key)

for step in range(4):
    x = torch.rand(10, 3).to(device)
    loss = (net(x) - x.amax(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
