import torch
from torch import nn
from cells import Cell
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

torch.manual_seed(6)
model = Cell(5).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = model(torch.rand(4, 6, 3).to(device)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
