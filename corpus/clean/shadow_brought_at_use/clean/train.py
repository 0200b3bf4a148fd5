import torch
from torch import nn


class Ema:
    def __init__(self, model, decay=0.9):
        self.decay = decay
        self.shadow = {name: param.detach().clone() for name, param in model.named_parameters()}

    @torch.no_grad()
    def update(self, model):
        for name, param in model.named_parameters():
            self.shadow[name] = self.shadow[name].to(param.device)
            self.shadow[name].mul_(self.decay).add_(param, alpha=1 - self.decay)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2)
ema = Ema(model)
model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    loss = model(torch.randn(6, 4, device="cpu").to(device)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema.update(model)
    print(loss.item())
