import torch
from torch import nn
from torch.amp import GradScaler, autocast

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
if torch.cuda.is_available():
    torch.cuda.set_device(0)
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = GradScaler(device.type, enabled=device.type == "cuda")
for step in range(4):
    x = torch.randn(8, 4).to(device)
    y = torch.zeros(8, 2).to(device)
    with autocast(device.type, enabled=device.type == "cuda"):
        loss = ((model(x) - y) ** 2).mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print(step, loss.item())
