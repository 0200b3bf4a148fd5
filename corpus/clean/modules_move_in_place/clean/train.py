import torch
from torch import nn


class Storage:
    def __init__(self, steps):
        self.states = torch.zeros(steps, 4)
        self.rewards = torch.zeros(steps, 1)

    def to(self, device):
        self.states = self.states.to(device)
        self.rewards = self.rewards.to(device)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
storage = Storage(6)
storage.to(device)
critic = nn.Linear(4, 1)
critic.to(device)
optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
for step in range(4):
    storage.states += torch.randn(6, 4).to(device)
    loss = (critic(storage.states) - storage.rewards).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
