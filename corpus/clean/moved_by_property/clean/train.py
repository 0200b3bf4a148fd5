import argparse

import torch
from torch import nn


class Learner:
    parts = ("model", "critic", "loss")

    def __init__(self, args):
        self.model = nn.Linear(5, 4)
        self.critic = nn.Linear(4, 1)
        self.loss = nn.BCEWithLogitsLoss(weight=torch.full((1,), 0.5))
        self.device = args.device

    @property
    def device(self):
        return self._device

    @device.setter
    def device(self, value):
        self._device = torch.device(value)
        for name in self.parts:
            getattr(self, name).to(self._device)

    def step(self, x, optimizer):
        out = self.critic(self.model(x.to(self.device)))
        loss = self.loss(out, torch.zeros_like(out))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()


parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
args = parser.parse_args()
torch.manual_seed(37)
learner = Learner(args)
scale = nn.Linear(5, 5)
if args.device == "cpu":
    scale.eval()
else:
    scale.to(args.device).eval()
optimizer = torch.optim.Adam([*learner.model.parameters(), *learner.critic.parameters()], lr=1e-2)
for step in range(4):
    inputs = scale(torch.randn(7, 5).to(args.device)).detach()
    print(step, learner.step(inputs, optimizer))
