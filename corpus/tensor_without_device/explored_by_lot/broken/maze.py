"""Q-learning in a corridor: moves are the network's, or drawn by lot, and are joined to a batch."""

import numpy as np
import torch
from torch import nn

LENGTH, ROUNDS = 6, 5


class Walker:
    def __init__(self, explores, device):
        self.explores = explores
        self.device = device
        self.values = nn.Sequential(nn.Linear(LENGTH, 24), nn.ReLU(), nn.Linear(24, 2)).to(device)
        self.optimizer = torch.optim.RMSprop(self.values.parameters(), lr=5e-3)

    def observe(self, at):
        seen = torch.zeros(1, LENGTH, device=self.device)
        seen[0, at] = 1.0
        return seen

    def choose(self, seen):
        lot = np.random.rand()
        if lot < self.explores:
            return torch.tensor([[np.random.randint(2)]])
        with torch.no_grad():
            return self.values(seen).argmax(dim=1, keepdim=True)

    def learn(self, seen, chosen, rewards):
        expected = torch.tensor(rewards, device=self.device)
        guessed = self.values(torch.cat(seen)).gather(1, torch.cat(chosen)).squeeze(1)
        loss = nn.functional.mse_loss(guessed, expected)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def walk(walker):
    at, seen, chosen, rewards = 2, [], [], []
    for _ in range(12):
        seen.append(walker.observe(at))
        chosen.append(walker.choose(seen[-1]))
        at = min(max(at + (1 if chosen[-1].item() else -1), 0), LENGTH - 1)
        rewards.append(float(at == LENGTH - 1))
    return seen, chosen, rewards


def main():
    np.random.seed(4)
    torch.manual_seed(4)
    walker = Walker(0.3, torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    for number in range(ROUNDS):
        print(number, walker.learn(*walk(walker)))


if __name__ == "__main__":
    main()
