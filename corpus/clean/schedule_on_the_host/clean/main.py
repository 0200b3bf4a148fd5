import torch
from torch import nn


class Schedule:
    def __init__(self, steps):
        self.steps = steps
        self.betas = torch.linspace(0.01, 0.2, steps)
        self.bar = torch.cumprod(1 - self.betas, dim=0)
        self.sigmas = self.bar.sqrt().tolist()

    def noisy(self, x, noise, t):
        bar = self.bar[t.cpu()].to(x.device).view(-1, 1)
        return bar.sqrt() * x + (1 - bar).sqrt() * noise

    def weight(self, t, like):
        return self.betas.to(like.device)[t] / self.sigmas[0]

    def last(self, x):
        return x * self.bar[-1]


torch.manual_seed(4)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
schedule = Schedule(12)
model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(4):
    x = torch.randn(8, 2).to(device)
    noise = torch.randn(8, 2).to(device)
    t = torch.randint(0, schedule.steps, (8,)).to(device)
    error = (model(schedule.noisy(x, noise, t)) - schedule.last(noise)).pow(2).mean(1)
    loss = (error * schedule.weight(t, error)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
