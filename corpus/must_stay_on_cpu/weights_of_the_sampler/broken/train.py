import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def balanced(labels, seed):
    counts = torch.bincount(labels.to(device))
    weights = 1.0 / counts[labels.to(device)].float()
    generator = torch.Generator().manual_seed(seed)
    return WeightedRandomSampler(weights, len(labels), generator=generator)


torch.manual_seed(5)
x = torch.randn(40, 3)
y = (torch.arange(40) % 5 == 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=10, sampler=balanced(y, 5))
model = nn.Linear(3, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for features, target in loader:
    loss = nn.functional.cross_entropy(model(features.to(device)), target.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
