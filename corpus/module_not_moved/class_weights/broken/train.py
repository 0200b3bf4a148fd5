import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

features = torch.randn(80, 6)
labels = (features.sum(1) > 1.5).long()  # rare class
counts = torch.bincount(labels, minlength=2).float()
class_weights = counts.sum() / (2.0 * counts)

model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 2)).to(DEVICE)
criterion = nn.CrossEntropyLoss(weight=class_weights, label_smoothing=0.1)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)

for epoch in range(2):
    for xb, yb in DataLoader(TensorDataset(features, labels), batch_size=20, shuffle=True):
        xb, yb = xb.to(DEVICE), yb.to(DEVICE)
        loss = criterion(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
