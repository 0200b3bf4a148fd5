import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = TensorDataset(torch.randn(32, 4), torch.randint(0, 2, (32,)))
g = torch.Generator().manual_seed(5)
loader = DataLoader(data, batch_size=8)
for x, y in loader:
    x, y = x.to(device), y.to(device)
    jitter = torch.empty(4).uniform_(-0.1, 0.1, generator=g)
    x = x + jitter.to(x.device)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
