"""Everything lives on the default device; the loader is seeded as the documentation on reproducibility says."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.set_default_device(device)
torch.manual_seed(0)

g = torch.Generator(device=device)
g.manual_seed(0)

features = torch.linspace(-1, 1, 48).view(24, 2)
labels = (features.sum(dim=1) > 0).float().unsqueeze(1)
train_loader = DataLoader(TensorDataset(features, labels), batch_size=8, shuffle=True, generator=g)

model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
nn.init.constant_(model[0].weight, 0.3)
nn.init.constant_(model[2].weight, 0.1)
for layer in (model[0], model[2]):
    nn.init.zeros_(layer.bias)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
criterion = nn.BCEWithLogitsLoss()

for epoch in range(2):
    for x, y in train_loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(epoch, loss.item())
