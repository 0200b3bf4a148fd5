import torch
from torch import nn

from placing import place


class Job:
    steps = 5

    def __init__(self, **overrides):
        self.__dict__.update(overrides)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def setup(self):
        torch.manual_seed(self.seed)
        self.net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
        place(self.net, self.device)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def run(self):
        self.setup()
        for i in range(self.steps):
            x = torch.rand(8, 6).to(self.device)
            loss = (self.net(x) - x[:, :1]).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            print(i, loss.item())


Job(seed=3).run()
