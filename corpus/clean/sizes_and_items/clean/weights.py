import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.randn(24, 6)
temperature = torch.rand(24) + 0.5
mask = torch.ones(24, 3)
loader = DataLoader(TensorDataset(x, temperature, mask), batch_size=8)
model = nn.Linear(6, 3).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(2):
    for data, temp, shape_like in loader:
        data = data.to(device)
        scale = temp.mean().item()
        out = model(data).view_as(shape_like) / scale
        loss = out.pow(2).sum() / shape_like.size(0) + len(temp) * 1e-3
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item(), float(temp.max()), tuple(shape_like.shape))
