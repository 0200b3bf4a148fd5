"""A replay memory that stays in host memory: written from the device, sampled on the CPU, moved as a batch."""

import torch
import torch.nn.functional as F
from torch import nn, optim


class Replay:
    def __init__(self, capacity, size):
        self.states = torch.zeros(capacity, size)
        self.rewards = torch.zeros(capacity)
        self.capacity = capacity
        self.position = 0

    def push(self, state, reward):
        index = self.position % self.capacity
        self.states[index] = state
        self.rewards[index] = reward
        self.position += 1

    def sample(self, count):
        chosen = torch.randint(0, min(self.position, self.capacity), (count,))
        return self.states[chosen], self.rewards[chosen]


def main():
    torch.manual_seed(11)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1)).to(device)
    optimizer = optim.Adam(net.parameters(), lr=1e-2)
    memory = Replay(16, 4)
    state = torch.zeros(4, device=device)
    for step in range(24):
        state = 0.9 * state + torch.randn(4).to(device)
        memory.push(state, state.sum())
        if step < 8 or step % 4:
            continue
        states, rewards = memory.sample(8)
        loss = F.smooth_l1_loss(net(states.to(device)).squeeze(1), rewards.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.4f} mean reward {memory.rewards.mean():.4f}")


if __name__ == "__main__":
    main()
