import torch
import torch.nn as nn


class ReplayBuffer:
    """Kept in host memory; batches are moved when they are sampled."""

    def __init__(self, capacity, obs_dim):
        self.obs = torch.zeros(capacity, obs_dim)
        self.reward = torch.zeros(capacity)
        self.capacity = capacity
        self.size = 0

    def push(self, obs, reward):
        n = obs.size(0)
        self.obs[self.size:self.size + n] = obs
        self.reward[self.size:self.size + n].copy_(reward)
        self.size += n

    def sample(self, n, device):
        idx = torch.randint(0, self.size, (n,))
        return self.obs[idx].to(device), self.reward[idx].to(device)


def main():
    torch.manual_seed(4)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    critic = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1)).to(device)
    backup = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
    buffer = ReplayBuffer(64, 3)
    optimizer = torch.optim.Adam(critic.parameters(), lr=1e-2)
    for step in range(5):
        obs = torch.randn(12, 3).to(device)
        buffer.push(obs, obs.pow(2).sum(1))
        x, r = buffer.sample(8, device)
        loss = nn.functional.mse_loss(critic(x).squeeze(1), r)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        backup.load_state_dict(critic.state_dict())
        print(step, loss.item(), buffer.size)


main()
