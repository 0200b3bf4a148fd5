import numpy as np
import torch
import torch.nn as nn


class Runner:
    """Stands for a launcher: it knows the device and prepares models and optimizers, not plain arrays."""

    def __init__(self):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def prepare(self, model, optimizer):
        return model.to(self.device), optimizer

    def backward(self, loss):
        loss.backward()


class Policy(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh(), nn.Linear(32, act_dim))

    def forward(self, obs):
        return self.body(obs)


class ReplayBuffer:
    def __init__(self, size, obs_dim, act_dim, seed):
        rng = np.random.default_rng(seed)
        self.obs = rng.standard_normal((size, obs_dim)).astype(np.float32)
        self.act = rng.integers(0, act_dim, size)
        self.rng = rng

    def sample(self, batch_size):
        idx = self.rng.integers(0, len(self.obs), batch_size)
        return self.obs[idx], self.act[idx]


def train():
    torch.manual_seed(2251)
    runner = Runner()
    buffer = ReplayBuffer(50, 6, 3, seed=2251)
    model = Policy(6, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    model, optimizer = runner.prepare(model, optimizer)
    device = runner.device

    for it in range(4):
        obs, act = buffer.sample(10)
        obs = torch.from_numpy(obs)
        act = torch.from_numpy(act)
        obs = obs.to(device)
        act = act.to(device)
        loss = nn.functional.cross_entropy(model(obs), act)
        optimizer.zero_grad()
        runner.backward(loss)
        optimizer.step()
        print(f"iter {it}: {loss.item():.4f}")


if __name__ == "__main__":
    train()
