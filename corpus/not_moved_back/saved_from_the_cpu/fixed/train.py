import os
import tempfile

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
out = os.path.join(tempfile.mkdtemp(), "last.pt")

x = torch.randn(24, 6)
loader = DataLoader(TensorDataset(x, x.sum(dim=1).gt(0).long()), batch_size=8)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
model.to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()

for epoch in range(2):
    for inputs, labels in loader:
        inputs, labels = inputs.to(device), labels.to(device)
        loss = criterion(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.5f}")

    # checkpoints without CUDA tensors, so that they load everywhere
    model.to("cpu")
    torch.save({"epoch": epoch, "model": model.state_dict()}, out)
    model.to(device)
