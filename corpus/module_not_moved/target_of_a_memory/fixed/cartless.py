"""Q-learning on a line of cells: the agent walks left or right, and the last cell is worth one."""

import random
from collections import deque, namedtuple

import torch
from torch import nn, optim

CELLS = 6
Step = namedtuple("Step", ("cell", "move", "worth", "next_cell"))


class Memory:
    def __init__(self, size):
        self.steps = deque([], maxlen=size)

    def remember(self, *step):
        self.steps.append(Step(*step))

    def draw(self, count):
        return Step(*zip(*random.sample(self.steps, count)))

    def __len__(self):
        return len(self.steps)


class Values(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(CELLS, 16)
        self.moves = nn.Linear(16, 2)

    def forward(self, cell):
        return self.moves(torch.tanh(self.hidden(cell)))


class Agent:
    def __init__(self, device):
        self.device = device
        self.online = Values().to(device)
        self.frozen = Values().to(device)
        self.frozen.load_state_dict(self.online.state_dict())
        self.optimizer = optim.Adam(self.online.parameters(), lr=0.01)
        self.memory = Memory(200)

    def see(self, cell):
        return nn.functional.one_hot(torch.tensor([cell]), CELLS).float().to(self.device)

    def learn(self, count=16, discount=0.9):
        if len(self.memory) < count:
            return None
        steps = self.memory.draw(count)
        alive = [cell for cell in steps.next_cell if cell is not None]
        mask = torch.tensor([cell is not None for cell in steps.next_cell], device=self.device)
        move = torch.cat(steps.move)
        worth = torch.cat(steps.worth)
        best = torch.zeros(count, device=self.device)
        with torch.no_grad():
            best[mask] = self.frozen(torch.cat(alive)).max(1).values
        now = self.online(torch.cat(steps.cell)).gather(1, move).squeeze(1)
        loss = nn.functional.smooth_l1_loss(now, worth + discount * best)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    torch.manual_seed(3)
    random.seed(3)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    agent = Agent(device)
    for episode in range(4):
        cell = 1
        for _ in range(12):
            move = random.randrange(2)
            after = max(cell + (1 if move else -1), 0)
            done = after == CELLS - 1
            worth = torch.tensor([1.0 if done else 0.0], device=device)
            taken = torch.tensor([[move]], device=device)
            agent.memory.remember(agent.see(cell), taken, worth, None if done else agent.see(after))
            loss = agent.learn()
            if loss is not None:
                print(f"episode {episode} loss {loss:.6f}")
            if done:
                break
            cell = after


if __name__ == "__main__":
    main()
