from copy import deepcopy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ModelEMA:
    def __init__(self, model, decay=0.98):
        self.ema = deepcopy(model).eval()
        self.decay = decay
        for p in self.ema.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for ema_p, p in zip(self.ema.parameters(), model.parameters()):
            ema_p.mul_(self.decay).add_(p.detach(), alpha=1 - self.decay)


torch.manual_seed(5)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(7, 14), nn.SiLU(), nn.Linear(14, 1))
ema = ModelEMA(model)
model.to(device)
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
inputs = torch.randn(64, 7)
loader = DataLoader(TensorDataset(inputs, inputs.mean(1, keepdim=True)), batch_size=16)

for epoch in range(2):
    for x, y in loader:
        x = x.to(device)
        y = y.to(device)
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update(model)
    with torch.no_grad():
        print(epoch, loss.item(), ema.ema(inputs.to(device)).mean().item())
