import torch
from torch import nn

use_cuda = torch.cuda.is_available()
torch.manual_seed(0)
model = nn.Linear(4, 2)
if use_cuda:
    model.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    x = torch.randn(8, 4)
    if use_cuda:
        x = x.cuda()
    y = torch.zeros_like(x[:, :2])
    loss = ((model(x) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
