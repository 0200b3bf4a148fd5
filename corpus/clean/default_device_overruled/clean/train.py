import torch
from torch import nn


class Agent:
    def __init__(self, n_states, n_actions, device="cuda"):
        self.device = device
        self.policy = nn.Linear(n_states, n_actions).to(self.device)
        self.optimizer = torch.optim.RMSprop(self.policy.parameters(), lr=0.01)

    def update(self, states, rewards):
        states = torch.as_tensor(states, device=self.device)
        rewards = rewards.to(self.device)
        loss = -(self.policy(states).log_softmax(1).max(1).values * rewards).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def pick_device(wanted="cuda"):
    if wanted == "cuda" and not torch.cuda.is_available():
        wanted = "cpu"
    return torch.device(wanted)


def main(device=None):
    torch.manual_seed(0)
    device = device or pick_device()
    agent = Agent(4, 2, device=device)
    for _ in range(4):
        print(agent.update(torch.randn(8, 4), torch.rand(8)))


if __name__ == "__main__":
    main()
