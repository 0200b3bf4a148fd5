"""Train a small network, report its size, and save the samples of the last batch for inspection."""
import torch
from torch import nn

torch.manual_seed(13)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(10, 300), nn.ReLU(), nn.Linear(300, 1)).to(device)
size = sum(p.numel() * p.element_size() for p in model.parameters())
print(f"model memory: {size / 2**20:.4f} MB")
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
data = torch.randn(4000, 10)
targets = data.sum(1, keepdim=True)
worst = 0
for start in range(0, 400, 100):
    x = data[start : start + 100].to(device)
    error = (model(x) - targets[start : start + 100]).square()
    loss = error.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    worst = start + int(error.argmax())
    print(f"worst sample: line {worst} loss {loss.item():.5f}")
with torch.no_grad():
    everything = model(data.to(device)).cpu()
activations = everything.numel() * everything.element_size() * 301
print(f"activations: {activations / 1e6:.3f} MB of memory")
torch.save({"model": model.state_dict(), "first": everything[:20].clone()}, "report.pt")
