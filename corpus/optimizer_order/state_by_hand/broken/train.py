import torch
from torch import nn

torch.manual_seed(21)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

model = nn.Sequential(nn.Linear(5, 8), nn.ELU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
# a warm start: the first step counts in full
for group in optimizer.param_groups:
    for p in group["params"]:
        optimizer.state[p]["momentum_buffer"] = torch.zeros_like(p.data)
model.to(device)

for step in range(4):
    x = torch.randn(10, 5).to(device)
    loss = (model(x).squeeze(1) - x.sum(1)).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
