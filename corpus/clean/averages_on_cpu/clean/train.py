import copy

import torch
from torch import nn


class CpuEMA:
    def __init__(self, model, decay):
        self.shadow = copy.deepcopy(model)
        self.decay = decay

    @torch.no_grad()
    def step(self, model):
        for mine, theirs in zip(self.shadow.parameters(), model.parameters()):
            mine.mul_(self.decay).add_(theirs.detach().cpu(), alpha=1 - self.decay)

    def validate(self, x):
        return self.shadow(x.cpu()).mean().item()


def main():
    torch.manual_seed(14)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Linear(6, 2)
    ema = CpuEMA(model, 0.9)
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(4):
        x = torch.randn(8, 6).to(device)
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.step(model)
        print(step, loss.item(), ema.validate(x))


main()
