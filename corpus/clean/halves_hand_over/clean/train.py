import torch
from torch import nn

torch.manual_seed(0)
two = torch.cuda.device_count() > 1
first = torch.device("cuda:0" if two else "cpu")
second = torch.device("cuda:1" if two else "cpu")

front = nn.Linear(6, 12).to(first)
back = nn.Linear(12, 3).to(second)
optimizer = torch.optim.SGD([*front.parameters(), *back.parameters()], lr=0.1)

for step in range(4):
    x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
    hidden = front(x.to(first)).relu()
    loss = nn.functional.cross_entropy(back(hidden.to(second)), y.to(second))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
