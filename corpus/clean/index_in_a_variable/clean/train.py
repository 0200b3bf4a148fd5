import torch
from torch import nn

torch.manual_seed(0)
cuda = torch.cuda.is_available()
model = nn.Linear(4, 2)
gpu = int(cuda) - 1
if gpu >= 0:
    model.cuda(gpu)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    x, y = torch.randn(8, 4), torch.randint(0, 2, (8,))
    if gpu >= 0:
        x, y = x.cuda(gpu), y.cuda(gpu)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
