import torch
from torch import nn

torch.manual_seed(12)
use_cuda = torch.cuda.is_available()
model = nn.Linear(4, 2)
if use_cuda:
    model = model.cuda()
offset = torch.full((2,), 0.5).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x = torch.rand(6, 4).cuda()
    loss = (model(x) + offset).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
