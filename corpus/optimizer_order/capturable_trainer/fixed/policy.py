import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self, obs=4, actions=3, hidden=16):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(obs, hidden), nn.Tanh())
        self.actor = nn.Linear(hidden, actions)
        self.critic = nn.Linear(hidden, 1)

    def forward(self, obs, act):
        h = self.trunk(obs)
        logp = torch.log_softmax(self.actor(h), dim=-1)
        return logp.gather(1, act.unsqueeze(1)).squeeze(1), self.critic(h).squeeze(1)
