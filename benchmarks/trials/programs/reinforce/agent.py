"""REINFORCE on a small chain environment."""
import random

import torch
from torch import nn
from torch.distributions import Categorical


class Chain:
    def __init__(self, length=5):
        self.length = length

    def reset(self):
        self.position, self.time = 0, 0
        return self.observe()

    def observe(self):
        state = [0.0] * self.length
        state[self.position] = 1.0
        return state

    def step(self, action):
        self.time += 1
        move = 1 if action == 1 else -1
        if random.random() < 0.1:
            move = -move
        self.position = max(0, min(self.length - 1, self.position + move))
        done = self.position == self.length - 1 or self.time >= 8
        return self.observe(), 1.0 if self.position == self.length - 1 else -0.1, done


class Policy(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.body = nn.Linear(n, 16)
        self.head = nn.Linear(16, 2)

    def forward(self, state):
        return Categorical(logits=self.head(torch.relu(self.body(state))))


def discounted(rewards, gamma=0.95):
    returns, running = [], 0.0
    for reward in reversed(rewards):
        running = reward + gamma * running
        returns.insert(0, running)
    returns = torch.tensor(returns)
    return (returns - returns.mean()) / (returns.std() + 1e-6)


class Agent:
    def __init__(self, env):
        self.env = env
        self.dev = "cuda" if torch.cuda.is_available() else "cpu"
        self.policy = Policy(env.length).to(self.dev)
        self.opt = torch.optim.RMSprop(self.policy.parameters(), lr=1e-2)

    def act(self, state):
        dist = self.policy(torch.tensor(state, device=self.dev))
        action = dist.sample()
        return action.item(), dist.log_prob(action), dist.entropy()

    def episode(self):
        state, done = self.env.reset(), False
        log_probs, entropies, rewards = [], [], []
        while not done:
            action, log_prob, entropy = self.act(state)
            state, reward, done = self.env.step(action)
            log_probs.append(log_prob)
            entropies.append(entropy)
            rewards.append(reward)
        advantage = discounted(rewards)
        loss = -(torch.stack(log_probs) * advantage).sum() - 0.01 * torch.stack(entropies).sum()
        self.opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
        self.opt.step()
        return sum(rewards)


if __name__ == "__main__":
    random.seed(2)
    torch.manual_seed(2)
    agent = Agent(Chain())
    average = 0.0
    for i in range(6):
        average = 0.9 * average + 0.1 * agent.episode()
        print("episode", i, "average %.4f" % average)
    torch.save(agent.policy.state_dict(), "policy.pt")
