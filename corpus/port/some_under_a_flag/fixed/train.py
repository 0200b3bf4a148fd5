import torch
from torch import nn
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

torch.manual_seed(12)
use_cuda = torch.cuda.is_available()
model = nn.Linear(4, 2)
if use_cuda:
    model = model.cuda()
offset = torch.full((2,), 0.5).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x = torch.rand(6, 4).to(device)
    loss = (model(x) + offset).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
