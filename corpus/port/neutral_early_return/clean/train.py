import torch
from torch import nn


def put(x):
    if not torch.cuda.is_available():
        return x
    return x.cuda()


torch.manual_seed(4)
model = put(nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = model(put(torch.rand(6, 4))).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
