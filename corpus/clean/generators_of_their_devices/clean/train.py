"""Each generator draws for its own device: splits and shuffles on the CPU, noise on the device."""
import torch
from torch import nn
from torch.utils.data import DataLoader, RandomSampler, TensorDataset, random_split

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
host = torch.Generator().manual_seed(1)
local = torch.Generator(device=device).manual_seed(2)

data = TensorDataset(torch.randn(24, 3, generator=host))
train, rest = random_split(data, [16, 8], generator=host)
loader = DataLoader(train, batch_size=8, sampler=RandomSampler(train, generator=host), generator=host)

model = nn.Linear(3, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for (x,) in loader:
        x = x.to(device)
        noise = torch.randn(x.shape, generator=local, device=device)
        drop = torch.empty_like(x).bernoulli_(0.9, generator=local)
        loss = (model((x + 0.1 * noise) * drop) - x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(epoch, loss.item())
