import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.randn(48, 5).to(device)
y = torch.randint(0, 2, (48,)).to(device)
train_loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=False, pin_memory=False)
net = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 2)).to(device)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
for epoch in range(2):
    for features, labels in train_loader:
        loss = nn.functional.cross_entropy(net(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
