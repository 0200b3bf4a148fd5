import torch
from torch import nn
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

torch.manual_seed(9)
model = nn.Linear(4, 2).to(device)
scale = torch.stack([torch.ones(2).to(device), torch.zeros(2).to(device)]).mean(0).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x = torch.cat([torch.rand(3, 4).to(device), torch.rand(3, 4).to(device)]).to(device, non_blocking=True)
    loss = (model(x) * scale).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
