import torch
from torch import nn

HALF = False
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def timed(x):
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return x


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    x = torch.randn(8, 4).to(device)
    y = torch.zeros(8, 2).to(device)
    with torch.amp.autocast(device.type, enabled=HALF and device.type == "cuda"):
        loss = timed(((model(x) - y) ** 2).mean())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
