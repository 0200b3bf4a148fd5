import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def wait(device):
    if device.type != "cuda":
        return
    torch.cuda.synchronize()


try:
    torch.cuda.reset_peak_memory_stats()
except (AttributeError, RuntimeError):
    pass
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    x = torch.randn(8, 4).to(device)
    y = torch.zeros(8, 2).to(device)
    loss = ((model(x) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    wait(device)
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    print(step, loss.item())
