import torch
from torch import nn

torch.manual_seed(3)
use_cuda = torch.cuda.is_available()
model = nn.Linear(3, 1)
place = model.cuda if use_cuda else model.cpu
place()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    x = torch.randn(4, 3)
    move = x.cuda if use_cuda else x.cpu
    loss = model(move()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), list(map(torch.Tensor.cpu, [loss.detach()])))
