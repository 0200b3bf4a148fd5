"""Sharpness-aware minimisation: a step along the gradients at the worst point nearby."""
import torch
from torch import nn

torch.manual_seed(12)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class SAM:
    def __init__(self, params, base, rho):
        self.params = list(params)
        self.base = base
        self.rho = rho
        self.moved = {}

    def norm(self):
        return torch.stack([p.grad.norm(2) for p in self.params]).norm(2)

    @torch.no_grad()
    def first_step(self):
        scale = self.rho / (self.norm() + 1e-12)
        for p in self.params:
            change = p.grad * scale
            p.add_(change)
            self.moved[p] = change
        self.base.zero_grad()

    @torch.no_grad()
    def second_step(self):
        for p in self.params:
            p.sub_(self.moved[p])
        self.base.step()
        self.base.zero_grad()


model = nn.Sequential(nn.Linear(8, 20), nn.GELU(), nn.Linear(20, 3)).to(device)
base = torch.optim.Adam(model.parameters(), lr=5e-3)
sam = SAM(model.parameters(), base, rho=0.05)
weights = torch.tensor([1.0, 2.0, 0.5])
x, y = torch.randn(90, 8), torch.randint(3, (90,))
for epoch in range(2):
    for rows in torch.arange(90).split(30):
        inputs, labels = x[rows].to(device), y[rows].to(device)
        loss = nn.functional.cross_entropy(model(inputs), labels, weight=weights)
        loss.backward()
        sam.first_step()
        nn.functional.cross_entropy(model(inputs), labels, weight=weights).backward()
        sam.second_step()
        print(epoch, f"{loss.item():.5f}")
torch.save(model.state_dict(), "sam.pt")
