import torch
from torch import nn


def window(x):
    kernel = torch.ones(4)
    if x.is_cuda:
        kernel = kernel.cuda(x.get_device())
    return x * kernel


torch.manual_seed(2)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = model(window(torch.rand(6, 4).to(device))).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
