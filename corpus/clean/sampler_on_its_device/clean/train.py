import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x, y = torch.randn(24, 3), torch.arange(24) % 2
data = TensorDataset(x, y)
counts = torch.bincount(y.to(device)).float()
there = WeightedRandomSampler(1 / counts[y.to(device)], 24, generator=torch.Generator(device).manual_seed(1))
here = WeightedRandomSampler((1 / counts[y.to(device)]).cpu(), 24, generator=torch.Generator().manual_seed(1))
model = nn.Linear(3, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for sampler in (there, here):
    for features, target in DataLoader(data, batch_size=12, sampler=sampler):
        loss = nn.functional.cross_entropy(model(features.to(device)), target.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())
