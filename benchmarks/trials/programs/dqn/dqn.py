import random
from collections import deque, namedtuple

import numpy as np
import torch
from torch import nn

Transition = namedtuple("Transition", "state action reward next_state done")


class Grid:
    """Walk on a line of 7 cells from the middle to the right end."""

    def reset(self):
        self.cell = 3
        return np.float32([self.cell / 6, 1.0])

    def step(self, action):
        self.cell = min(6, max(0, self.cell + (1 if action else -1)))
        done = self.cell in (0, 6)
        return np.float32([self.cell / 6, 1.0]), float(self.cell == 6), done


class Memory:
    def __init__(self, size):
        self.items = deque(maxlen=size)

    def push(self, *values):
        self.items.append(Transition(*values))

    def sample(self, n):
        batch = Transition(*zip(*random.sample(self.items, n)))
        return (
            torch.tensor(np.stack(batch.state)),
            torch.tensor(batch.action),
            torch.tensor(batch.reward),
            torch.tensor(np.stack(batch.next_state)),
            torch.tensor(batch.done, dtype=torch.float32),
        )


class DQN:
    def __init__(self, device):
        self.device = device
        self.online = self.network().to(device)
        self.target = self.network()
        self.sync()
        self.optimizer = torch.optim.AdamW(self.online.parameters(), lr=1e-2, amsgrad=True)

    def network(self):
        return nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))

    def sync(self):
        self.target.load_state_dict(self.online.state_dict())

    @torch.no_grad()
    def act(self, state, epsilon):
        if random.random() < epsilon:
            return random.randrange(2)
        return self.online(torch.from_numpy(state).to(self.device)).argmax().item()

    def learn(self, batch, gamma=0.9):
        state, action, reward, following, done = (part.to(self.device) for part in batch)
        q = self.online(state).gather(1, action.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            best = self.target(following).max(1).values
        loss = nn.functional.smooth_l1_loss(q, reward + gamma * (1 - done) * best)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(self.online.parameters(), 1.0)
        self.optimizer.step()
        return loss.item()


def main():
    random.seed(3)
    torch.manual_seed(3)
    agent, memory, env = DQN("cuda" if torch.cuda.is_available() else "cpu"), Memory(100), Grid()
    state, losses = env.reset(), []
    for step in range(24):
        action = agent.act(state, epsilon=max(0.1, 1 - step / 20))
        following, reward, done = env.step(action)
        memory.push(state, action, reward, following, done)
        state = env.reset() if done else following
        if len(memory.items) >= 8 and step % 2 == 0:
            losses.append(agent.learn(memory.sample(8)))
        if step % 6 == 5:
            agent.sync()
    values = agent.online(torch.tensor([[i / 6, 1.0] for i in range(7)], device=agent.device))
    print("mean loss %.5f" % np.mean(losses))
    print("policy", "".join("<>"[a] for a in values.argmax(1).tolist()))


if __name__ == "__main__":
    main()
