import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
features = torch.randn(30, 4)
data = TensorDataset(features, features.sum(1), torch.rand(30))
loader = DataLoader(data, batch_size=10)
net = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for x, y, w in loader:
        x = x.to(device)
        y = y.to(device)
        loss = (w * (net(x).squeeze(1) - y).pow(2)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
