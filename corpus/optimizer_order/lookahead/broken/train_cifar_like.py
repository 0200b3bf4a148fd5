import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

from lookahead import Lookahead

torch.manual_seed(12)
device = "cuda" if torch.cuda.is_available() else "cpu"

images = torch.rand(48, 3, 6, 6)
labels = images.flatten(1).sum(1).long() % 4
loader = DataLoader(TensorDataset(images, labels), batch_size=16, shuffle=True)

net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 16, 4))
base_optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
optimizer = Lookahead(base_optimizer)
criterion = nn.CrossEntropyLoss()
net = net.to(device)

for epoch in range(3):
    for x, y in loader:
        x = x.to(device, non_blocking=True)
        y = y.to(device, non_blocking=True)
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
        print(f"[{epoch}] loss {loss.item():.5f}")
