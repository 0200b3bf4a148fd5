import numpy as np
import torch

torch.manual_seed(8)
dev = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")


def make_grid():
    t = torch.linspace(0, 1, 40, dtype=torch.float64)
    return t, torch.exp(-3 * t) * torch.cos(12 * t) + 0.02 * torch.randn(40, dtype=torch.float64)


class Damped(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.log_decay = torch.nn.Parameter(torch.tensor(0.5, dtype=torch.float64))
        self.frequency = torch.nn.Parameter(torch.tensor(11.0, dtype=torch.float64))
        self.amplitude = torch.nn.Parameter(torch.tensor([0.8], dtype=torch.float64))

    def forward(self, t):
        return self.amplitude * torch.exp(-self.log_decay.exp() * t) * torch.cos(self.frequency * t)


t, y = make_grid()
model = Damped().to(dev)
y = y.to(dev)
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=6, history_size=5)


def closure():
    optimizer.zero_grad()
    residual = model(t) - y
    loss = (residual**2).mean()
    loss.backward()
    return loss


for sweep in range(3):
    value = optimizer.step(closure)
    print(f"sweep {sweep}: {value.item():.8f}")

with torch.no_grad():
    curve = model(t.to(dev)).cpu().numpy()
np.savez("fit.npz", t=t.cpu().numpy(), curve=curve, parameters=np.array([p.item() for p in model.parameters()]))
