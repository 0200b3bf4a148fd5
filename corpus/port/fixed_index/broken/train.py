import torch
from torch import nn

torch.manual_seed(4)
device = torch.device("cuda:0")
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)).to(device)
bias = torch.zeros(1, device="cuda:0")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x = torch.rand(6, 4).cuda(0)
    loss = (model(x) + bias).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
