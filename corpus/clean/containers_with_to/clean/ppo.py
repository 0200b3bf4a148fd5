from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Sample:
    obs: torch.Tensor
    ret: torch.Tensor
    tag: str = ""

    def to(self, device):
        self.obs = self.obs.to(device)
        self.ret = self.ret.to(device)
        return self


class RolloutStorage(object):
    def __init__(self, steps, dim):
        self.obs = torch.zeros(steps, dim)
        self.rewards = torch.zeros(steps)
        self.at = 0

    def to(self, device):
        self.obs = self.obs.to(device)
        self.rewards = self.rewards.to(device)

    def insert(self, obs, reward):
        self.obs[self.at].copy_(obs)
        self.rewards[self.at] = reward
        self.at = (self.at + 1) % len(self.rewards)


def main():
    torch.manual_seed(12)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    value = nn.Linear(3, 1)
    value.to(device)
    rollouts = RolloutStorage(10, 3)
    rollouts.to(device)
    optimizer = torch.optim.Adam(value.parameters(), lr=0.05)
    for update in range(4):
        for _ in range(10):
            obs = torch.randn(3)
            rollouts.insert(obs, obs.sum())
        sample = Sample(torch.randn(5, 3), torch.zeros(5), "extra").to(device)
        obs = torch.cat([rollouts.obs, sample.obs])
        ret = torch.cat([rollouts.rewards, sample.ret])
        loss = (value(obs).squeeze(1) - ret).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(update, loss.item())


if __name__ == "__main__":
    main()
