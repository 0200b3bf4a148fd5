import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = TensorDataset(torch.randn(32, 4), torch.randint(0, 2, (32,)))
train, _ = random_split(data, [24, 8], generator=torch.Generator().manual_seed(2))
loader = DataLoader(train, batch_size=8, shuffle=True, generator=torch.Generator().manual_seed(3))
for x, y in loader:
    x, y = x.to(device), y.to(device)
    x = x * 1.0
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
