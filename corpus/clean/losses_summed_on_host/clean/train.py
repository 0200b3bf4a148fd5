import torch
from torch import nn

torch.manual_seed(0)
two = torch.cuda.device_count() > 1
first = torch.device("cuda:0" if two else "cpu")
second = torch.device("cuda:1" if two else "cpu")

one, other = nn.Linear(6, 3).to(first), nn.Linear(6, 3).to(second)
optimizer = torch.optim.SGD([*one.parameters(), *other.parameters()], lr=0.1)

for step in range(4):
    x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
    a = nn.functional.cross_entropy(one(x.to(first)), y.to(first))
    b = nn.functional.cross_entropy(other(x.to(second)), y.to(second))
    loss = a.cpu() + b.cpu()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
