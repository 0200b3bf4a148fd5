import torch
from torch import nn


def augment(x, rng):
    return x + 0.1 * torch.randn(x.shape, generator=rng, device=x.device)


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(13)
rng = torch.Generator().manual_seed(99)
model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 4)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    x = torch.randn(6, 4).to(device)
    loss = nn.functional.mse_loss(model(augment(x, rng)), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
